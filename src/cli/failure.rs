//! The error of a command: its message and its exit code.

use std::fmt;

use kalah::cause;
use kalah::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};

use crate::cli::Suggestions;

/// Result of a part of a command.
pub(super) type Result<T> = std::result::Result<T, Failure>;

/// The error of a command.
#[derive(Debug)]
pub(super) struct Failure {
    /// Descriptions of what failed, outermost first: "cannot write a.book".
    contexts: Vec<String>,
    error: Box<dyn Diagnostic + Send + Sync>,
}

/// An error that is only a text.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Message {
    text: String,
    outcome: Outcome,
}

impl Diagnostic for Message {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        self.outcome.into()
    }
}

impl<E: Diagnostic + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { contexts: Vec::new(), error: Box::new(error) }
    }
}

impl fmt::Display for Failure {
    /// Writes the outermost context, or the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.contexts.first() {
            Some(context) => f.write_str(context),
            None => self.error.fmt(f),
        }
    }
}

/// Returns the error of a command that failed.
pub(super) fn failed(text: impl fmt::Display) -> Failure {
    Message { text: text.to_string(), outcome: Outcome::Failed }.into()
}

/// Returns the error of a command line that is wrong, whatever the machine and its files.
pub(super) fn usage(text: impl fmt::Display) -> Failure {
    Message { text: text.to_string(), outcome: Outcome::Usage }.into()
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
    /// Adds the text that `context` returns.
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
            let mut failure: Failure = error.into();
            failure.contexts.insert(0, context().to_string());
            failure
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
            error if error.outcome() == Outcome::Stopped => failed(text),
            error => error,
        })
    }
}

impl Failure {
    /// Returns the outcome of a command with this error. All exit codes of errors come from here.
    pub(super) fn outcome(&self) -> Outcome {
        match self.error.is_closed_pipe() {
            true => Outcome::Done,
            false => self.error.diagnosis(&Suggestions).outcome,
        }
    }

    /// Returns the error, the causes that it does not mention itself, and advice.
    pub(super) fn message(&self) -> String {
        let mut texts = self.contexts.iter().cloned().chain(cause::chain(&*self.error).map(ToString::to_string));
        let mut message = texts.next().unwrap_or_default();
        for text in texts {
            if !message.contains(&text) {
                message += ": ";
                message += &text;
            }
        }
        advised(message, &*self.error)
    }
}

/// Returns the text of an error, followed by a semicolon and advice, if there is any.
pub(super) fn with_advice(error: &dyn Diagnostic) -> String {
    advised(error.to_string(), error)
}

fn advised(message: String, error: &dyn Diagnostic) -> String {
    match error.diagnosis(&Suggestions).help {
        Some(help) => format!("{message}; {help}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use kalah::analyse::graph::GraphError;
    use kalah::book::{BookError, BookFileError};
    use kalah::build::{BuildError, ComputeError};
    use kalah::certificate::CheckError;
    use kalah::export::ExportError;
    use kalah::file::StateError;
    use kalah::play::PlayError;
    use kalah::prove::ProveError;
    use kalah::solve::SolveError;
    use kalah::table::{Damage, ProbeError, TableError};
    use kalah::train::TrainError;
    use kalah::verify::Fault;

    use super::*;

    /// The message of `kalah build` if the device is lost or hangs. The exit code is 1, since nothing is damaged.
    #[cfg(feature = "gpu")]
    #[test]
    fn a_build_that_a_device_ended_reports_why_and_how_to_go_on() {
        use std::time::Duration;

        use kalah::gpu::GpuError;

        let lost = GpuError::Lost("it was unplugged".to_owned());
        let hung = GpuError::Hung(Duration::from_secs(60));
        for (error, expected) in
            [(lost, "the GPU was lost: it was unplugged"), (hung, "60 seconds: it, or its driver, hangs")]
        {
            let error = Failure::from(BuildError::Device(error.into()));
            let message = error.message();
            assert!(message.contains(expected) && message.contains("kept"), "{message}");
            assert_eq!(error.outcome(), Outcome::Failed);
        }
    }

    /// Errors that wrap others must not change the exit code or hide the advice.
    #[test]
    fn a_damaged_table_is_found_in_every_error_that_it_may_cause() {
        let table = || TableError::damaged("a.kalah".as_ref(), Damage::Digest);
        let solve = || SolveError::Table(table());
        let book = || BookError::Table(table());
        let play = || PlayError::Solve(solve());
        let file = || BookFileError { path: Path::new("a.book").into(), error: book() };
        let mut wrapping: Vec<Failure> = vec![
            table().into(),
            io::Error::other(table()).into(),
            ProbeError::Table(table()).into(),
            BuildError::Table(table()).into(),
            ComputeError::Table(table()).into(),
            ExportError::Table(table()).into(),
            Fault::Table(table()).into(),
            CheckError::Table(table()).into(),
            CheckError::State(StateError::Io { path: "a.state".into(), source: io::Error::other(table()) }).into(),
            GraphError::Table(table()).into(),
            TrainError::Table(table()).into(),
            TrainError::Solve(solve()).into(),
            solve().into(),
            ProveError::Solve(solve()).into(),
            book().into(),
            file().into(),
            SolveError::Book(book()).into(),
            SolveError::BookFile(file()).into(),
            PlayError::Table(table()).into(),
            PlayError::Book(book()).into(),
            play().into(),
        ];
        #[cfg(feature = "serve")]
        wrapping.push(kalah::serve::SiteError::Table(table()).into());
        wrapping.extend(Err::<(), _>(play()).context("a game").err());
        for error in wrapping {
            assert!(cause::find::<TableError>(&*error.error).is_some(), "{error:?}");
            assert_eq!(error.outcome(), Outcome::Wrong, "{error:?}");
            let message = error.message();
            assert_eq!(message.matches(&table().to_string()).count(), 1, "{message}");
        }
    }
}
