//! Frames of a layer above archives: one pair after the other, since all memory is for the unpacked frames of one.

use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use parking_lot::Mutex;

use super::evaluator::Evaluator;
use super::pair::compute_pair_from;
use super::workspace::Workspace;
use crate::builder::computer::{ComputeError, Output};
use crate::builder::unpacked::Unpacked;
use crate::progress::Pulse;
use crate::table::{PackedFrame, Tables};

/// What frames are computed with and from.
pub(super) struct FromArchives<'a> {
    pub isa: Isa,
    pub evaluator: &'a Evaluator,
    pub tables: &'a Tables,
    pub unpacked: &'a Mutex<Unpacked>,
}

impl FromArchives<'_> {
    /// See [`crate::builder::Computer::compute`].
    pub fn compute(
        &self,
        frames: &[Frame],
        workspace: &mut Workspace,
        pulse: &Pulse,
        output: &dyn Output,
    ) -> Result<(), ComputeError> {
        let mut unpacked = self.unpacked.lock();
        // If an earlier run wrote half of a pair, only the second frame is missing.
        let pairs: Vec<&[Frame]> = frames.chunk_by(|frame, next| *next == frame.mirrored()).collect();
        let seeds = |pair: &[Frame]| (pair[0].mover.min(pair[0].other), pair[0].mover.max(pair[0].other));
        unpacked.begin(self.tables.pits(), pairs.iter().map(|pair| seeds(pair)));
        for pair in pairs {
            let (small, large) = seeds(pair);
            output.pair(pair[0]);
            let lower = (self.tables, Some(&mut *unpacked));
            let space = workspace.divide(self.tables.pits(), &[(small, large)])?.pop().expect("memory for one pair");
            let scores = compute_pair_from(self.evaluator, lower, (small, large), space, pulse)?;
            for &frame in pair {
                let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
                output.take(PackedFrame::pack_in(self.isa, frame, scores, output.buffer()))?;
            }
        }
        Ok(())
    }
}
