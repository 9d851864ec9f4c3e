//! Errors and progress of writing a site.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah_base::file::LockError;
use kalah_base::progress::Pulse;
use kalah_core::cancel::Stopped;
use kalah_core::table::TableError;

/// Errors of writing a site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// The folder contains other files.
    #[error("{} is not empty, and was not written by this command", .0.display())]
    NotOurs(PathBuf),
    /// A foreign file in the folder is in the way.
    #[error("{} was not written by this command", .0.display())]
    Foreign(PathBuf),
    /// The tables are in the folder.
    #[error("{} is inside the folder to be written, {}", tables.display(), folder.display())]
    Inside {
        /// Directory of the tables, or a table.
        tables: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// Another process writes to the folder.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// The engine's file is something else.
    #[error("{} is not a WebAssembly module", .0.display())]
    NoModule(PathBuf),
    /// A table is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The disk has not enough space for the tables.
    #[error("{}: the tables need {needed} bytes, but only {free} are free on this disk", path.display())]
    Disk {
        /// The folder.
        path: PathBuf,
        /// The bytes of the tables.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The work was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Diagnostic for SiteError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            SiteError::NotOurs(_) => Outcome::Failed.help("choose another folder, or empty this one"),
            SiteError::Disk { .. } => Outcome::Failed.help("free disk space, or choose a smaller --size"),
            SiteError::Foreign(_) => Outcome::Failed.help("move it, or choose another folder"),
            SiteError::Inside { .. } => Outcome::Failed.help("choose other tables with --tables, or another folder"),
            SiteError::NoModule(_) => Outcome::Failed.help("give the engine, kalah_wasm.wasm, with --module"),
            SiteError::File { path, .. } if path.ends_with("kalah_first.wasm") => {
                Outcome::Failed.help("put it beside the engine; the npm package has both")
            }
            SiteError::File { source, .. } => source.diagnosis(commands),
            SiteError::Lock(error) => error.diagnosis(commands),
            SiteError::Table(error) => error.diagnosis(commands),
            SiteError::Stopped(error) => error.diagnosis(commands),
        }
    }
}

/// Adds copied bytes of tables to `pulse`.
///
/// # Errors
/// If it was stopped.
pub(super) fn advance(pulse: &Pulse, done: u64) -> Result<(), Stopped> {
    pulse.positions.store(done, Ordering::Relaxed);
    pulse.check()
}

pub(super) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, SiteError> {
    result.map_err(|source| SiteError::File { path: path.to_owned(), source })
}
