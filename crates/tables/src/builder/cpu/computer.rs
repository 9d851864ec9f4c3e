use std::sync::Arc;

use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use parking_lot::Mutex;

use super::batch::{Wanted, batches};
use super::evaluator::Evaluator;
use super::job::Job;
use super::parallel_pairs::ParallelPairs;
use super::workspace::Workspace;
use crate::builder::computer::{ComputeError, Computer, Output};
use crate::builder::unpacked::Unpacked;
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
    unpacked: Option<Arc<Mutex<Unpacked>>>,
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
        Ok(CpuComputer { isa, evaluator, workspace, unpacked: None })
    }

    /// Reads the layers above the given tables from archives.
    #[must_use]
    pub(in crate::builder) fn with_archives(self, unpacked: Arc<Mutex<Unpacked>>) -> CpuComputer {
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
    ) -> Result<(), ComputeError> {
        let CpuComputer { isa, evaluator, workspace, unpacked } = self;
        let job = Job { isa: *isa, evaluator, tables, pulse, output };
        let pairs = Wanted::pairs(frames);
        let mut unpacked = unpacked.as_ref().map(|unpacked| unpacked.lock());
        let batches = match &mut unpacked {
            Some(unpacked) => {
                unpacked.begin(tables.pits(), pairs.iter().map(Wanted::seeds));
                // The unpacked frames of one pair take all memory.
                pairs.chunks(1).collect()
            }
            None => batches(&pairs),
        };
        for batch in batches {
            let seeds: Vec<(usize, usize)> = batch.iter().map(Wanted::seeds).collect();
            let mut spaces = workspace.divide(tables.pits(), &seeds)?;
            match (batch, spaces.pop()) {
                ([pair], Some(space)) => job.run(pair, space, unpacked.as_deref_mut(), |packed| output.take(packed))?,
                (_, last) => ParallelPairs::new(&job, batch).run(spaces.into_iter().chain(last).collect())?,
            }
        }
        Ok(())
    }
}
