//! What an error means for the command that it ends, and what its user can do.

// | file | contents |
// |---|---|
// | `foreign` | other errors of `kalah-core` |
// | `tables` | advice for tables, and for positions that none has |

mod foreign;
mod tables;

use std::error::Error;
use std::iter::successors;
use std::path::Path;

use kalah_core::directories::Directories;
use kalah_core::game::{Position, Rules};
use kalah_core::table::TableKey;

pub use self::tables::build_missing;

/// Advice for a file of a newer version.
pub const USE_NEWER: &str = "use that version of kalah";

/// An error with its outcome and advice. Each function is about the error itself; [`outcome_of`] and [`help_of`] also
/// ask the errors that it wraps.
pub trait Diagnostic: Error {
    /// The outcome of a command that ends with this error.
    fn outcome(&self) -> Outcome {
        Outcome::Failed
    }

    /// What the user can do, as a clause without a full stop.
    fn help(&self, commands: &dyn Commands) -> Option<String> {
        let _ = commands;
        None
    }

    /// Returns true if the user stopped the work.
    fn is_stop(&self) -> bool {
        false
    }

    /// The error that this one wraps.
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        None
    }
}

/// Returns the worst outcome of an error and those that it wraps.
pub fn outcome_of(error: &dyn Diagnostic) -> Outcome {
    chain(error).map(Diagnostic::outcome).max().unwrap_or(Outcome::Failed)
}

/// Returns the first advice of an error and those that it wraps.
pub fn help_of(error: &dyn Diagnostic, commands: &dyn Commands) -> Option<String> {
    chain(error).find_map(|error| error.help(commands))
}

/// Returns true if the user stopped the work that ended with an error.
pub fn is_stop(error: &dyn Diagnostic) -> bool {
    chain(error).any(Diagnostic::is_stop)
}

/// Returns `error`, the error that it wraps, and so on.
fn chain(error: &dyn Diagnostic) -> impl Iterator<Item = &dyn Diagnostic> {
    successors(Some(error), |error| error.wrapped())
}

/// The error that the value, an enum, has in one of these variants: the value of [`Diagnostic::wrapped`].
#[macro_export]
macro_rules! wrapped_in {
    ($value:expr, $($variant:ident),+) => {
        match $value {
            $(Self::$variant(error) => Some(error as &dyn $crate::diagnostic::Diagnostic),)+
            #[allow(unreachable_patterns)]
            _ => None,
        }
    };
}

/// Outcome of a command. The larger one of two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nothing is wrong.
    Done,
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
    /// Returns the outcome of a command that ended like this after `signal` had asked it to end. Finished work and
    /// findings count for more.
    #[must_use]
    pub fn after(self, signal: Option<i32>) -> Outcome {
        match (self, signal) {
            (Outcome::Failed | Outcome::Usage, Some(signal)) => Outcome::Interrupted(signal),
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
