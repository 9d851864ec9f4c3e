//! The error of a command: its message and its exit code.

use std::fmt;
use std::iter::successors;

use kalah::diagnostic::{Diagnostic, Outcome};

/// Result of a part of a command.
pub(super) type Result<T> = std::result::Result<T, Failure>;

/// The error of a command.
#[derive(Debug)]
pub(super) struct Failure {
    /// The error, the causes that it does not mention itself, and advice.
    pub message: String,
    /// The outcome of the command. All exit codes of errors come from here.
    pub outcome: Outcome,
}

impl<E: Diagnostic + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::of(&error)
    }
}

impl Failure {
    fn of(error: &dyn Diagnostic) -> Failure {
        let mut message = error.to_string();
        for text in successors(error.source(), |&cause| cause.source()).map(ToString::to_string) {
            if !message.contains(&text) {
                message += &format!(": {text}");
            }
        }
        let diagnosis = error.diagnosis();
        if let Some(help) = diagnosis.help {
            message += &format!("; {help}");
        }
        Failure { message, outcome: if error.is_closed_pipe() { Outcome::Done } else { diagnosis.outcome } }
    }
}

/// Returns the error of a command that failed.
pub(super) fn failed(text: impl fmt::Display) -> Failure {
    Failure { message: text.to_string(), outcome: Outcome::Failed }
}

/// Returns the error of a command line that is wrong, whatever the machine and its files.
pub(super) fn usage(text: impl fmt::Display) -> Failure {
    Failure { message: text.to_string(), outcome: Outcome::Usage }
}

/// Returns with an error that is only a text.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::cli::failure::failed(format_args!($($text)*))) };
}
pub(crate) use bail;

/// Returns with an error that is only a text, unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => { if !$condition { $crate::cli::failure::bail!($($text)*) } };
}
pub(crate) use ensure;

/// Adds what failed to an error.
pub(super) trait Context<T> {
    /// Adds the text that `context` returns, such as "cannot write a.book".
    fn with_context<C: fmt::Display>(self, context: impl FnOnce() -> C) -> Result<T>;

    /// Adds a text.
    fn context(self, context: impl fmt::Display) -> Result<T>
    where
        Self: Sized,
    {
        self.with_context(|| context)
    }
}

impl<T, E: Into<Failure>> Context<T> for std::result::Result<T, E> {
    fn with_context<C: fmt::Display>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| {
            let Failure { message, outcome } = error.into();
            Failure { message: format!("{}: {message}", context()), outcome }
        })
    }
}

/// Work that a signal may have stopped.
pub(super) trait Stoppable<T> {
    /// Replaces the error of stopped work by a text: what is kept, and how to go on.
    fn if_stopped(self, text: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<Failure>> Stoppable<T> for std::result::Result<T, E> {
    fn if_stopped(self, text: impl fmt::Display) -> Result<T> {
        self.map_err(|error| match error.into() {
            Failure { outcome: Outcome::Stopped, .. } => failed(text),
            error => error,
        })
    }
}
