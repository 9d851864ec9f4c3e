//! Outcome and advice of errors.

use std::error::Error;
use std::io;
use std::path::Path;

use kalah_core::cancel::Stopped;
use kalah_core::directory::Directory;
use kalah_core::evaluation::NetworkError;
use kalah_core::file::InFile;
use kalah_core::game::{IllegalMove, ParseError, PositionError, UnknownRules};
use kalah_core::header::Kind;
use kalah_core::table::{Damage, ProbeError, TableError, TableKey};

/// An error that has its outcome and advice. One that wraps another returns the diagnosis of that.
pub trait Diagnostic: Error {
    /// The outcome of a command that ends with this error, and advice for its user.
    fn diagnosis(&self) -> Diagnosis {
        Outcome::Failed.into()
    }

    /// Returns true if the reader of an output closed its pipe, as `head` does, which is no failure. An error that
    /// wraps this one is a failure.
    fn is_closed_pipe(&self) -> bool {
        false
    }

    /// The text of the error, followed by a semicolon and its advice, if there is any.
    fn advised(&self) -> String {
        self.diagnosis().help.map_or_else(|| self.to_string(), |help| format!("{self}; {help}"))
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

/// The command that builds a table and all below it in `directory`, for a shell.
pub fn build_command(directory: &Path, TableKey { rules, pits, seeds }: TableKey) -> String {
    let build = format!("kalah build --seeds {seeds} --rules {rules} --pits {pits}");
    match directory.to_str() {
        Some("tables" | "") => build,
        Some(name) if !name.contains(char::is_whitespace) => format!("{build} --tables {name}"),
        _ => format!("{build} --tables '{}'", directory.display()),
    }
}

/// Advice for a missing table, and perhaps others below it.
pub fn build_missing(directory: &Directory, key: TableKey) -> String {
    match directory.is_remote() {
        true => "the layers are not at that address".to_owned(),
        false => format!("build the missing layers with `{}`", build_command(directory.name(), key)),
    }
}

impl Diagnostic for ProbeError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            ProbeError::AboveTables { directory, key, .. } => {
                let help = format!("{}; or use `kalah solve`", build_missing(directory, *key));
                Outcome::Failed.help(help).of(ErrorKind::Missing)
            }
            ProbeError::BeyondTables { .. } => Outcome::Usage.help("use `kalah solve`").of(ErrorKind::Missing),
            ProbeError::OtherPits { .. } => Outcome::Usage.into(),
            ProbeError::Table(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}

impl Diagnostic for TableError {
    fn diagnosis(&self) -> Diagnosis {
        let outcome = if self.is_damage() { Outcome::Wrong } else { Outcome::Failed };
        let kind = match self {
            TableError::Damaged { damage: Damage::Shrunk, .. } => ErrorKind::Unreadable,
            TableError::Damaged { .. } => ErrorKind::Damaged,
            TableError::Missing { .. } => ErrorKind::Missing,
            error if error.is_out_of_memory() => ErrorKind::Memory,
            _ => ErrorKind::Table,
        };
        let help: String = match self {
            TableError::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    "free disk space, or raise the limit of `ulimit -f`, and run the same command again".into()
                }
                io::ErrorKind::OutOfMemory => {
                    "close other programs, or raise the limit on memory (see `ulimit -v`)".into()
                }
                _ => return Diagnosis::from(outcome).of(kind),
            },
            TableError::Stopped(error) => return error.diagnosis(),
            TableError::Damaged { path, .. } if path.to_str().is_some_and(|text| text.contains("://")) => {
                "the fault is at that address, not on this machine".into()
            }
            TableError::Missing { directory, key, .. } => build_missing(directory, *key),
            TableError::Damaged { kind: Kind::Piece, .. } => "its frames will be computed again".into(),
            // Only a file that is certainly damaged is to be deleted.
            TableError::Damaged { kind, path, .. } => {
                rebuild(if self.is_worthless() { "delete it" } else { "move it away" }, *kind, path)
            }
            TableError::Occupied { .. } => "move it away, or choose another directory".into(),
            _ => return Diagnosis::from(outcome).of(kind),
        };
        outcome.help(help).of(kind)
    }
}

/// Advice for a damaged file, or one of another kind in its place.
fn rebuild(remove: &str, kind: Kind, path: &Path) -> String {
    match (kind, TableKey::of_file(kind, path)) {
        (Kind::Table, Some(key)) => format!("{remove} and run `{}`", build_command(path.parent().unwrap_or(path), key)),
        (Kind::BoundTable, Some(TableKey { rules, pits, seeds })) => {
            format!("{remove} and run `kalah bounds --seeds {seeds} --rules {rules} --pits {pits}`")
        }
        (Kind::Archive, _) => format!("{remove}, and download it or pack the table again"),
        _ => "choose another file, or move it away".to_owned(),
    }
}

impl Diagnostic for IllegalMove {}
impl Diagnostic for ParseError {}
impl Diagnostic for PositionError {}
impl Diagnostic for UnknownRules {}

impl Diagnostic for Stopped {
    fn diagnosis(&self) -> Diagnosis {
        Outcome::Stopped.into()
    }
}

impl Diagnostic for io::Error {
    fn is_closed_pipe(&self) -> bool {
        self.kind() == io::ErrorKind::BrokenPipe
    }
}

impl<E: Diagnostic + 'static> Diagnostic for InFile<E> {
    fn diagnosis(&self) -> Diagnosis {
        self.error.diagnosis()
    }
}

impl Diagnostic for NetworkError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            NetworkError::Io(error) => error.diagnosis(),
            NetworkError::Damaged => Outcome::Wrong.help("delete it, or make one with `kalah train --force`"),
            NetworkError::Header(_) | NetworkError::Unfit(_) => {
                Outcome::Wrong.help("choose another file, or move it away from the tables")
            }
            NetworkError::Other { .. } => {
                Outcome::Failed.help("give its board with --rules and --pits, choose another file, or move it away")
            }
            _ => Outcome::Failed.into(),
        }
    }
}
