//! Outcome and advice of errors.

use std::error::Error;
use std::io;
use std::path::Path;

use kalah_core::cancel::Stopped;
use kalah_core::directory::Directory;
use kalah_core::evaluation::{NetworkError, NetworkFileError};
use kalah_core::game::{IllegalMove, ParseError, Position, PositionError, Rules, UnknownRules};
use kalah_core::header::Kind;
use kalah_core::table::{Damage, ProbeError, TableError, TableKey};

/// An error that has its outcome and advice. One that wraps another returns the diagnosis of that.
pub trait Diagnostic: Error {
    /// The outcome of a command that ends with this error, and advice for its user.
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        let _ = commands;
        Outcome::Failed.into()
    }

    /// Returns true if the reader of an output closed its pipe, as `head` does, which is no failure. An error that
    /// wraps this one is a failure.
    fn is_closed_pipe(&self) -> bool {
        false
    }
}

/// The meaning of an error for the command that it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The outcome of the command.
    pub outcome: Outcome,
    /// The kind of the error, for interfaces that have classes or codes of errors.
    pub kind: ErrorKind,
    /// Advice for the user, as a clause without a full stop.
    pub help: Option<String>,
}

impl From<Outcome> for Diagnosis {
    fn from(outcome: Outcome) -> Diagnosis {
        Diagnosis { outcome, kind: ErrorKind::Other, help: None }
    }
}

impl Diagnosis {
    /// The same for an error of this kind.
    #[must_use]
    pub fn of(self, kind: ErrorKind) -> Diagnosis {
        Diagnosis { kind, ..self }
    }
}

/// Kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A table is damaged.
    Damaged,
    /// A table became shorter while it was in use, or its disk failed.
    Unreadable,
    /// A table is missing.
    Missing,
    /// Another failure of a table.
    Table,
    /// There is not enough memory.
    Memory,
    /// Anything else.
    Other,
}

/// Outcome of a command. The larger one of two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nothing is wrong.
    Done,
    /// The user stopped it.
    Stopped,
    /// Something could not be answered.
    Failed,
    /// The command line is wrong on any machine.
    Usage,
    /// A check found a wrong value or damage.
    Wrong,
    /// The signal of this number asked the command to end.
    Interrupted(i32),
}

impl Outcome {
    /// This outcome with advice.
    pub fn help(self, help: impl Into<String>) -> Diagnosis {
        Diagnosis { help: Some(help.into()), ..self.into() }
    }

    /// Returns the outcome of a command that ended like this after `signal` had asked it to end. Finished work and
    /// findings count for more.
    #[must_use]
    pub fn after(self, signal: Option<i32>) -> Outcome {
        match (self, signal) {
            (Outcome::Stopped | Outcome::Failed | Outcome::Usage, Some(signal)) => Outcome::Interrupted(signal),
            _ => self,
        }
    }

    /// Returns the worse one of two.
    #[must_use]
    pub fn and(self, other: Outcome) -> Outcome {
        self.max(other)
    }
}

/// Commands and flags of the running program, for advice. A command can be pasted into a shell. A program without
/// commands has none of them.
pub trait Commands {
    /// The command that builds a table and all below it.
    fn build(&self, _directory: &Path, _key: TableKey) -> String {
        String::new()
    }

    /// The same, or a clause that says why it does not fit this machine. If the table is `replaced`, its disk space is
    /// free first.
    ///
    /// # Errors
    /// The clause.
    fn build_that_fits(&self, _directory: &Path, _key: TableKey, _replaced: bool) -> Result<String, String> {
        Err(String::new())
    }

    /// The command that makes the bound table of a layer.
    fn bounds(&self, _directory: &Path, _key: TableKey) -> String {
        String::new()
    }

    /// The command that solves a position; `None` if it is too large for that.
    fn solve(&self, _directory: &Directory, _rules: Rules, _position: &Position) -> Option<String> {
        None
    }
}

/// The commands of no program, for those who want only the outcome and kind of an error.
#[derive(Clone, Copy, Debug)]
pub struct NoCommands;

impl Commands for NoCommands {}

impl Diagnostic for ProbeError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        let solve = |directory, rules, position| {
            commands.solve(directory, rules, position).map(|solve| format!("find its value with `{solve}`"))
        };
        match self {
            ProbeError::AboveTables { position, directory, key, .. } => {
                let build = directory.path().and_then(|path| commands.build_that_fits(path, *key, false).ok());
                let build = build.map(|build| format!("build the missing layers with `{build}`"));
                let solve = solve(directory, key.rules, position);
                let ways: Vec<String> = [other_rules(directory, *key), build, solve].into_iter().flatten().collect();
                let help = Some(ways.join(", or ")).filter(|help| !help.is_empty());
                Diagnosis { outcome: Outcome::Failed, kind: ErrorKind::Missing, help }
            }
            ProbeError::BeyondTables { position, directory, rules } => {
                let help = solve(directory, *rules, position);
                Diagnosis { outcome: Outcome::Usage, kind: ErrorKind::Missing, help }
            }
            ProbeError::OtherPits { .. } => Outcome::Usage.into(),
            ProbeError::Table(error) => error.diagnosis(commands),
            _ => Outcome::Failed.into(),
        }
    }
}

impl Diagnostic for TableError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        let outcome = if self.is_damage() { Outcome::Wrong } else { Outcome::Failed };
        let kind = match self {
            TableError::Damaged { damage: Damage::Shrunk, .. } => ErrorKind::Unreadable,
            TableError::Damaged { .. } => ErrorKind::Damaged,
            TableError::Missing { .. } => ErrorKind::Missing,
            error if error.is_out_of_memory() => ErrorKind::Memory,
            _ => ErrorKind::Table,
        };
        let help: String = match self {
            TableError::Io { source, .. } => match of_io(source) {
                Some(help) => help.into(),
                None => {
                    let cause = source.diagnosis(commands);
                    return if cause.kind == ErrorKind::Other { cause.of(kind) } else { cause };
                }
            },
            TableError::Stopped(error) => return error.diagnosis(commands),
            TableError::Damaged { path, .. } if is_address(path) => {
                "the fault is at that address, not on this machine".into()
            }
            TableError::Missing { directory, .. } if directory.is_remote() => {
                "the layers are not at that address".into()
            }
            TableError::Missing { directory, key, .. } => build_missing(directory, *key, commands),
            TableError::Damaged { damage: Damage::Shrunk, kind, path } => {
                format!("restore it, or {}", of_stranger(*kind, path, commands))
            }
            TableError::Damaged { kind: Kind::Piece, .. } => "its frames will be computed again".into(),
            TableError::Damaged { kind, path, .. } if !self.is_worthless() => of_stranger(*kind, path, commands),
            TableError::Occupied { .. } => "move it away, or choose another directory".into(),
            TableError::Damaged { kind, path, .. } => of_damaged(*kind, path, commands),
            _ => return Diagnosis::from(outcome).of(kind),
        };
        outcome.help(help).of(kind)
    }
}

/// Advice for a file that is certainly damaged.
fn of_damaged(kind: Kind, path: &Path, commands: &dyn Commands) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    match (kind, TableKey::of_file(kind, path)) {
        (Kind::Table, Some(key)) => match commands.build_that_fits(directory, key, true) {
            Ok(build) => format!("delete it and run `{build}`"),
            // Its sound frames can still be read.
            Err(why) => format!("keep it until there is room: {why}"),
        },
        (Kind::BoundTable, Some(key)) => format!("delete it and run `{}`", commands.bounds(directory, key)),
        (Kind::Archive, _) => {
            "download it again, or pack the table again; if a build made it, delete it and run the build again"
                .to_owned()
        }
        _ => "its name is not that of a table, so no command can rebuild it".to_owned(),
    }
}

/// Advice for a file that is not certainly a damaged one of its kind, which never suggests to delete it.
fn of_stranger(kind: Kind, path: &Path, commands: &dyn Commands) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    match (kind, TableKey::of_file(kind, path)) {
        (Kind::Table, Some(key)) => format!("move it away and run `{}`", commands.build(directory, key)),
        (Kind::BoundTable, Some(key)) => format!("move it away and run `{}`", commands.bounds(directory, key)),
        _ => "choose another file, or move it away".to_owned(),
    }
}

/// Returns true if a table has this address, not this path.
fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains("://"))
}

/// Advice for a missing table, and perhaps others below it.
pub fn build_missing(directory: &Directory, key: TableKey, commands: &dyn Commands) -> String {
    let build = match commands.build_that_fits(directory.name(), key, false) {
        Ok(build) => format!("build the missing layers with `{build}`"),
        Err(why) => why,
    };
    other_rules(directory, key).map_or_else(|| build.clone(), |other| format!("{other}, or {build}"))
}

/// Advice to use another rule set, if the directory has its table of the same board.
fn other_rules(directory: &Directory, key: TableKey) -> Option<String> {
    let mut others = Rules::ALL.into_iter().filter(|&rules| rules != key.rules);
    let there = others.find(|&rules| TableKey { rules, ..key }.is_in(directory))?;
    Some(format!("choose the rule set {there}, whose table is there"))
}

/// Advice for a file that could not grow, or did not fit in memory.
fn of_io(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free disk space and run the same command again")
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit on file sizes (see `ulimit -f`) and run the same command again")
        }
        io::ErrorKind::OutOfMemory => Some("close other programs, or raise the limit on memory (see `ulimit -v`)"),
        _ => None,
    }
}

impl Diagnostic for IllegalMove {}
impl Diagnostic for ParseError {}
impl Diagnostic for PositionError {}
impl Diagnostic for UnknownRules {}

impl Diagnostic for Stopped {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        Outcome::Stopped.into()
    }
}

/// Only a network that is certainly damaged is to be deleted.
impl Diagnostic for NetworkFileError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match &self.error {
            NetworkError::Io(error) => error.diagnosis(commands),
            NetworkError::Damaged => {
                Outcome::Wrong.help(format!("delete {}, or replace it with `kalah train`", self.path.display()))
            }
            NetworkError::Header(_) | NetworkError::Unfit(_) => {
                Outcome::Wrong.help("choose another file, or move it away from the tables")
            }
            NetworkError::Other { found: (rules, pits), .. } => Outcome::Failed.help(format!(
                "give its board with --rules {rules} --pits {pits}, choose another file, or move it away and make one \
                 with `kalah train`"
            )),
            _ => Outcome::Failed.into(),
        }
    }
}
