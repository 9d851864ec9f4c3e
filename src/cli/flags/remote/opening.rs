use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Arg, ArgMatches, Command, value_parser};
use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::Directory;

use super::READERS;
use crate::cli::process::signals::cancelled;
use crate::cli::{Context, args, bail, failure, output};

/// Default of `--fetch-limit`: layers of up to 22 seeds for 6 pits.
const FETCH_LIMIT: u64 = 256 << 20;

/// Maximum bytes that a search fetches.
static LIMIT: OnceLock<u64> = OnceLock::new();

/// Adds the flags of tables at an address to the commands that read them.
pub(crate) fn with_flags(command: Command) -> Command {
    command.mut_subcommands(|inner| {
        let inner = with_flags(inner);
        let takes = inner.get_arguments().any(|argument| argument.get_long() == Some("tables"));
        if !takes || !READERS.contains(&inner.get_name()) {
            return inner;
        }
        let inner = inner
            .mut_arg("tables", |argument| {
                argument.help("Directory with the tables, or their address: https://HOST/PATH")
            })
            .arg(cache())
            .arg(cache_limit());
        if inner.get_arguments().any(|argument| argument.get_id() == "memory") {
            inner.arg(fetch_flag())
        } else {
            inner
        }
    })
}

fn cache() -> Arg {
    Arg::new("cache")
        .long("cache")
        .value_name("DIR")
        .env("KALAH_CACHE")
        .value_parser(value_parser!(PathBuf))
        .help("With tables at an address: keep the blocks read in DIR [default: kalah in the user's cache directory]")
}

fn cache_limit() -> Arg {
    Arg::new("cache-limit")
        .long("cache-limit")
        .value_name("SIZE")
        .value_parser(args::bytes)
        .help("With tables at an address: keep at most this size in the cache between runs [default: 4GiB]")
}

fn fetch_flag() -> Arg {
    Arg::new("fetch-limit")
        .long("fetch-limit")
        .value_name("SIZE")
        .value_parser(args::bytes)
        .help("With tables at an address: fetch layers of at most this size in all for a search [default: 256MiB]")
}

/// Opens the directory of tables at an address.
pub(super) fn open(address: &str, matches: &ArgMatches) -> failure::Result<Directory> {
    let address = Address::parse(address)?;
    let option = |name| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
    let size = |name| matches.try_get_one::<u64>(name).ok().flatten().copied();
    let _ = LIMIT.set(size("fetch-limit").unwrap_or(FETCH_LIMIT));
    let Some(directory) = option("cache").or_else(Cache::default_directory) else {
        bail!("there is no cache directory for the blocks of {address}: give --cache DIR");
    };
    let cache = Cache::new(directory, size("cache-limit").unwrap_or(Cache::DEFAULT_LIMIT));
    let mut options = RemoteOptions { cancel: cancelled().clone(), ..RemoteOptions::new(cache) };
    if let Some(&rules) = matches.try_get_one::<Rules>("rules").ok().flatten() {
        options.rules = vec![rules];
    }
    let open = || RemoteTables::open(&address, options).with_context(|| format!("cannot use the tables at {address}"));
    let tables = output::progress::watch(&format!("asking {address} for its tables"), open)?;
    Ok(tables.directory())
}

/// Maximum bytes that a search fetches.
pub(super) fn fetch_limit() -> u64 {
    LIMIT.get().copied().unwrap_or(FETCH_LIMIT)
}
