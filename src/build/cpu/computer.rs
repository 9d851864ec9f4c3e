use std::sync::{Arc, Mutex};

use super::evaluator::Evaluator;
use super::from_archives::FromArchives;
use super::pair::compute_pair;
use super::workspace::Workspace;
use crate::build::computer::{ComputeError, Computer, Output};
use crate::build::unpacked::Unpacked;
use crate::index::Frame;
use crate::isa::Isa;
use crate::progress::Pulse;
use crate::system::OutOfMemory;
use crate::table::{PackedFrame, Tables};

/// Computes frames on the CPU, on the threads of the current pool.
///
/// It is faster when called from inside the pool, where the many small parallel steps start without waking a thread.
#[derive(Debug)]
pub struct CpuComputer {
    isa: Isa,
    evaluator: Evaluator,
    workspace: Workspace,
    /// Layers that are archives.
    unpacked: Option<Arc<Mutex<Unpacked>>>,
}

impl CpuComputer {
    /// A computer for the layers up to `seeds` of the board and rules of `tables`; it allocates the memory for all of
    /// them now.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(isa: Isa, tables: &Tables, seeds: usize) -> Result<CpuComputer, OutOfMemory> {
        let mut workspace = Workspace::default();
        workspace.reserve(tables.pits(), seeds)?;
        let evaluator = Evaluator::new(isa, tables.rules(), Arc::clone(tables.rows()));
        Ok(CpuComputer { isa, evaluator, workspace, unpacked: None })
    }

    /// The layers above those in the tables that it is given are archives.
    #[must_use]
    pub fn with_archives(self, unpacked: Arc<Mutex<Unpacked>>) -> CpuComputer {
        CpuComputer { unpacked: Some(unpacked), ..self }
    }
}

impl Computer for CpuComputer {
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn Output,
    ) -> Result<bool, ComputeError> {
        if let Some(unpacked) = &self.unpacked {
            let from = FromArchives { isa: self.isa, evaluator: &self.evaluator, tables, unpacked };
            return from.compute(frames, &mut self.workspace, pulse, output);
        }
        let mut frames = frames.iter().copied().peekable();
        while let Some(frame) = frames.next() {
            let (small, large) = (frame.mover.min(frame.other), frame.mover.max(frame.other));
            output.pair(frame);
            let scores = compute_pair(&self.evaluator, tables, small, large, &mut self.workspace, pulse)?;
            let Some(scores) = scores else {
                return Ok(false);
            };
            // If an earlier run wrote half of a pair, only the second frame is missing.
            let mirrored = frames.next_if(|next| *next == frame.mirrored());
            for frame in [Some(frame), mirrored].into_iter().flatten() {
                let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
                if !output.take(PackedFrame::pack_in(self.isa, frame, scores, output.buffer())) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
