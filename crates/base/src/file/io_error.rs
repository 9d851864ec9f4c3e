use std::error::Error;
use std::io;

use kalah_core::cause;
use kalah_core::table::{ProbeError, TableError};

use super::companion::CompanionError;
use super::overwrite::OverwriteError;
use crate::diagnostic::{Diagnostic, Outcome};

/// The error of a reader that closed its pipe (`head`, `less`) is no failure, unless it has a context.
impl Diagnostic for io::Error {
    fn outcome(&self) -> Outcome {
        if self.kind() == io::ErrorKind::BrokenPipe { Outcome::Done } else { Outcome::Failed }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        fn of<'e, E: Diagnostic + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e dyn Diagnostic> {
            error.downcast_ref::<E>().map(|error| error as &dyn Diagnostic)
        }
        let known = |error| {
            of::<TableError>(error)
                .or_else(|| of::<ProbeError>(error))
                .or_else(|| of::<OverwriteError>(error))
                .or_else(|| of::<CompanionError>(error))
        };
        cause::chain(self).find_map(known)
    }
}
