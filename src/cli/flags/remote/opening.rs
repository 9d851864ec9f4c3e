use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::{Directory, user_cache};

use super::READERS;
use crate::cli::process::signals::cancelled;
use crate::cli::{Context, args, bail, failure, output};

/// Default of `--fetch-limit`: layers of up to 22 seeds for 6 pits.
const FETCH_LIMIT: u64 = 256 << 20;

/// Adds the flags of tables at an address to the commands that read them.
pub(crate) fn with_flags(command: Command) -> Command {
    command.mut_subcommands(|inner| {
        let inner = with_flags(inner);
        let takes = inner.get_arguments().any(|argument| argument.get_long() == Some("tables"));
        if !takes || !READERS.contains(&inner.get_name()) {
            return inner;
        }
        let searches = inner.get_arguments().any(|argument| argument.get_id() == "memory");
        let cache = flag("cache", "DIR", "keep the blocks read in DIR [default: kalah in the user's cache directory]");
        let limit = flag("cache-limit", "SIZE", "keep at most this size in the cache between runs [default: 4GiB]");
        let fetch =
            flag("fetch-limit", "SIZE", "fetch layers of at most this size in all for a search [default: 256MiB]");
        inner
            .mut_arg("tables", |flag| flag.help("Directory with the tables, or their address: https://HOST/PATH"))
            .arg(cache.env("KALAH_CACHE").value_parser(value_parser!(PathBuf)))
            .args(
                [Some(limit), searches.then_some(fetch)]
                    .into_iter()
                    .flatten()
                    .map(|flag| flag.value_parser(args::bytes)),
            )
    })
}

/// Returns a flag for tables at an address.
fn flag(name: &'static str, value: &'static str, help: &str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(format!("With tables at an address: {help}"))
}

/// Opens the directory of tables at an address. Returns also the maximum bytes that a search fetches.
pub(super) fn open(address: &str, matches: &ArgMatches) -> failure::Result<(Directory, u64)> {
    let address = Address::parse(address)?;
    let option = |name| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
    let size = |name| matches.try_get_one::<u64>(name).ok().flatten().copied();
    let Some(directory) = option("cache").or_else(user_cache) else {
        bail!("there is no cache directory for the blocks of {address}: give --cache DIR");
    };
    let cache = Cache::new(directory, size("cache-limit").unwrap_or(Cache::DEFAULT_LIMIT));
    let mut options = RemoteOptions { cancel: cancelled().clone(), ..RemoteOptions::new(cache) };
    if let Some(&rules) = matches.try_get_one::<Rules>("rules").ok().flatten() {
        options.rules = vec![rules];
    }
    let open = || RemoteTables::open(&address, options).with_context(|| format!("cannot use the tables at {address}"));
    let tables = output::progress::watch(&format!("asking {address} for its tables"), open)?;
    Ok((tables.directory(), size("fetch-limit").unwrap_or(FETCH_LIMIT)))
}
