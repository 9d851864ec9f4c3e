use super::error::TableError;
use super::frame::{FrameScores, RUN_MARGIN};
use super::reader::Table;
use crate::isa::Isa;

impl Table {
    /// Counts the scores of the layer: element `v` is the number of positions with score `v`, and
    /// the last one is that of all seeds. One thread counts a billion positions in a second or two.
    ///
    /// # Errors
    /// When the table is damaged. A score above the seeds in play is damage, too.
    pub fn score_counts(&self) -> Result<Vec<u64>, TableError> {
        let (isa, seeds) = (Isa::detect(), self.key().seeds);
        let (mut counts, mut buffer) = ([0; 256], Vec::new());
        for mover in 1..seeds {
            let scores = self.frame(mover)?;
            for other in 0..scores.frame().mirrored().mover_rows() as u32 {
                self.count_run(isa, &scores, other, &mut buffer, &mut counts)?;
            }
        }
        Ok(counts[..=seeds].to_vec())
    }

    /// Adds to `counts` the scores of the positions of a frame of this table with one other row.
    /// `buffer` is memory to use again in the next call.
    ///
    /// # Errors
    /// As [`Table::score_counts`].
    pub fn count_run(
        &self,
        isa: Isa,
        scores: &FrameScores<'_>,
        other_rank: u32,
        buffer: &mut Vec<u8>,
        counts: &mut [u64; 256],
    ) -> Result<(), TableError> {
        let (run, seeds) = (scores.frame().mover_rows(), self.key().seeds);
        buffer.resize(run + 2 * RUN_MARGIN, 0);
        let unpacked = scores.unpack_run(isa, (0, other_rank), run, buffer, RUN_MARGIN);
        unpacked.map_err(|group| self.damaged_group(group))?;
        let run = &buffer[RUN_MARGIN..][..run];
        run.iter().for_each(|&score| counts[usize::from(score)] += 1);
        match run.iter().position(|&score| usize::from(score) > seeds) {
            Some(rank) => Err(self.damaged_score(scores.frame().mover, rank as u32, other_rank)),
            None => Ok(()),
        }
    }
}
