//! The directory of the tables. One that was named but does not exist is an error before any work starts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use kalah::game::Rules;
use kalah::table::{Shelf, TableKey};
use kalah::verify::Survey;

use crate::cli::flags::remote;
use crate::cli::output;

/// Commands that make tables or plan to. Their directory may be new.
const MAKERS: [&str; 3] = ["build", "plan", "unpack"];

/// Flags with which a command makes tables or uses none.
const EXEMPT: [&str; 2] = ["build", "no_tables"];

/// Returns an error if `--tables` or `KALAH_TABLES` names a missing directory that the command of `matches` reads.
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

/// Returns true if there is no directory of this name. Other errors are left to its readers.
fn is_missing(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Reports what a search cannot use of `directory`, for commands that go on without it: damaged tables, tables above a
/// missing layer, and rule sets `in_play` without tables.
pub fn note_unused(directory: &Path, in_play: &[Rules]) {
    // Another error of the directory is that of the first search.
    let listing = Shelf::new(directory.to_owned()).list().unwrap_or_default();
    for (_, error) in &listing.damaged {
        output::message(format_args!("kalah: {error}; it and larger tables of its board are not used"));
    }
    for (key, mut missing) in listing.gaps {
        let TableKey { rules, pits, .. } = key;
        // Damaged ones were reported.
        missing.retain(|&seeds| !TableKey { seeds, ..key }.path(directory).exists());
        if let Some(first) = missing.first() {
            output::note(format_args!(
                "tables of more than {} for {rules} with {} are not used: {} missing in {}",
                output::count(*first, "seed"),
                output::count(pits, "pit"),
                missing_layers(&missing),
                remote::shown(directory).display()
            ));
        }
    }
    note_without_tables(directory, in_play);
}

/// Returns the number of missing layers with a verb: `layer 3 is`, `layers 3, 4 are`.
fn missing_layers(seeds: &[usize]) -> String {
    let list: Vec<String> = seeds.iter().map(usize::to_string).collect();
    if let [one] = &list[..] { format!("layer {one} is") } else { format!("layers {} are", list.join(", ")) }
}

/// Notes the rule sets `in_play` that have no tables in `directory`, for commands that go on without tables silently.
fn note_without_tables(directory: &Path, in_play: &[Rules]) {
    let boards = Survey::read(directory).unwrap_or_default().known_boards();
    let without = in_play.iter().filter(|&&rules| boards.iter().all(|&(other, _)| other != rules));
    let names: Vec<&str> = without.map(|rules| rules.name()).collect();
    let shown = remote::shown(directory);
    let shown = shown.display();
    if is_missing(directory) {
        output::note(format_args!("there is no directory {shown}: searching without tables"));
    } else if names.len() == Rules::ALL.len() {
        output::note(format_args!("there are no tables in {shown}: searching without them"));
    } else if !names.is_empty() {
        output::note(format_args!(
            "the directory {shown} has no tables for {}: searching without them",
            names.join(", ")
        ));
    }
}
