//! The message of an error that ends a command, and its exit code.

use std::error::Error;
use std::io;

use kalah::analyse::graph::GraphError;
use kalah::analyse::opening::ScanError;
use kalah::book::BookError;
use kalah::build::BuildError;
use kalah::cause;
use kalah::certificate::{CertificateError, CheckError, StrategyError};
use kalah::evaluation::NetworkFileError;
use kalah::file::StateError;
use kalah::printable::printable;
use kalah::prove::ProveError;
use kalah::solve::SolveError;
use kalah::table::{ProbeError, TableError};
use kalah::verify::Fault;

use crate::cli::errors::{advice, statement};
use crate::cli::flags::positions::{LineOfFile, Unusable};
use crate::cli::output;
use crate::cli::process::outcome::{Outcome, UsageError};

/// Returns an error, the causes that it does not mention itself, and advice.
pub fn message(error: &anyhow::Error) -> String {
    let mut causes = cause::chain(error.as_ref()).map(statement::statement);
    let mut message = causes.next().unwrap_or_default();
    for cause in causes {
        if !message.contains(&cause) {
            message += ": ";
            message += &cause;
        }
    }
    match advice::of(error.as_ref()) {
        Some(advice) => format!("{message}; {advice}"),
        None => message,
    }
}

/// Maximum characters of a line of an error.
const MAX_LINE: usize = 4000;

/// Prints the message of an error that ends a command. Returns the outcome of the command.
pub fn report(error: &anyhow::Error) -> Outcome {
    if !is_broken_pipe(error) {
        // File names and quoted input may contain control characters, which must not reach a terminal.
        let lines: Vec<String> = message(error).lines().map(|line| printable(line, MAX_LINE)).collect();
        output::message(format_args!("kalah: {}", lines.join("\n")));
    }
    outcome(error)
}

/// Reports why there is no answer for the position of `place`. Returns the outcome for the command, which goes on
/// with the others.
pub fn refuse(place: Option<&LineOfFile>, error: &anyhow::Error) -> Outcome {
    let (message, outcome) = (message(error), outcome(error));
    match place {
        Some(place) => output::message(format_args!("kalah: {place}: {message}")),
        None => output::message(format_args!("kalah: {message}")),
    }
    // A fault in a file is not a fault of the command line.
    if place.is_some() && outcome == Outcome::Usage { Outcome::Failed } else { outcome }
}

/// Returns the outcome of a command with this error. All exit codes of errors come from here.
pub fn outcome(error: &anyhow::Error) -> Outcome {
    if is_broken_pipe(error) {
        // The reader closed the pipe (`head`, `less`).
        Outcome::Done
    } else if is_damage(error) {
        Outcome::Wrong
    } else if cause::chain(error.as_ref()).any(is_usage) {
        Outcome::Usage
    } else {
        Outcome::Failed
    }
}

/// Returns true if the command line is wrong on any machine.
fn is_usage(cause: &(dyn Error + 'static)) -> bool {
    cause.is::<UsageError>()
        || cause.downcast_ref().is_some_and(Unusable::is_usage)
        || matches!(cause.downcast_ref(), Some(SolveError::Board { .. }))
        || matches!(cause.downcast_ref(), Some(StrategyError::Board(_)))
        || matches!(cause.downcast_ref(), Some(GraphError::Board(_)))
        || matches!(cause.downcast_ref(), Some(ProbeError::BeyondTables { .. } | ProbeError::OtherPits { .. }))
        || matches!(
            cause.downcast_ref(),
            Some(ProveError::Value { .. } | ProveError::Trivial { .. } | ProveError::Statement(_))
        )
}

/// Returns true if the reader of the output closed the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns true if an error is the finding of a check: damage, or a wrong value.
fn is_damage(error: &anyhow::Error) -> bool {
    cause::chain(error.as_ref()).any(|cause| {
        cause.downcast_ref().is_some_and(TableError::is_damage)
            || matches!(cause.downcast_ref(), Some(ScanError::Wrong { .. }))
            || cause.downcast_ref().is_some_and(Fault::is_wrong)
            || matches!(cause.downcast_ref(), Some(BuildError::Contradiction { .. }))
            || cause.downcast_ref().is_some_and(CertificateError::is_damage)
            || cause.downcast_ref().is_some_and(CheckError::is_wrong)
            || matches!(cause.downcast_ref(), Some(StrategyError::Wrong(_)))
            || cause.downcast_ref().is_some_and(StateError::is_damage)
            || cause.downcast_ref().is_some_and(ProveError::is_damage)
            || matches!(cause.downcast_ref(), Some(SolveError::Contradiction { .. }))
            || cause.downcast_ref().is_some_and(BookError::is_damage)
            || cause.downcast_ref().is_some_and(NetworkFileError::is_damage)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kalah::analyse::book::MakeError;
    use kalah::analyse::{BoundsSourceError, ReviewError};
    use kalah::book::BookFileError;
    use kalah::build::ComputeError;
    use kalah::export::ExportError;
    use kalah::play::PlayError;
    use kalah::solve::CheckpointError;
    use kalah::table::Damage;
    use kalah::train::TrainError;

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
            let error = anyhow::Error::from(BuildError::Device(error.into()));
            let message = message(&error);
            assert!(message.contains(expected) && message.contains("kept"), "{message}");
            assert_eq!(outcome(&error), Outcome::Failed);
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
        let mut wrapping: Vec<anyhow::Error> = vec![
            table().into(),
            io::Error::other(table()).into(),
            ProbeError::Table(table()).into(),
            BuildError::Table(table()).into(),
            ComputeError::Table(table()).into(),
            ExportError::Table(table()).into(),
            Fault::Damage(table()).into(),
            Fault::Failed(table()).into(),
            CheckError::Table(table()).into(),
            CheckError::State(StateError::Io { path: "a.state".into(), source: io::Error::other(table()) }).into(),
            GraphError::Table(table()).into(),
            TrainError::Table(table()).into(),
            TrainError::Solve(solve()).into(),
            solve().into(),
            CheckpointError::Solve(solve()).into(),
            ProveError::Table(table()).into(),
            ProveError::Solve(solve()).into(),
            book().into(),
            file().into(),
            MakeError::Solve(solve()).into(),
            MakeError::Book(book()).into(),
            MakeError::File(file()).into(),
            BoundsSourceError::Solve(solve()).into(),
            BoundsSourceError::Book(book()).into(),
            ReviewError::Bounds(BoundsSourceError::Solve(solve())).into(),
            PlayError::Table(table()).into(),
            PlayError::Book(book()).into(),
            play().into(),
        ];
        #[cfg(feature = "serve")]
        wrapping.push(kalah::serve::SiteError::Table(table()).into());
        wrapping.push(anyhow::Error::from(play()).context("a game"));
        for error in wrapping {
            assert!(cause::find::<TableError>(error.as_ref()).is_some(), "{error:?}");
            assert_eq!(outcome(&error), Outcome::Wrong, "{error:?}");
            let message = message(&error);
            assert_eq!(message.matches(&table().to_string()).count(), 1, "{message}");
        }
    }
}
