//! The flag `--tables` and the variable `KALAH_TABLES`: a directory, or an address.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgMatches, Args, ValueHint};
use kalah::table;

/// The directory of the tables.
#[derive(Args, Clone)]
pub(crate) struct Directory {
    /// Directory with the tables
    #[arg(
        long,
        value_name = "DIR",
        default_value = "tables",
        env = "KALAH_TABLES",
        value_hint = ValueHint::AnyPath,
        value_parser = PathBufValueParser::new().map(Named::new)
    )]
    tables: Named,
}

impl Directory {
    /// Returns the directory, or the one at the address.
    pub(crate) fn directory(&self) -> &table::Directory {
        self.tables.opened.get().map_or(&self.tables.here, |(directory, _)| directory)
    }

    /// Returns its path, for commands that write to it: these refuse an address.
    pub(crate) fn path(&self) -> &Path {
        self.directory().name()
    }

    /// Returns the maximum bytes that a search fetches from the address; 0 for a directory.
    pub(crate) fn fetch_limit(&self) -> u64 {
        self.tables.opened.get().map_or(0, |(_, limit)| *limit)
    }
}

/// The value of the flag.
#[derive(Clone)]
pub(crate) struct Named {
    /// The directory with this name, which may be an address.
    here: table::Directory,
    /// The directory at the address, once it was opened, and the maximum bytes that a search fetches from it.
    pub opened: Arc<OnceLock<(table::Directory, u64)>>,
}

impl Named {
    fn new(path: PathBuf) -> Named {
        Named { here: path.into(), opened: Arc::default() }
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
    pub(crate) fn named(&self) -> Option<&'a Named> {
        self.matches.try_get_one("tables").ok().flatten()
    }

    /// Returns its path or address.
    pub(crate) fn tables(&self) -> Option<&'a Path> {
        self.named().map(|named| named.here.name())
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
