//! Tables at an address such as `https://example.org/tables`, in place of a directory.
//!
//! Before a command runs, the address is opened. So commands need no code for addresses, except those that search.
//!
//! | module | contents |
//! |---|---|
//! | `opening` | the directory at an address, and the flags of its cache |
//! | `searching` | layers that a search needs as a whole |

#[cfg(feature = "remote")]
mod opening;
mod searching;

use crate::cli::flags::tables_flag::{self, Given};
use crate::cli::{failed, failure, usage};

pub(crate) use opening::with_flags;
pub(crate) use searching::{fetch_for_search, fetch_for_searches};

/// Commands that read tables at an address.
const READERS: [&str; 11] =
    ["check", "engine", "info", "play", "probe", "puzzles", "review", "serve", "solve", "tournament", "verify"];

/// Opens the tables at the address that `--tables` or the environment gives.
///
/// # Errors
/// When the command does not read tables at an address, or they cannot be opened.
pub(crate) fn open(given: &Given) -> failure::Result<()> {
    if !given.takes_tables() || given.is_set("no_tables") {
        return Ok(());
    }
    let location = tables_flag::given(given.matches).map_err(failed)?;
    let Some(address) = location.address() else { return Ok(()) };
    if given.is_set("build") {
        return Err(usage("--build cannot build tables at an address; leave it out, or give --tables a directory"));
    }
    if !READERS.contains(&given.command.get_name()) {
        return Err(usage(
            "this command does not use tables at an address: give --tables a directory; `kalah fetch` downloads layers",
        ));
    }
    location.open(opening::open(address, given.matches)?);
    Ok(())
}

/// A program without tables at addresses.
#[cfg(not(feature = "remote"))]
mod opening {
    use clap::{ArgMatches, Command};
    use kalah::table::Directory;

    use crate::cli::failure::{self, usage};

    /// Returns the command without further flags.
    pub(crate) fn with_flags(command: Command) -> Command {
        command
    }

    /// Returns an error: this program reads no tables at addresses.
    pub(crate) fn open(_: &str, _: &ArgMatches) -> failure::Result<Directory> {
        Err(usage(
            "this program was built without the feature `remote`: build it with `cargo build --release --locked \
             --features remote`, or give --tables a directory",
        ))
    }

    /// Maximum bytes that a search fetches.
    pub(crate) fn fetch_limit() -> u64 {
        0
    }
}
