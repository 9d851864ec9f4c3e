use std::path::Path;

use super::error::TableError;
use super::format::FrameEntry;
use super::group::{GROUP_BYTES, GROUP_POSITIONS};
use super::key::TableKey;

/// A table that scores can be read from, however: what [`super::Tables`] are made of.
pub trait Layer {
    /// What the table is about.
    fn key(&self) -> TableKey;

    /// The file, or the name that errors give it.
    fn path(&self) -> &Path;

    /// The score of the position with these ranks of rows, `mover` seeds in the mover's row (1 to seeds - 1). What it is read
    /// from is compared with its checksums, at least when first touched.
    ///
    /// # Errors
    /// When that is damaged, or cannot be read.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such ranks.
    fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError>;

    /// The error of a score that cannot be: of the position with these ranks, `mover` seeds in the mover's row.
    ///
    /// # Panics
    /// When the layer has no such frame.
    fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError;
}

/// Where the group of a position begins, in bytes from the start of its frame, and the place of the position in it.
#[inline]
pub(super) fn group_of(entry: &FrameEntry, mover_rank: u32, other_rank: u32) -> (u64, usize) {
    let index = u64::from(other_rank) * entry.rows + u64::from(mover_rank);
    let (number, place) = (index / GROUP_POSITIONS as u64, index % GROUP_POSITIONS as u64);
    (entry.groups_at() + number * GROUP_BYTES as u64, place as usize)
}
