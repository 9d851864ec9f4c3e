//! Outcome and advice of errors.

// | file | contents |
// |---|---|
// | `tables` | advice for tables, and for positions that none has |

mod tables;

use std::error::Error;
use std::path::Path;

use kalah_core::directories::Directories;
use kalah_core::game::{Position, Rules};
use kalah_core::table::TableKey;

pub use self::tables::build_missing;

/// Advice for a file of a newer version.
pub const USE_NEWER: &str = "use that version of kalah";

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
    pub kind: Kind,
    /// Advice for the user, as a clause without a full stop.
    pub help: Option<String>,
}

impl From<Outcome> for Diagnosis {
    fn from(outcome: Outcome) -> Diagnosis {
        Diagnosis { outcome, kind: Kind::Other, help: None }
    }
}

impl Diagnosis {
    /// The same for an error of this kind.
    #[must_use]
    pub fn of(self, kind: Kind) -> Diagnosis {
        Diagnosis { kind, ..self }
    }
}

/// Kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
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

/// Commands and flags of the running program, for advice. A command can be pasted into a shell.
pub trait Commands {
    /// The command that builds a table and all below it.
    fn build(&self, directory: &Path, key: TableKey) -> String;

    /// The same, or a clause that says why it does not fit this machine. If the table is `replaced`, its disk space is
    /// free first.
    ///
    /// # Errors
    /// The clause.
    fn build_that_fits(&self, directory: &Path, key: TableKey, replaced: bool) -> Result<String, String>;

    /// The command that builds a table and all below it, if it fits and takes minutes.
    fn quick_build(&self, directories: &Directories, key: TableKey) -> Option<String>;

    /// The command that makes the bound table of a layer.
    fn bounds(&self, directory: &Path, key: TableKey) -> String;

    /// The command that solves a position; `None` if it is too large for that.
    fn solve(&self, directories: &Directories, rules: Rules, position: &Position) -> Option<String>;

    /// The version of the program that wrote a table, if a log beside it has that.
    fn version_of(&self, directory: &Path, key: TableKey) -> Option<String>;

    /// The flag that avoids the GPU, with its value.
    fn without_gpu(&self) -> &'static str;

    /// The flag that names the directory for new files.
    fn directory_flag(&self) -> &'static str;
}

/// The commands of no program, for those who want only the outcome and kind of an error.
#[derive(Clone, Copy, Debug)]
pub struct NoCommands;

impl Commands for NoCommands {
    fn build(&self, _: &Path, _: TableKey) -> String {
        String::new()
    }

    fn build_that_fits(&self, _: &Path, _: TableKey, _: bool) -> Result<String, String> {
        Err(String::new())
    }

    fn quick_build(&self, _: &Directories, _: TableKey) -> Option<String> {
        None
    }

    fn bounds(&self, _: &Path, _: TableKey) -> String {
        String::new()
    }

    fn solve(&self, _: &Directories, _: Rules, _: &Position) -> Option<String> {
        None
    }

    fn version_of(&self, _: &Path, _: TableKey) -> Option<String> {
        None
    }

    fn without_gpu(&self) -> &'static str {
        ""
    }

    fn directory_flag(&self) -> &'static str {
        ""
    }
}
