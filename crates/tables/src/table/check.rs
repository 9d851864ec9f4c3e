use kalah_core::isa::Isa;
use kalah_core::table::{Blocks, FrameScores, RUN_MARGIN, Table, TableError};
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
    for mover in blocks.in_file_order() {
        compare(blocks, mover, |_| true)?;
    }
    Ok(blocks.sections().iter().map(|section| section.blocks()).sum())
}

/// Compares the blocks not yet compared of a frame with their checksums, on all threads of the current pool.
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

/// Counts the scores of a layer, on all threads of the current pool: element `v` is the number of
/// positions with score `v`, and the last one is that of all seeds. A thread counts a billion
/// positions in a second or two.
///
/// # Errors
/// When the table is damaged. A score above the seeds in play is damage, too.
pub fn score_counts(table: &Table) -> Result<Vec<u64>, TableError> {
    let seeds = table.key().seeds;
    let mut counts = [0u64; 256];
    for mover in 1..seeds {
        let scores = frame_in_parallel(table, mover)?;
        let (run, others) = (scores.frame().mover_rows(), scores.frame().mirrored().mover_rows());
        let of_frame = (0..others as u32)
            .into_par_iter()
            .with_min_len((1usize << 16).div_ceil(run))
            .try_fold(
                || ([0u64; 256], vec![0; run + 2 * RUN_MARGIN]),
                |(mut counts, mut buffer), other| {
                    let counted = count_run(table, &scores, other, &mut buffer, &mut counts);
                    counted.map(|()| (counts, buffer))
                },
            )
            .map(|counts| counts.map(|(counts, _)| counts))
            .try_reduce(|| [0; 256], |a, b| Ok(std::array::from_fn(|score| a[score] + b[score])))?;
        counts.iter_mut().zip(of_frame).for_each(|(count, more)| *count += more);
    }
    Ok(counts[..=seeds].to_vec())
}

/// Adds to `counts` the scores of the positions of a frame with one other row. `buffer` is memory
/// for a run and its margins.
fn count_run(
    table: &Table,
    scores: &FrameScores<'_>,
    other_rank: u32,
    buffer: &mut [u8],
    counts: &mut [u64; 256],
) -> Result<(), TableError> {
    let (run, seeds) = (scores.frame().mover_rows(), table.key().seeds);
    let unpacked = scores.unpack_run(Isa::detect(), 0, other_rank, run, buffer, RUN_MARGIN);
    unpacked.map_err(|group| table.damaged_group(group))?;
    let run = &buffer[RUN_MARGIN..][..run];
    run.iter().for_each(|&score| counts[usize::from(score)] += 1);
    match run.iter().position(|&score| usize::from(score) > seeds) {
        Some(rank) => Err(table.damaged_score(scores.frame().mover, rank as u32, other_rank)),
        None => Ok(()),
    }
}
