use std::path::PathBuf;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome, USE_NEWER};
use kalah_base::system::AvailableMemory;
use kalah_core::header::HeaderError;
use kalah_core::text::size;

use super::statement::StatementError;

/// The version of the format that this program reads and writes.
pub const VERSION: u32 = 1;

/// A part of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificatePart {
    /// The header.
    Header,
    /// The statement and the digests of the tables.
    Statement,
    /// The list of blocks.
    Directory,
    /// A block of claims, counted from 0.
    Block(usize),
    /// The digest of the whole.
    Digest,
}

impl std::fmt::Display for CertificatePart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CertificatePart::Header => f.write_str("header"),
            CertificatePart::Statement => f.write_str("statement"),
            CertificatePart::Directory => f.write_str("list of blocks"),
            CertificatePart::Block(block) => write!(f, "block {block} of claims"),
            CertificatePart::Digest => f.write_str("digest"),
        }
    }
}

/// Damage of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateDamage {
    /// It is not a certificate, or its version is one that this program cannot read.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The file is too short or too long.
    #[error("it has {found} bytes, but should have {expected}")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
    /// A part does not match its checksum, or has invalid contents.
    #[error("its {0} is damaged")]
    Part(CertificatePart),
    /// The checksums are right, but the statement is invalid.
    #[error("its statement is invalid: {0}")]
    Statement(#[from] StatementError),
}

/// Error of reading or writing a certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is damaged, foreign or of another version.
    #[error("{path} cannot be used: {damage}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        #[source]
        damage: CertificateDamage,
    },
    /// There is not enough memory for the claims.
    #[error(
        "{path} has {claims} claims, which need {} of memory; {available}",
        size(*needed)
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// Number of claims.
        claims: u64,
        /// Bytes of memory that they need.
        needed: u64,
        /// Available memory.
        available: AvailableMemory,
    },
    /// The certificate to write is invalid.
    #[error("{path} cannot be written: {reason}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl Diagnostic for CertificateError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            CertificateError::Damaged { damage: CertificateDamage::Header(error), .. } if error.is_newer() => {
                Outcome::Wrong.help(USE_NEWER)
            }
            CertificateError::Damaged { .. } => Outcome::Wrong.into(),
            CertificateError::Io { source, .. } => source.diagnosis(commands),
            _ => Outcome::Failed.into(),
        }
    }
}
