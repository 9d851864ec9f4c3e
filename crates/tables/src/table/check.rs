use kalah_core::table::{Blocks, FrameScores, Table, TableError};
use rayon::prelude::*;

/// The same as [`Table::frame`], but compares blocks not yet compared on all threads of the current
/// pool.
///
/// # Errors
/// The first damaged block of the frame.
///
/// # Panics
/// When the layer has no such frame.
pub fn frame_in_parallel(table: &Table, mover: usize) -> Result<FrameScores<'_>, TableError> {
    check_frame_in_parallel(table.blocks(), mover)?;
    table.frame(mover)
}

/// Compares every block of a table or bound table with its checksum, on all threads of the current
/// pool, even if that was done before. Returns the number of blocks.
///
/// # Errors
/// The first damaged block.
pub fn check_in_parallel(blocks: &Blocks) -> Result<u64, TableError> {
    blocks.whole()?;
    for mover in in_file_order(blocks) {
        compare(blocks, mover, |_| true)?;
    }
    Ok(blocks.sections().iter().map(|section| section.blocks()).sum())
}

/// Returns the frames, as the seeds in the mover's row, in the order of the file, which disks read faster.
pub(super) fn in_file_order(blocks: &Blocks) -> Vec<usize> {
    let mut movers: Vec<usize> = (1..=blocks.sections().len()).collect();
    movers.sort_unstable_by_key(|&mover| blocks.sections()[mover - 1].offset);
    movers
}

/// Compares the blocks not yet compared of a frame with their checksums, on all threads of the current pool.
///
/// # Errors
/// The first damaged block.
pub(super) fn check_frame_in_parallel(blocks: &Blocks, mover: usize) -> Result<(), TableError> {
    if blocks.is_frame_checked(mover) {
        return Ok(());
    }
    compare(blocks, mover, |block| !blocks.is_block_checked(mover, block))
}

/// Compares the blocks of a frame that `which` selects. Returns an error for the first damaged one.
fn compare(file: &Blocks, mover: usize, which: impl Fn(u64) -> bool + Sync) -> Result<(), TableError> {
    file.whole()?;
    let blocks = (0..file.sections()[mover - 1].blocks()).into_par_iter().filter(|&block| which(block));
    let damaged = blocks.find_map_first(|block| file.check_block(mover, block).err());
    damaged.map_or(Ok(()), Err)
}
