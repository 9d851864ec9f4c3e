use kalah_core::isa::Isa;

use super::batch::Wanted;
use super::evaluator::Evaluator;
use super::pair::compute_pair_in;
use super::workspace::PairSpace;
use crate::builder::computer::{ComputeError, Output};
use crate::progress::Pulse;
use crate::steps;
use crate::table::{PackedFrame, Tables};

/// What all pairs are computed with.
pub(super) struct Job<'a> {
    pub isa: Isa,
    pub evaluator: &'a Evaluator,
    pub tables: &'a Tables,
    pub pulse: &'a Pulse,
    pub output: &'a dyn Output,
}

impl Job<'_> {
    /// Computes a pair, packs its frames, and passes each to `take`, which returns whether more are wanted. Returns whether all were
    /// computed and taken.
    pub fn run(
        &self,
        pair: &Wanted,
        space: PairSpace,
        mut take: impl FnMut(PackedFrame) -> bool,
    ) -> Result<bool, ComputeError> {
        let (small, large) = pair.seeds();
        self.output.pair(pair.frames[0]);
        steps::of_frame(pair.frames[0]);
        let Some(scores) = compute_pair_in(self.evaluator, self.tables, small, large, space, self.pulse)? else {
            return Ok(false);
        };
        for &frame in &pair.frames {
            steps::of_frame(frame);
            let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
            if !take(PackedFrame::pack_in(self.isa, frame, scores, self.output.buffer())) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
