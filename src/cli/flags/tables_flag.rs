//! The flag `--tables` and the variable `KALAH_TABLES`: a directory, or an address.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use kalah::table;

/// The flag as clap reads it.
#[derive(Args)]
struct TablesFlag {
    /// Directory with the tables
    #[arg(long, value_name = "DIR", default_value = "tables", env = "KALAH_TABLES", value_hint = ValueHint::AnyPath)]
    tables: PathBuf,
}

/// The directory at the address that the flag names, once it was opened.
pub(crate) static OPENED: OnceLock<table::Directory> = OnceLock::new();

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

impl FromArgMatches for Directory {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let path = TablesFlag::from_arg_matches(matches)?.tables;
        Ok(Directory { directory: OPENED.get().cloned().unwrap_or(path.into()) })
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

/// The innermost command that was given, such as `build` for `kalah plan build`.
pub(crate) struct Given<'a> {
    pub matches: &'a ArgMatches,
    /// Names of the commands from the outermost on, such as `plan` and `build`.
    pub names: Vec<&'a str>,
}

impl<'a> Given<'a> {
    /// Finds the command.
    pub(crate) fn new(matches: &'a ArgMatches) -> Given<'a> {
        let mut given = Given { matches, names: Vec::new() };
        while let Some((name, inner)) = given.matches.subcommand() {
            given.matches = inner;
            given.names.push(name);
        }
        given
    }

    /// Returns the value of `--tables`; `None` if the command does not have it.
    pub(crate) fn tables(&self) -> Option<&'a Path> {
        self.matches.try_get_one::<PathBuf>("tables").ok().flatten().map(PathBuf::as_path)
    }

    /// Returns its address, if it is one.
    pub(crate) fn address(&self) -> Option<&'a str> {
        let text = self.tables()?.to_str()?;
        let (scheme, _) = text.split_once("://")?;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        (scheme.len() > 1 && scheme.chars().all(is_letter)).then_some(text)
    }

    /// Returns true if the command has this flag, which takes no value, and it was given.
    pub(crate) fn is_set(&self, flag: &str) -> bool {
        self.matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true)
    }
}
