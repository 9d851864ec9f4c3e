use std::sync::Arc;

use kalah_core::index::Frame;
use kalah_core::isa::Isa;

use super::batch::{batches, pairs, sides};
use super::evaluator::Evaluator;
use super::job::Job;
use super::parallel_pairs::ParallelPairs;
use super::workspace::Workspace;
use crate::builder::archived_frames::ArchivedFrames;
use crate::builder::computer::{ComputeError, Computer, FrameOutput};
use crate::lock::Mutex;
use crate::progress::Pulse;
use crate::system::OutOfMemory;
use crate::table::Tables;

/// Computes frames on the CPU, on the threads of the current pool.
///
/// Call it from inside the pool, where the many small parallel steps start without waking a thread.
#[derive(Debug)]
pub struct CpuComputer {
    isa: Isa,
    evaluator: Evaluator,
    workspace: Workspace,
    /// Archived layers.
    archived: Option<Arc<Mutex<ArchivedFrames>>>,
}

impl CpuComputer {
    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`, and
    /// allocates all of its memory.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(isa: Isa, tables: &Tables, seeds: usize) -> Result<CpuComputer, OutOfMemory> {
        let mut workspace = Workspace::default();
        workspace.reserve(tables.pits(), seeds)?;
        let evaluator = Evaluator::new(isa, tables.rules(), Arc::clone(tables.rows()));
        Ok(CpuComputer { isa, evaluator, workspace, archived: None })
    }

    /// Reads the layers above the given tables from archives.
    #[must_use]
    pub(in crate::builder) fn with_archives(self, archived: Arc<Mutex<ArchivedFrames>>) -> CpuComputer {
        CpuComputer { archived: Some(archived), ..self }
    }
}

impl Computer for CpuComputer {
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        let CpuComputer { isa, evaluator, workspace, archived } = self;
        let job = Job { isa: *isa, evaluator, tables, pulse, output };
        let pairs = pairs(frames);
        let mut archived = archived.as_ref().map(|archived| archived.lock());
        let batches = match &mut archived {
            Some(archived) => {
                archived.begin(tables.pits(), pairs.iter().map(|pair| sides(pair)));
                // The decompressed frames of one pair take all memory.
                pairs.chunks(1).collect()
            }
            None => batches(&pairs),
        };
        for batch in batches {
            let seeds: Vec<(usize, usize)> = batch.iter().map(|pair| sides(pair)).collect();
            let mut spaces = workspace.divide(tables.pits(), &seeds)?;
            match (batch, spaces.pop()) {
                ([pair], Some(space)) => job.run(pair, space, archived.as_deref_mut(), |packed| output.take(packed))?,
                (_, last) => ParallelPairs::new(&job, batch).run(spaces.into_iter().chain(last).collect())?,
            }
        }
        Ok(())
    }
}
