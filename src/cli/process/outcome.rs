//! Outcomes of commands. docs/commands.md lists the exit codes.

use std::fmt;
use std::process::ExitCode;

/// Exit code of a check that found a wrong value or damage.
pub const EXIT_DAMAGE: u8 = 3;

/// Added to the number of a signal that ended the program, as in shells.
const EXIT_SIGNAL: i32 = 128;

/// Outcome of a command. The larger one of two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Done,
    /// Something could not be answered; reported where it happened.
    Failed,
    /// The command line is wrong on any machine; reported where it happened.
    Usage,
    /// A check found a wrong value or damage; reported where it happened.
    Wrong,
    /// The signal of this number asked the command to end.
    Interrupted(i32),
}

impl Outcome {
    /// Returns the outcome of a command that ended like this after `signal` had asked it to end. Finished work and
    /// findings count for more.
    pub fn after(self, signal: Option<i32>) -> Outcome {
        match (self, signal) {
            (Outcome::Failed | Outcome::Usage, Some(signal)) => Outcome::Interrupted(signal),
            _ => self,
        }
    }

    /// Returns the worse one of two.
    pub fn and(self, other: Outcome) -> Outcome {
        self.max(other)
    }

    fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::Wrong => EXIT_DAMAGE,
            Outcome::Interrupted(signal) => u8::try_from(EXIT_SIGNAL + signal).unwrap_or(u8::MAX),
        }
    }

    /// Returns the exit code for `main`. After a GPU has hung this ends the process at once, since destructors of a
    /// working driver may crash.
    pub fn leave(self) -> ExitCode {
        #[cfg(all(unix, feature = "gpu"))]
        if kalah::gpu::has_hung() {
            // A failure cannot be reported any more.
            let _ = std::io::Write::flush(&mut std::io::stdout());
            // SAFETY: it ends the process without running any more of its code.
            unsafe { libc::_exit(self.code().into()) }
        }
        ExitCode::from(self.code())
    }
}

/// Error of a command line that is wrong on any machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

/// Returns the error of a command line that is wrong, whatever the machine and its files.
pub fn usage(message: impl fmt::Display) -> anyhow::Error {
    UsageError(message.to_string()).into()
}
