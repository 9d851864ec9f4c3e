use rayon::prelude::*;

use super::{FrameScores, Table, TableError};

/// The same as [`Table::frame`], but blocks that were not compared with their checksums before are compared on all
/// threads of the current pool.
///
/// # Errors
/// The first damaged block of the frame.
///
/// # Panics
/// When the layer has no such frame.
pub fn frame_in_parallel(table: &Table, mover: usize) -> Result<FrameScores<'_>, TableError> {
    if !table.is_frame_checked(mover) {
        compare(table, mover, |block| !table.is_block_checked(mover, block))?;
    }
    table.frame(mover)
}

/// Compares every block of a table with its checksum, even those that were compared before, on all threads of the
/// current pool. Returns the number of blocks.
///
/// # Errors
/// The first damaged block.
pub fn check_in_parallel(table: &Table) -> Result<u64, TableError> {
    for frame in table.key().frames() {
        compare(table, frame.mover, |_| true)?;
    }
    Ok(table.header().entries.iter().map(|entry| entry.blocks()).sum())
}

/// Compares the blocks of a frame that `which` selects; returns an error for the first damaged one.
fn compare(table: &Table, mover: usize, which: impl Fn(u64) -> bool + Sync) -> Result<(), TableError> {
    let blocks = (0..table.header().entries[mover - 1].blocks()).into_par_iter().filter(|&block| which(block));
    let damaged = blocks.find_map_first(|block| table.check_block(mover, block).err());
    damaged.map_or(Ok(()), Err)
}
