//! Tables at an address such as `https://example.org/tables`, in place of a directory.
//!
//! The address on the command line, or in `KALAH_TABLES`, is replaced by the directory that stands for it, and the
//! command line is read again. So commands need no code for addresses, except those that search.
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

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};
use kalah::table::source_address;
#[cfg(not(feature = "remote"))]
use no_opening as opening;

use crate::cli::process::outcome::usage;

pub use opening::with_flags;
pub use searching::{fetch_for_search, fetch_for_searches};

/// Environment variable with the directory or address.
const VARIABLE: &str = "KALAH_TABLES";

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

/// Opens the tables at the addresses that `--tables` or the environment give, and returns the command line with the
/// directories in their place; `None` if there are no addresses.
///
/// # Errors
/// When the command does not read tables at an address, or they cannot be opened.
pub fn resolve(
    command: &Command,
    matches: &ArgMatches,
    arguments: &[OsString],
) -> anyhow::Result<Option<Vec<OsString>>> {
    let (command, matches) = innermost(command, matches);
    let Some(flag) = command.get_arguments().find(|argument| argument.get_long() == Some("tables")) else {
        return Ok(None);
    };
    let values = matches.get_raw(flag.get_id().as_str()).into_iter().flatten();
    let addresses: Vec<&str> = values.filter_map(OsStr::to_str).filter(|value| is_address(value)).collect();
    if addresses.is_empty() {
        return Ok(None);
    }
    let name = command.get_name();
    let is_set = |flag: &&&str| matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true);
    if matches.try_get_one::<bool>("no_tables").ok().flatten() == Some(&true) {
        return Ok(None);
    }
    if let Some(flag) = BUILDING.iter().find(is_set) {
        return Err(usage(format_args!(
            "--{flag} cannot build tables at an address; leave it out, or give --tables a directory"
        )));
    }
    if !READERS.contains(&name) && !addresses.iter().all(|address| address.starts_with("file://")) {
        return Err(usage(format_args!(
            "this command does not use tables at an address: give --tables a directory; `kalah fetch` downloads layers"
        )));
    }
    let mut arguments = arguments.to_vec();
    for address in addresses {
        let directory = opening::open(address, matches)?;
        if std::env::var_os(VARIABLE).is_some_and(|value| value == address) {
            // SAFETY: the threads that asked the address have ended, and no other one reads the environment.
            unsafe { std::env::set_var(VARIABLE, &directory) };
        }
        for argument in &mut arguments {
            if *argument == *address {
                *argument = directory.clone().into_os_string();
            } else if argument.to_str().and_then(|argument| argument.strip_prefix("--tables=")) == Some(address) {
                *argument = OsString::from("--tables=");
                argument.push(&directory);
            }
        }
    }
    Ok(Some(arguments))
}

/// Returns true if a directory stands for an address.
pub fn is_remote(directory: &Path) -> bool {
    source_address(directory).is_some()
}

/// Returns the name to show for a directory: its address, if it stands for one.
pub fn shown(directory: &Path) -> PathBuf {
    source_address(directory).unwrap_or_else(|| directory.to_owned())
}

/// Returns true if the text is an address, not a path.
fn is_address(text: &str) -> bool {
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
