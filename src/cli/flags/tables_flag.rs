//! The flag `--tables` and the variable `KALAH_TABLES`: one directory, or several that are read as one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use kalah::table::{self, Place};

/// Value of the flag without any.
const DEFAULT: &str = "tables";

/// The flag as clap reads it.
#[derive(Args)]
struct TablesFlag {
    /// Directory with the tables
    #[arg(long = "tables", value_name = "DIR", default_value = DEFAULT, env = "KALAH_TABLES",
        value_parser = PathBufValueParser::new().map(Location::of), value_hint = ValueHint::AnyPath)]
    tables: Vec<Location>,
}

/// A value of the flag.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub path: PathBuf,
    /// The directory at an address, once it was opened.
    opened: Arc<OnceLock<Place>>,
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
    pub(crate) fn open(&self, place: Place) {
        let _ = self.opened.set(place);
    }

    /// The directory that it names.
    fn place(self) -> Place {
        self.opened.get().cloned().unwrap_or(Place::Here(self.path))
    }
}

/// The tables of a command that only reads them. Each flag names one directory; the variable is split as `PATH`.
pub(crate) type Directories = TablesIn<true>;

/// The tables of a command that writes to their directory. More than one is a usage error.
pub(crate) type Directory = TablesIn<false>;

/// The directories of the tables, in the order of their flags.
#[derive(Clone)]
pub(crate) struct TablesIn<const SEVERAL: bool> {
    pub paths: table::Directories,
}

impl Directory {
    /// Returns the only directory.
    pub(crate) fn path(&self) -> &Path {
        self.paths.single().expect("more are refused")
    }
}

/// Returns the directories and addresses that the flags or the variable of a command give. A variable with an address
/// is not split.
pub(crate) fn given(matches: &ArgMatches) -> Result<Vec<Location>, Error> {
    let values = TablesFlag::from_arg_matches(matches)?.tables;
    let split = |value: &Location| match value.address() {
        Some(_) => vec![value.clone()],
        None => std::env::split_paths(&value.path).map(Location::of).collect(),
    };
    let mut locations: Vec<Location> = match matches.value_source("tables") {
        Some(ValueSource::EnvVariable) => values.iter().flat_map(split).collect(),
        _ => values,
    };
    locations.retain(|location| !location.path.as_os_str().is_empty());
    Ok(locations)
}

/// Returns the directories that the flags or the variable of a command name. All commands get them here.
pub(crate) fn named(matches: &ArgMatches) -> Result<table::Directories, Error> {
    table::Directories::new(given(matches)?.into_iter().map(Location::place))
        .ok_or_else(|| Error::raw(ErrorKind::ValueValidation, "--tables or KALAH_TABLES names no directory\n"))
}

impl<const SEVERAL: bool> FromArgMatches for TablesIn<SEVERAL> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let paths = named(matches)?;
        if !SEVERAL && paths.single().is_none() {
            let message =
                format!("this command writes to one directory of tables, not to {paths}: name it by --tables\n");
            return Err(Error::raw(ErrorKind::TooManyValues, message));
        }
        Ok(TablesIn { paths })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = TablesIn::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const SEVERAL: bool> Args for TablesIn<SEVERAL> {
    fn augment_args(command: Command) -> Command {
        let several = "Directory with the tables; several flags name directories that are read as one";
        let command = TablesFlag::augment_args(command);
        if SEVERAL { command.mut_arg("tables", |flag| flag.help(several)) } else { command }
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
