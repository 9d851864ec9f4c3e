use std::error::Error;
use std::io;

use kalah_core::cancel::Stopped;
use kalah_core::cause;
use kalah_core::table::{ProbeError, TableError};

use super::companion::CompanionError;
use super::overwrite::OverwriteError;
use crate::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};

/// An error of the library that it carries has the diagnosis.
impl Diagnostic for io::Error {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        fn of<E: Diagnostic + 'static>(error: &(dyn Error + 'static), commands: &dyn Commands) -> Option<Diagnosis> {
            error.downcast_ref::<E>().map(|error| error.diagnosis(commands))
        }
        let known = |error| {
            of::<TableError>(error, commands)
                .or_else(|| of::<ProbeError>(error, commands))
                .or_else(|| of::<OverwriteError>(error, commands))
                .or_else(|| of::<CompanionError>(error, commands))
                .or_else(|| of::<Stopped>(error, commands))
        };
        cause::chain(self).find_map(known).unwrap_or(Outcome::Failed.into())
    }

    fn is_closed_pipe(&self) -> bool {
        self.kind() == io::ErrorKind::BrokenPipe
    }
}
