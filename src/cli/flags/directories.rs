//! The directory of the tables. One that was named but does not exist is an error before any work starts.

use clap::parser::ValueSource;
use kalah::table::{AllTables, Directory, missing_layers};

use crate::cli::flags::tables_flag::Given;
use crate::cli::{bail, failure, message, note, output};

/// Commands that make tables or plan to. Their directory may be new.
const MAKERS: [&str; 3] = ["build", "plan", "unpack"];

/// Flags with which a command makes tables or uses none.
const EXEMPT: [&str; 2] = ["build", "no_tables"];

/// Returns an error if `--tables` or `KALAH_TABLES` names a missing directory that the command reads.
pub(crate) fn check(given: &Given) -> failure::Result<()> {
    let is_exempt =
        given.names.iter().any(|name| MAKERS.contains(name)) || EXEMPT.iter().any(|flag| given.is_set(flag));
    let Some(path) = given.tables().filter(|path| !is_exempt && !path.is_dir() && given.address().is_none()) else {
        return Ok(());
    };
    match given.matches.value_source("tables") {
        Some(ValueSource::CommandLine) => bail!("there is no directory {} (named by --tables)", path.display()),
        Some(ValueSource::EnvVariable) => bail!("there is no directory {} (named by KALAH_TABLES)", path.display()),
        _ => Ok(()),
    }
}

/// Reports what a search cannot use of `directory`, for commands that go on without it: damaged tables, and tables
/// above a missing layer.
pub(crate) fn note_unused(directory: &Directory) {
    // Another error of a directory is that of the first search.
    let listing = AllTables::new(directory).list().unwrap_or_default();
    for (_, error) in &listing.damaged {
        message!("kalah: {error}; it and larger tables of its board are not used");
    }
    for (rules, pits, missing) in listing.gaps() {
        let (pits, missing) = (output::count(pits, "pit"), missing_layers(&missing));
        note!("{rules} with {pits} in {directory}: {missing}, so larger tables are not used");
    }
}
