use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::StateError;
use kalah_base::system::MemoryShortage;
use kalah_core::cancel::Stopped;
use kalah_core::header::HeaderError;
use kalah_core::table::{TableError, TableKey};
use kalah_solve::bounds::{Bound, Claim};

/// The version of the format that this program reads and writes.
pub const VERSION: u32 = 1;

/// Error of reading or writing a certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file cannot be read or written, or the certificate to write is invalid.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is not a certificate, or its version is one that this program cannot read.
    #[error("{path} cannot be used: {source}")]
    Header {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: HeaderError,
    },
    /// The file is damaged.
    #[error("{path} cannot be used: its {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damaged part, and how it is damaged.
        what: String,
    },
    /// There is not enough memory for the claims.
    #[error("{0}")]
    Memory(#[from] MemoryShortage),
}

impl CertificateError {
    /// Returns a function that makes the error for a file that cannot be read or written.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> CertificateError {
        move |source| CertificateError::Io { path: path.to_owned(), source }
    }

    /// The error for a file whose part has invalid contents, or does not match its checksum.
    pub(super) fn damaged(path: &Path, part: impl Display) -> CertificateError {
        CertificateError::Damaged { path: path.to_owned(), what: format!("{part} is damaged") }
    }
}

impl Diagnostic for CertificateError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            CertificateError::Header { .. } | CertificateError::Damaged { .. } => Outcome::Wrong.into(),
            CertificateError::Io { source, .. } => source.diagnosis(),
            CertificateError::Memory(error) => error.diagnosis(),
        }
    }
}

/// Error found by a check of a certificate, or the reason why the check was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A claim does not hold. Of the claims checked, it is the first in the order of the file.
    #[error("claim {number}: the score of {} is {bound}: {why}", claim.position)]
    Claim {
        /// Its number, counted from 1.
        number: u64,
        /// The claim.
        claim: Box<Claim>,
        /// Its bound that does not hold.
        bound: Bound,
        /// The reason.
        why: String,
    },
    /// The statement does not follow from the claims, or is true of every game.
    #[error("{0}")]
    Statement(String),
    /// A table differs from the one that the proof rests on.
    #[error("{0}: the digest of the table differs from that of the table that the proof rests on")]
    OtherTable(TableKey),
    /// A table is missing or cannot be read.
    #[error("{0}")]
    Table(#[source] TableError),
    /// The file of the certificate cannot be read.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// The state of the check cannot be saved.
    #[error("{0}")]
    State(#[from] StateError),
    /// The check was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl From<TableError> for CheckError {
    fn from(error: TableError) -> CheckError {
        match error {
            TableError::Stopped(stopped) => stopped.into(),
            error => CheckError::Table(error),
        }
    }
}

impl Diagnostic for CheckError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            CheckError::Claim { .. } | CheckError::Statement(_) | CheckError::OtherTable(_) => Outcome::Wrong.into(),
            CheckError::Table(error) => error.diagnosis(),
            CheckError::Certificate(error) => error.diagnosis(),
            CheckError::State(error) => error.diagnosis(),
            CheckError::Stopped(error) => error.diagnosis(),
        }
    }
}

impl CheckError {
    /// Returns true if the certificate or a table is wrong, false if the check could not be made.
    pub fn is_wrong(&self) -> bool {
        self.diagnosis().outcome == Outcome::Wrong
    }
}
