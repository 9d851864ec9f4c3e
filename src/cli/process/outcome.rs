//! How commands end. docs/commands.md has the table of exit codes.

use std::fmt;
use std::process::ExitCode;

/// The exit code of a check that found a wrong value or damage.
pub const EXIT_DAMAGE: u8 = 3;

/// The exit code of a program that a signal ended is this and the number of the signal: as shells have it.
const EXIT_SIGNAL: i32 = 128;

/// How a command ended. Of two the larger one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Done,
    /// Something could not be answered; reported where it happened.
    Failed,
    /// The command line asks for what no machine can do; reported where it happened.
    Usage,
    /// A check found a wrong value or damage; reported where it happened.
    Wrong,
    /// The signal of this number asked the command to end.
    Interrupted(i32),
}

impl Outcome {
    /// The outcome of a command that ended like this after `signal` had asked it to end. What was done or found all the same
    /// counts for more.
    pub fn after(self, signal: Option<i32>) -> Outcome {
        match (self, signal) {
            (Outcome::Failed | Outcome::Usage, Some(signal)) => Outcome::Interrupted(signal),
            _ => self,
        }
    }

    /// The worse one of two.
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

    /// The exit code to return from `main`. After a GPU has hung this ends the program itself, since its driver may be at work, and
    /// crash when its destructors run.
    pub fn leave(self) -> ExitCode {
        #[cfg(all(unix, feature = "gpu"))]
        if kalah::gpu::has_hung() {
            // Nobody is left to tell that it failed.
            let _ = std::io::Write::flush(&mut std::io::stdout());
            // SAFETY: it ends the process, and runs no more of its code.
            unsafe { libc::_exit(self.code().into()) }
        }
        ExitCode::from(self.code())
    }
}

/// A command line that asks for what no machine can do, and how.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

/// The error of a command line that cannot be followed, whatever the machine and its files.
pub fn usage(message: impl fmt::Display) -> anyhow::Error {
    UsageError(message.to_string()).into()
}
