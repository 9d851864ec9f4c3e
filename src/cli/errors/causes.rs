//! The error of a part of the program that another error is, or passes on.

use std::error::Error;

use kalah::analyse::book::MakeError;
use kalah::analyse::graph::GraphError;
use kalah::book::{BookError, BookFileError};
use kalah::build::BuildError;
use kalah::certificate::CheckError;
use kalah::evaluation::NetworkFileError;
use kalah::file::LockError;
use kalah::kgp::KgpError;
use kalah::play::PlayError;
use kalah::prove::ProveError;
use kalah::solve::{CheckpointError, SolveError};
use kalah::table::{ProbeError, TableError};
use kalah::verify::Fault;

/// The error of a table that `error` is, or passes on.
pub fn table_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e TableError> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(ProbeError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(BuildError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(Fault::Damage(error) | Fault::Failed(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(SolveError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(ProveError::Table(error) | ProveError::Solve(SolveError::Table(error))) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(CheckError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(GraphError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    #[cfg(feature = "serve")]
    if let Some(kalah::serve::SiteError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref() {
        Some(KgpError::Play(PlayError::Table(error) | PlayError::Solve(SolveError::Table(error)))) => Some(error),
        _ => match error.downcast_ref()? {
            PlayError::Table(error) | PlayError::Solve(SolveError::Table(error)) => Some(error),
            _ => None,
        },
    }
}

/// The error of a book that `error` is, or passes on.
pub fn book_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e BookError> {
    match error.downcast_ref() {
        Some(BookFileError { error, .. }) => Some(error),
        None => match error.downcast_ref() {
            Some(PlayError::Book(error)) => Some(error),
            _ => match error.downcast_ref() {
                Some(KgpError::Play(PlayError::Book(error))) => Some(error),
                _ => match error.downcast_ref() {
                    Some(MakeError::Book(error) | MakeError::File(BookFileError { error, .. })) => Some(error),
                    _ => error.downcast_ref(),
                },
            },
        },
    }
}

/// The error of a solver that `error` is, or passes on.
pub fn solve_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e SolveError> {
    match error.downcast_ref() {
        Some(KgpError::Play(PlayError::Solve(error))) => Some(error),
        _ => match error.downcast_ref() {
            Some(PlayError::Solve(error)) => Some(error),
            _ => error.downcast_ref(),
        },
    }
}

/// The error of a lock that `error` is, or passes on.
pub fn lock_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e LockError> {
    match error.downcast_ref() {
        Some(CheckpointError::Lock(error)) => Some(error),
        _ => match error.downcast_ref() {
            Some(BuildError::Lock(error)) => Some(error),
            _ => error.downcast_ref(),
        },
    }
}

/// The network file that cannot be used, where that is the error.
pub fn network_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e NetworkFileError> {
    match error.downcast_ref() {
        Some(SolveError::Network(error)) => Some(error),
        _ => match error.downcast_ref() {
            Some(PlayError::Solve(SolveError::Network(error))) => Some(error),
            _ => error.downcast_ref(),
        },
    }
}
