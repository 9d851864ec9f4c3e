use std::path::PathBuf;

use kalah_tables::file::other_version;
use kalah_tables::system::AvailableMemory;

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

/// What is wrong with the bytes of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateDamage {
    /// The first bytes are not those of the format.
    #[error("it is not a certificate")]
    Foreign,
    /// A version that this program cannot read.
    #[error("{}", other_version(*.0, VERSION))]
    Version(u32),
    /// The file ends too early or goes on too long.
    #[error("it has {found} bytes where {expected} belong")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
    /// A part does not match its checksum, or what it must contain.
    #[error("its {0} is damaged")]
    Part(CertificatePart),
    /// The checksums are right, but what is stated is not a statement.
    #[error("what it states is not valid: {0}")]
    Statement(#[from] StatementError),
}

/// Why a certificate cannot be read or written.
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
        /// What is wrong.
        #[source]
        damage: CertificateDamage,
    },
    /// There is not enough memory for the claims.
    #[error("{path} has {claims} claims, which need {} MiB of memory; {}", needed >> 20, available.clause(|bytes| format!("{} MiB", bytes >> 20)))]
    Memory {
        /// The file.
        path: PathBuf,
        /// How many claims it has.
        claims: u64,
        /// The bytes that they need.
        needed: u64,
        /// What is available.
        available: AvailableMemory,
    },
    /// What should be written is not a certificate.
    #[error("{path} cannot be written: {reason}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl CertificateError {
    /// Whether the file has a newer version than this program reads.
    pub fn is_newer(&self) -> bool {
        matches!(self, CertificateError::Damaged { damage: CertificateDamage::Version(found), .. } if *found > VERSION)
    }

    /// Whether the file is damaged, rather than not there.
    pub fn is_damage(&self) -> bool {
        matches!(self, CertificateError::Damaged { .. })
    }
}
