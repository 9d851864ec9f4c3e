use std::sync::Arc;

use kalah_base::progress::Pulse;
use kalah_base::system::OutOfMemory;
use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use kalah_core::table::Tables;

use super::batch::{batches, pairs, sides};
use super::evaluator::Evaluator;
use super::job::Job;
use super::parallel_pairs::ParallelPairs;
use super::workspace::Workspace;
use crate::builder::computer::{ComputeError, Computer, FrameOutput};

/// Computes frames on the CPU, on the threads of the current pool.
///
/// Call it from inside the pool, where the many small parallel steps start without waking a thread.
#[derive(Debug)]
pub struct CpuComputer {
    isa: Isa,
    evaluator: Evaluator,
    workspace: Workspace,
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
        Ok(CpuComputer { isa, evaluator, workspace })
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
        let CpuComputer { isa, evaluator, workspace } = self;
        let job = Job { isa: *isa, evaluator, tables, pulse, output };
        for batch in batches(&pairs(frames)) {
            let seeds: Vec<(usize, usize)> = batch.iter().map(|pair| sides(pair)).collect();
            let mut spaces = workspace.divide(tables.pits(), &seeds)?;
            match (batch, spaces.pop()) {
                ([pair], Some(space)) => job.run(pair, space, |packed| output.take(packed))?,
                (_, last) => ParallelPairs::new(&job, batch).run(spaces.into_iter().chain(last).collect())?,
            }
        }
        Ok(())
    }
}
