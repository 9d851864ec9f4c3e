//! The directory of the tables. One that was named but does not exist is an error before any work starts.

use std::io::ErrorKind;
use std::path::Path;

use clap::parser::ValueSource;
use kalah::game::Rules;
use kalah::table::{AllTables, Directory, Storage, gaps, missing_layers};
use kalah::verify::Survey;

use crate::cli::flags::tables_flag::{self, Given};
use crate::cli::{bail, failed, failure, message, note, output};

/// Commands that make tables or plan to. Their directory may be new.
const MAKERS: [&str; 3] = ["build", "plan", "unpack"];

/// Flags with which a command makes tables or uses none.
const EXEMPT: [&str; 2] = ["build", "no_tables"];

/// Returns an error if `--tables` or `KALAH_TABLES` names a missing directory that the command reads.
pub(crate) fn check(given: &Given) -> failure::Result<()> {
    let is_maker = given.names.iter().any(|name| MAKERS.contains(name));
    if is_maker || !given.takes_tables() || EXEMPT.iter().any(|flag| given.is_set(flag)) {
        return Ok(());
    }
    let by = match given.matches.value_source("tables") {
        Some(ValueSource::CommandLine) => "--tables",
        Some(ValueSource::EnvVariable) => "KALAH_TABLES",
        _ => return Ok(()),
    };
    match tables_flag::named(given.matches).map_err(failed)?.path().filter(|path| is_missing(path)) {
        Some(path) => bail!("there is no directory {} (named by {by})", path.display()),
        None => Ok(()),
    }
}

/// Returns true if there is no directory of this name. Other errors are left to its readers.
fn is_missing(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Reports what a search cannot use of `directory`, for commands that go on without it: damaged tables, tables above
/// a missing layer, and rule sets without tables.
pub(crate) fn note_unused(directory: &Directory) {
    // Another error of a directory is that of the first search.
    let listing = AllTables::new(directory, Storage::Files).list().unwrap_or_default();
    for (_, error) in &listing.damaged {
        message!("kalah: {error}; it and larger tables of its board are not used");
    }
    let survey = Survey::read(directory).unwrap_or_default();
    for (rules, pits) in survey.known_boards() {
        let missing = gaps(&survey.layers(rules, pits));
        if let Some(first) = missing.first() {
            note!(
                "tables of more than {} for {rules} with {} are not used: {} in {directory}",
                output::count(*first, "seed"),
                output::count(pits, "pit"),
                missing_layers(&missing),
            );
        }
    }
    if let Some(missing) = directory.path().filter(|path| is_missing(path)) {
        note!("there is no directory {}: searching without tables", missing.display());
        return;
    }
    let boards = survey.known_boards();
    let without = Rules::ALL.iter().filter(|&&rules| boards.iter().all(|&(other, _)| other != rules));
    let names: Vec<&str> = without.map(|rules| rules.name()).collect();
    if !names.is_empty() {
        note!("there are no tables for {} in {directory}: searching without them", names.join(", "));
    }
}
