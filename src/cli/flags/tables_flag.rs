//! The flag `--tables` and the variable `KALAH_TABLES`: a directory, or an address.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use kalah::table;

/// Value of the flag without any.
const DEFAULT: &str = "tables";

/// The flag as clap reads it.
#[derive(Args)]
struct TablesFlag {
    /// Directory with the tables
    #[arg(long = "tables", value_name = "DIR", default_value = DEFAULT, env = "KALAH_TABLES",
        value_parser = PathBufValueParser::new().map(Location::of), value_hint = ValueHint::AnyPath)]
    tables: Location,
}

/// A value of the flag.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub path: PathBuf,
    /// The directory at an address, once it was opened.
    opened: Arc<OnceLock<table::Directory>>,
}

impl Location {
    fn of(path: PathBuf) -> Location {
        Location { path, opened: Arc::default() }
    }

    /// The value, if it is an address.
    pub(crate) fn address(&self) -> Option<&str> {
        self.path.to_str().filter(|text| is_address(text))
    }

    /// Notes the directory at this address.
    pub(crate) fn open(&self, directory: table::Directory) {
        let _ = self.opened.set(directory);
    }

    /// The directory that it names.
    fn directory(self) -> table::Directory {
        self.opened.get().cloned().unwrap_or(table::Directory::Here(self.path))
    }
}

/// The directory of the tables.
#[derive(Clone)]
pub(crate) struct Directory {
    pub directory: table::Directory,
}

impl Directory {
    /// Returns its path, for commands that write to it: these refuse an address.
    pub(crate) fn path(&self) -> &Path {
        self.directory.name()
    }
}

/// Returns the directory or address that the flag or the variable of a command gives.
pub(crate) fn given(matches: &ArgMatches) -> Result<Location, Error> {
    Ok(TablesFlag::from_arg_matches(matches)?.tables)
}

/// Returns the directory that the flag or the variable of a command names. All commands get it here.
pub(crate) fn named(matches: &ArgMatches) -> Result<table::Directory, Error> {
    Ok(given(matches)?.directory())
}

impl FromArgMatches for Directory {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Directory { directory: named(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Directory::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Directory {
    fn augment_args(command: Command) -> Command {
        TablesFlag::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns true if the text is an address, not a path.
fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    })
}

/// The innermost command that was given, such as `build` for `kalah plan build`.
pub(crate) struct Given<'a> {
    pub command: &'a Command,
    pub matches: &'a ArgMatches,
    /// Names of the commands from the outermost on, such as `plan` and `build`.
    pub names: Vec<&'a str>,
}

impl<'a> Given<'a> {
    /// Finds the command in those of the program.
    pub(crate) fn new(program: &'a Command, matches: &'a ArgMatches) -> Given<'a> {
        let mut given = Given { command: program, matches, names: Vec::new() };
        while let Some((name, inner)) = given.matches.subcommand()
            && let Some(command) = given.command.find_subcommand(name)
        {
            (given.command, given.matches) = (command, inner);
            given.names.push(name);
        }
        given
    }

    /// Returns true if the command has the flag `--tables`.
    pub(crate) fn takes_tables(&self) -> bool {
        self.command.get_arguments().any(|argument| argument.get_long() == Some("tables"))
    }

    /// Returns true if the command has this flag, which takes no value, and it was given.
    pub(crate) fn is_set(&self, flag: &str) -> bool {
        self.matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true)
    }
}
