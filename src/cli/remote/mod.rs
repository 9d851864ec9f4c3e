//! Tables at an address such as `https://example.org/tables`, in place of a directory.
//!
//! Before a command runs, the addresses among its directories are opened. `tables_flag` then replaces each by the
//! directory that stands for it. So commands need no code for addresses, except those that search.
//!
//! | module | contents |
//! |---|---|
//! | `opening` | the directory for an address, and the flags of its cache |
//! | `no_opening` | the same in a program without tables at addresses |
//! | `searching` | layers that a search needs as a whole |

#[cfg(not(feature = "remote"))]
mod no_opening;
#[cfg(feature = "remote")]
mod opening;
mod searching;

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use kalah::table::{Directories, source_address};
#[cfg(not(feature = "remote"))]
use no_opening as opening;
use parking_lot::Mutex;

use crate::cli::flags::tables_flag;
use crate::cli::process::outcome::usage;

pub use opening::with_flags;
pub use searching::{fetch_for_search, fetch_for_searches};

/// Commands that read tables at an address.
const READERS: [&str; 15] = [
    "check",
    "engine",
    "info",
    "kgp",
    "line",
    "play",
    "probe",
    "puzzles",
    "review",
    "search",
    "serve",
    "solve",
    "stats",
    "tournament",
    "verify",
];

/// Flags with which these commands build tables.
const BUILDING: [&str; 1] = ["build"];

/// Addresses that were opened, and the directories that stand for them.
static OPENED: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

/// Opens the tables at the addresses that `--tables` or the environment give.
///
/// # Errors
/// When the command does not read tables at an address, or they cannot be opened.
pub fn open(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let (command, matches) = innermost(command, matches);
    let is_set = |flag: &&str| matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true);
    if !command.get_arguments().any(|argument| argument.get_long() == Some("tables")) || is_set(&"no_tables") {
        return Ok(());
    }
    let given = tables_flag::given(matches)?;
    let addresses: Vec<&str> = given.iter().filter_map(|path| path.to_str()).filter(|path| is_address(path)).collect();
    if addresses.is_empty() {
        return Ok(());
    }
    if let Some(flag) = BUILDING.iter().find(|flag| is_set(flag)) {
        return Err(usage(format_args!(
            "--{flag} cannot build tables at an address; leave it out, or give --tables a directory"
        )));
    }
    if !READERS.contains(&command.get_name()) && !addresses.iter().all(|address| address.starts_with("file://")) {
        return Err(usage(format_args!(
            "this command does not use tables at an address: give --tables a directory; `kalah fetch` downloads layers"
        )));
    }
    for address in addresses {
        let directory = opening::open(address, matches)?;
        OPENED.lock().push((address.into(), directory));
    }
    Ok(())
}

/// Returns the directory that stands for an address that was opened, and any other path as it is.
pub fn directory(path: PathBuf) -> PathBuf {
    let opened = OPENED.lock();
    let found = opened.iter().find(|(address, _)| *address == path).map(|(_, directory)| directory.clone());
    found.unwrap_or(path)
}

/// Returns true if one of the directories stands for an address.
pub fn is_remote(directories: &Directories) -> bool {
    directories.paths().iter().any(|path| source_address(path).is_some())
}

/// Returns true if the text is an address, not a path.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    })
}

/// The innermost command and its arguments.
fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    match matches.subcommand() {
        Some((name, inner)) => match command.find_subcommand(name) {
            Some(command) => innermost(command, inner),
            None => (command, matches),
        },
        None => (command, matches),
    }
}
