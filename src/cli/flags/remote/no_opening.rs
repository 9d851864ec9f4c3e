use clap::{ArgMatches, Command};
use kalah::table::Place;

use crate::cli::failure::{self, usage};

/// Returns the command without further flags.
pub(crate) fn with_flags(command: Command) -> Command {
    command
}

/// Returns an error: this program reads no tables at addresses.
pub(crate) fn open(_: &str, _: &ArgMatches) -> failure::Result<Place> {
    Err(usage(
        "this program was built without the feature `remote`: build it with `cargo build --release --locked --features \
         remote`, or give --tables a directory",
    ))
}

/// Maximum bytes that a search fetches.
pub(crate) fn fetch_limit() -> u64 {
    0
}
