use kalah_core::isa::Isa;
use rayon::prelude::*;

use super::{RUN_MARGIN, Table, TableError, frame_in_parallel};

/// Counts the scores of a table: element `v` is the number of positions with score `v`.
///
/// # Errors
/// When the table is damaged. A score above the seeds in play is damage, too.
pub fn score_counts(table: &Table) -> Result<Vec<u64>, TableError> {
    let (isa, seeds) = (Isa::detect(), table.key().seeds);
    let mut counts = [0u64; 256];
    for mover in 1..seeds {
        let scores = frame_in_parallel(table, mover)?;
        let (run, others) = (scores.frame().mover_rows(), scores.frame().mirrored().mover_rows());
        let of_frame = (0..others as u32)
            .into_par_iter()
            .with_min_len((1usize << 16).div_ceil(run))
            .try_fold(
                || ([0u64; 256], Vec::new()),
                |(mut counts, mut buffer), other| {
                    buffer.resize(run + 2 * RUN_MARGIN, 0);
                    let unpacked = scores.unpack_run(isa, (0, other), run, &mut buffer, RUN_MARGIN);
                    unpacked.map_err(|group| table.damaged_group(group))?;
                    let run = &buffer[RUN_MARGIN..][..run];
                    run.iter().for_each(|&score| counts[usize::from(score)] += 1);
                    match run.iter().position(|&score| usize::from(score) > seeds) {
                        Some(rank) => Err(table.damaged_score(mover, rank as u32, other)),
                        None => Ok((counts, buffer)),
                    }
                },
            )
            .map(|counts| counts.map(|(counts, _)| counts))
            .try_reduce(|| [0; 256], |a, b| Ok(std::array::from_fn(|score| a[score] + b[score])))?;
        counts.iter_mut().zip(of_frame).for_each(|(count, more)| *count += more);
    }
    Ok(counts[..=seeds].to_vec())
}
