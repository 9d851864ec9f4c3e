use kalah_core::isa::Isa;
use rayon::prelude::*;

use super::{Table, TableError, frame_in_parallel};

/// Counts the scores of a table as [`Table::score_counts`] does, on all threads.
///
/// # Errors
/// As [`Table::score_counts`].
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
                    let counted = table.count_run(isa, &scores, other, &mut buffer, &mut counts);
                    counted.map(|()| (counts, buffer))
                },
            )
            .map(|counts| counts.map(|(counts, _)| counts))
            .try_reduce(|| [0; 256], |a, b| Ok(std::array::from_fn(|score| a[score] + b[score])))?;
        counts.iter_mut().zip(of_frame).for_each(|(count, more)| *count += more);
    }
    Ok(counts[..=seeds].to_vec())
}
