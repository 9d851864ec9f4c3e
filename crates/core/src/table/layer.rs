use std::path::Path;

use super::error::TableError;
use super::format::FrameEntry;
use super::group::{GROUP_BYTES, GROUP_POSITIONS};
use super::key::TableKey;

/// Positions of a table: for each the seeds in the mover's row, and the ranks of the rows.
pub type TablePositions<'a, T> = (&'a T, Vec<(usize, u32, u32)>);

/// A table from which scores can be read, by any means. [`super::Tables`] consist of these.
pub trait Layer {
    /// The table's key.
    fn key(&self) -> TableKey;

    /// The file, or the name used in errors.
    fn path(&self) -> &Path;

    /// Score of the position with these ranks of rows and `mover` seeds in the mover's row (1 to
    /// seeds - 1). The bytes are compared with their checksums, at least on the first read.
    ///
    /// # Errors
    /// When these bytes are damaged or cannot be read.
    ///
    /// # Panics
    /// When the layer has no such frame, or the frame no such ranks.
    fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError>;

    /// Returns true if the table is on another machine, so that [`Layer::request`] saves time.
    fn is_remote(&self) -> bool {
        false
    }

    /// Reads ahead, together, what the scores of these positions need from other machines. With `again`, it is read
    /// once more, past caches.
    ///
    /// # Errors
    /// As [`Layer::score`].
    fn request(_wanted: &[TablePositions<'_, Self>], _again: bool) -> Result<(), TableError>
    where
        Self: Sized,
    {
        Ok(())
    }

    /// The error for an impossible score of the position with these ranks and `mover` seeds in the mover's row.
    ///
    /// # Panics
    /// When the layer has no such frame.
    fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError;
}

/// Offset of the group of a position in its frame, and the position's place in the group.
#[inline]
pub(super) fn group_of(entry: &FrameEntry, mover_rank: u32, other_rank: u32) -> (u64, usize) {
    let index = u64::from(other_rank) * entry.rows + u64::from(mover_rank);
    let (number, place) = (index / GROUP_POSITIONS as u64, index % GROUP_POSITIONS as u64);
    (entry.groups_at() + number * GROUP_BYTES as u64, place as usize)
}
