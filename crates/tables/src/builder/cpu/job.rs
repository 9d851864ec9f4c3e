use kalah_base::progress::Pulse;
use kalah_core::isa::Isa;
use kalah_core::table::Tables;

use super::batch::{Wanted, sides};
use super::evaluator::Evaluator;
use super::pair::compute_pair_in;
use super::workspace::PairSpace;
use crate::builder::computer::{ComputeError, FrameOutput};
use crate::table::PackedFrame;

/// Shared inputs for computing all pairs.
pub(super) struct Job<'a> {
    pub isa: Isa,
    pub evaluator: &'a Evaluator,
    pub tables: &'a Tables,
    pub pulse: &'a Pulse,
    pub output: &'a dyn FrameOutput,
}

impl Job<'_> {
    /// Computes a pair, packs its frames, and passes each to `take`.
    pub fn run(
        &self,
        pair: Wanted,
        space: PairSpace,
        mut take: impl FnMut(PackedFrame) -> Result<(), ComputeError>,
    ) -> Result<(), ComputeError> {
        let (small, large) = sides(pair);
        self.output.pair(pair[0]);
        let scores = compute_pair_in(self.evaluator, self.tables, (small, large), space, self.pulse)?;
        for &frame in pair {
            let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
            take(PackedFrame::pack_in(self.isa, frame, scores, self.output.buffer()))?;
        }
        Ok(())
    }
}
