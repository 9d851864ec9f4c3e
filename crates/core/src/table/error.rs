use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::key::TableKey;
use crate::cancel::Stopped;
use crate::directory::Directory;
use crate::header::{HeaderError, Kind};
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use crate::source::SourceError;
use crate::text::{count, runs};

/// Faults inside a table file, piece or archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// It is of another kind or version.
    #[error("{0}")]
    Header(HeaderError),
    /// The file is too short or too long.
    #[error("it has {found} bytes where {expected} belong")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
    /// A part does not match its checksum or digest, or has impossible contents.
    #[error("its {part} is damaged (byte {offset})")]
    Part {
        /// The part.
        part: &'static str,
        /// Where the part begins, in bytes from the start of the file.
        offset: u64,
    },
    /// The chunks of an archive are valid, but unpack to another table than the one packed.
    #[error("it unpacks to another table than the one it was made from")]
    Digest,
    /// The file holds a table with another digest than expected.
    #[error("its digest is not the expected one")]
    OtherDigest,
    /// The file became shorter while it was read, or the disk failed.
    #[error("it became shorter while it was in use, or the disk failed")]
    Shrunk,
    /// The file was never finished.
    #[error("it was never finished")]
    Unfinished,
    /// The file holds another table than expected.
    #[error("it holds {found}, not {expected}")]
    Other {
        /// The table in the file.
        found: TableKey,
        /// The table that it should hold.
        expected: TableKey,
    },
}

impl From<HeaderError> for Damage {
    fn from(error: HeaderError) -> Damage {
        match error {
            HeaderError::Damaged => Damage::Part { part: "header", offset: 0 },
            HeaderError::Short(kind) => Damage::Header(HeaderError::Foreign(kind)),
            error => Damage::Header(error),
        }
    }
}

/// Reasons why a table cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is damaged, foreign or unfinished.
    #[error("{path} cannot be used: {damage}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        damage: Damage,
        /// The kind that the file should be of.
        kind: Kind,
    },
    /// A file to be written exists and may be sound.
    #[error("{path} is not replaced: {reason}")]
    Occupied {
        /// The file.
        path: PathBuf,
        /// Its content, in a sentence: "it is not a kalah table".
        reason: String,
    },
    /// The layer or one below it is not in the directory.
    #[error("{} in {directory} for {} with {}", missing_layers(missing), key.rules, count(key.pits, "pit"))]
    Missing {
        /// The directory.
        directory: Directory,
        /// The requested table.
        key: TableKey,
        /// The missing layers up to it, fewest seeds first.
        missing: Vec<usize>,
    },
    /// No table has this number of pits a side.
    #[error("{0} pits a side: tables have 1 to {MAX_TABLE_PITS}")]
    Pits(usize),
    /// No table has this many seeds in play.
    #[error("{0} seeds in play: tables have up to {MAX_TABLE_SEEDS}")]
    Seeds(usize),
    /// The work was stopped before it was done.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl TableError {
    /// Returns an error if tables cannot have `pits` pits a side and `seeds` seeds in play.
    pub fn unless_possible(pits: usize, seeds: usize) -> Result<(), TableError> {
        match (pits, seeds) {
            (1..=MAX_TABLE_PITS, 0..=MAX_TABLE_SEEDS) => Ok(()),
            (1..=MAX_TABLE_PITS, _) => Err(TableError::Seeds(seeds)),
            _ => Err(TableError::Pits(pits)),
        }
    }

    /// Checks that the file of this kind at `path` holds the expected layer.
    pub(super) fn unless_expected(
        kind: Kind,
        path: &Path,
        found: TableKey,
        expected: TableKey,
    ) -> Result<(), TableError> {
        if found == expected { Ok(()) } else { Err(TableError::damaged(kind, path, Damage::Other { found, expected })) }
    }

    /// Error of reading or writing at `path`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { path: path.to_owned(), source }
    }

    /// Error of a failed read of the file at `path`.
    pub(super) fn reading(path: &Path, error: SourceError) -> TableError {
        match error {
            SourceError::Io(error) => TableError::io(path)(error),
            SourceError::Stopped(stopped) => stopped.into(),
        }
    }

    /// Error of a table `key` that is not in `directory`. It names the missing layers below, too.
    pub(super) fn missing(directory: &Directory, key: TableKey) -> TableError {
        let is_missing = |&seeds: &usize| !TableKey { seeds, ..key }.is_in(directory);
        let missing = (2..key.seeds).filter(is_missing).chain([key.seeds]).collect();
        TableError::Missing { directory: directory.clone(), key, missing }
    }

    /// Damage of the file of this kind at `path`.
    pub fn damaged(kind: Kind, path: &Path, damage: Damage) -> TableError {
        TableError::Damaged { path: path.to_owned(), damage, kind }
    }

    /// Returns true if there is not enough memory or address space.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, TableError::Io { source, .. } if source.kind() == ErrorKind::OutOfMemory)
    }

    /// Returns true if the file is of the expected kind and certainly damaged, so that it may be replaced or deleted. A
    /// file of another kind, version or layer may be sound, and so may one on a disk that failed.
    pub fn is_worthless(&self) -> bool {
        let TableError::Damaged { damage, .. } = self else { return false };
        matches!(damage, Damage::Length { .. } | Damage::Part { .. } | Damage::Digest | Damage::Unfinished)
    }

    /// Returns true if the error is in the file's content, not in the file system or the request.
    pub fn is_damage(&self) -> bool {
        matches!(self, TableError::Damaged { .. })
    }
}

/// Lists missing layers, with consecutive ones as a range: `layers 3, 25 to 48 are missing`.
pub fn missing_layers(layers: &[usize]) -> String {
    let runs = runs(layers);
    let (layers, are) = if layers.len() == 1 { ("layer", "is") } else { ("layers", "are") };
    format!("{layers} {runs} {are} missing")
}
