//! Checks that tables are correct.

// | module | contents |
// |---|---|
// | `oracle` | a second, slow implementation of the rules, and the minimax of a position's children |
// | `bounds` | bound tables against exact ones |
// | `files` | the files in a directory; one against its checksums, digests and its entry in a manifest |
// | `consistency` | every score against the oracle, or a sample: some positions of every frame; bounds likewise |
// | `frame_check` | every score of a frame against the oracle, many positions at a time |
// | `template` | moves of one mover's row against all other rows, as the oracle plays them; ranks after them |
// | `rebuild` | computing a layer again and comparing it bit for bit |

mod bounds;
mod consistency;
mod files;
mod frame_check;
mod oracle;
mod rebuild;
mod template;

use std::path::PathBuf;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome, build_missing};
use kalah_core::cancel::Stopped;
use kalah_core::directory::Directory;
use kalah_core::game::{Bounds, Position};
use kalah_core::index::{TableRow, game_row};
use kalah_core::table::{TableError, TableKey, Tables, missing_layers};

use crate::builder::ComputeError;

pub use bounds::check_bounds_against;
pub use consistency::{BoundSet, Sample, check_consistency, check_sample};
pub use files::{check_archive, check_checksums, check_manifest};
pub use oracle::Oracle;
pub use rebuild::check_against;

/// The faults that a check finds, and its failures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A score is wrong: the first in the order of the check.
    #[error("{key}: {position} has score {stored} in the table, but the correct score is {right}")]
    Score {
        /// The table.
        key: TableKey,
        /// The position, without stores.
        position: Box<Position>,
        /// The score in the table.
        stored: u8,
        /// Correct score.
        right: u8,
    },
    /// The bounds of a score in a bound table cannot be right: the first in the order of the check.
    #[error(
        "{path}: the bound table gives {position} a score of {} to {} (byte {offset}), but {} to {} is correct",
        stored.lower, stored.upper, right.lower, right.upper
    )]
    Bounds {
        /// The bound table.
        path: PathBuf,
        /// The layer.
        key: TableKey,
        /// Offset in the file of the byte that holds the code.
        offset: u64,
        /// The position, without stores.
        position: Box<Position>,
        /// Bounds in the bound table.
        stored: Bounds,
        /// Bounds of the score from other sources.
        right: Bounds,
    },
    /// A table is damaged, or cannot be read.
    #[error("{0}")]
    Table(#[source] TableError),
    /// Layers are missing below one that exists.
    #[error("{key} exists, but below it {}", missing_layers(missing))]
    Gap {
        /// The directory.
        directory: Directory,
        /// The table.
        key: TableKey,
        /// Seeds of the missing layers, at least one, ascending.
        missing: Vec<usize>,
    },
    /// A table is not the one that a manifest lists.
    #[error("{key}: the {figure} differs from that in the manifest")]
    Manifest {
        /// The table.
        key: TableKey,
        /// The figure that differs.
        figure: &'static str,
    },
    /// The manifest does not list a table.
    #[error("the manifest has no entry of {0}")]
    NotInManifest(TableKey),
    /// The check could not be made: there is not enough memory, or the device failed.
    #[error("{0}")]
    Compute(#[source] ComputeError),
    /// The check was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl From<ComputeError> for Fault {
    fn from(error: ComputeError) -> Fault {
        match error {
            ComputeError::Table(error) => error.into(),
            ComputeError::Stopped(stopped) => stopped.into(),
            error => Fault::Compute(error),
        }
    }
}

impl From<TableError> for Fault {
    fn from(error: TableError) -> Fault {
        match error {
            TableError::Stopped(stopped) => stopped.into(),
            error => Fault::Table(error),
        }
    }
}

impl Diagnostic for Fault {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            Fault::Score { .. } | Fault::Bounds { .. } | Fault::Manifest { .. } => Outcome::Wrong.into(),
            Fault::Gap { directory, key, missing } => {
                let last = missing.last().map_or(*key, |&seeds| TableKey { seeds, ..*key });
                Outcome::Wrong.help(build_missing(directory, last))
            }
            Fault::NotInManifest(_) => Outcome::Failed.into(),
            Fault::Table(error) => error.diagnosis(),
            Fault::Compute(error) => error.diagnosis(),
            Fault::Stopped(error) => error.diagnosis(),
        }
    }
}

impl Fault {
    /// The fault that the layers `missing`, at least one, are missing in `tables` below the
    /// existing layer with `seeds` seeds.
    pub fn gap(tables: &Tables, seeds: usize, missing: Vec<usize>) -> Fault {
        Fault::Gap { directory: tables.directory().clone(), key: tables.key(seeds), missing }
    }

    fn score(key: TableKey, mover: &TableRow, other: &TableRow, stored: u8, right: u8) -> Fault {
        Fault::Score { key, position: position(key, mover, other), stored, right }
    }
}

/// The position with these rows, without stores.
fn position(key: TableKey, mover: &TableRow, other: &TableRow) -> Box<Position> {
    let row = |row| game_row(key.pits, row).expect("pits of a table");
    Box::new(Position::new(row(mover), row(other), 0, 0).expect("few seeds in rows of equal length"))
}
