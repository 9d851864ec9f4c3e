//! The directory of the tables: one that is named and not there is a mistake, told before anything is done.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use kalah::game::Rules;
use kalah::verify::Survey;

use crate::cli::output;

/// The commands that make tables, or plan to: the directory may be a new one.
const MAKERS: [&str; 3] = ["build", "plan", "unpack"];

/// Flags with which a command makes tables, or uses none.
const EXEMPT: [&str; 2] = ["build", "no_tables"];

/// Returns an error if `--tables` or `KALAH_TABLES` names a directory for the command of `matches` that is not there.
pub fn check(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((name, inner)) = matches.subcommand() else { return check_own(command, matches) };
    match command.find_subcommand(name) {
        Some(command) if !MAKERS.contains(&name) => check(command, inner),
        _ => Ok(()),
    }
}

fn check_own(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some(flag) = command.get_arguments().find(|argument| argument.get_long() == Some("tables")) else {
        return Ok(());
    };
    let id = flag.get_id().as_str();
    let by = match matches.value_source(id) {
        Some(ValueSource::CommandLine) => "--tables",
        Some(ValueSource::EnvVariable) => "KALAH_TABLES",
        _ => return Ok(()),
    };
    let is_set = |flag: &&str| matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true);
    let Some(path) = matches.get_one::<PathBuf>(id).filter(|_| !EXEMPT.iter().any(is_set)) else {
        return Ok(());
    };
    if is_missing(path) {
        bail!("there is no directory {} (named by {by})", path.display());
    }
    Ok(())
}

/// Returns true if there is no directory of this name. One that cannot be looked at is told of by who reads it.
fn is_missing(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Notes which of the rule sets in play have no tables in `directory`: for commands that go on without, and would not say so.
pub fn note_without_tables(directory: &Path, in_play: &[Rules]) {
    let boards = Survey::read(directory).unwrap_or_default().known_boards();
    let without = in_play.iter().filter(|&&rules| boards.iter().all(|&(other, _)| other != rules));
    let names: Vec<&str> = without.map(|rules| rules.name()).collect();
    let shown = directory.display();
    if is_missing(directory) {
        output::note(format_args!("there is no directory {shown}, so there are no tables: searching without"));
    } else if names.len() == Rules::ALL.len() {
        output::note(format_args!("no tables in {shown}: searching without"));
    } else if !names.is_empty() {
        output::note(format_args!("no tables for {} in {shown}: searching without", names.join(", ")));
    }
}
