use std::path::PathBuf;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome, USE_NEWER};
use kalah_base::file::StateError;
use kalah_base::system::AvailableMemory;
use kalah_core::cancel::Stopped;
use kalah_core::header::HeaderError;
use kalah_core::table::{TableError, TableKey};
use kalah_core::text::size;
use kalah_solve::bounds::{Bound, Claim};

use super::statement::{Goal, StatementError};

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
        why: Unproved,
    },
    /// The statement does not follow from the claims.
    #[error("{}: the score of {} is {}: {why}", goal_name(goal), goal.position, goal.bound)]
    Statement {
        /// The part of the statement that does not follow.
        goal: Box<Goal>,
        /// The reason.
        why: Unproved,
    },
    /// The statement is true of every game.
    #[error("the certificate states nothing: every game has a value within its bounds")]
    StatesNothing,
    /// A table differs from the one that the proof rests on.
    #[error("{key}: the digest of the table differs from that of the table that the proof rests on")]
    OtherTable {
        /// The table.
        key: TableKey,
    },
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
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            CheckError::Claim { .. }
            | CheckError::Statement { .. }
            | CheckError::StatesNothing
            | CheckError::OtherTable { .. } => Outcome::Wrong.into(),
            CheckError::Table(error) => error.diagnosis(commands),
            CheckError::Certificate(error) => error.diagnosis(commands),
            CheckError::State(error) => error.diagnosis(commands),
            CheckError::Stopped(error) => error.diagnosis(commands),
        }
    }
}

impl CheckError {
    /// Returns true if the certificate or a table is wrong, false if the check could not be made.
    pub fn is_wrong(&self) -> bool {
        match self {
            CheckError::Claim { .. }
            | CheckError::Statement { .. }
            | CheckError::StatesNothing
            | CheckError::OtherTable { .. }
            | CheckError::Certificate(CertificateError::Damaged { .. }) => true,
            CheckError::Table(error) => error.is_damage(),
            _ => false,
        }
    }
}

/// Reason why a bound is not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unproved {
    /// The tables, or the end of the game, give this score.
    Exact(u32),
    /// It does not follow in one ply, and searches with this effort do not show it.
    Effort(u32),
    /// A search with this effort disproves it.
    Wrong(u32),
}

impl std::fmt::Display for Unproved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unproved::Exact(score) => write!(f, "wrong, the score is {score}"),
            Unproved::Effort(0) => f.write_str("not proved in one ply from other claims"),
            Unproved::Effort(effort) => {
                write!(f, "not proved, neither in one ply from other claims nor by a search of 2^{effort} nodes")
            }
            Unproved::Wrong(effort) => write!(f, "wrong, as a search of at most 2^{effort} nodes shows"),
        }
    }
}

/// Name of the part of a statement.
fn goal_name(goal: &Goal) -> String {
    match goal.opening {
        Some(opening) => format!("opening {} of the statement", opening + 1),
        None => "the statement".to_owned(),
    }
}
