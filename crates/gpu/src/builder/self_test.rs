//! A small layer that a device computes before it is trusted with others.
//!
//! Some drivers list hardware that does not exist, and do nothing. Others compile shaders wrongly.

use std::sync::Arc;

use kalah_base::progress::Pulse;
use kalah_core::game::Rules;
use kalah_core::index::Frame;
use kalah_core::table::{TableKey, Tables};
use kalah_tables::builder::{BuildError, ComputeError, Computer, MemoryBuilder};
use kalah_tables::table::PackedFrame;
use parking_lot::Mutex;

use super::computer::GpuComputer;
use crate::device::{Gpu, GpuError};

const PITS: usize = 3;

/// Seeds of the layer: 52,668 positions, in frames of up to 35 groups, some with exceptions. Most
/// stages have several workgroups, and the scores several tiles.
const SEEDS: usize = 20;

/// Seeds of a small layer with all kinds of moves: 406 positions. It is used if the large one
/// exceeds the configured limits.
const FEW_SEEDS: usize = 6;

impl GpuComputer {
    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`, and
    /// allocates all of its memory. If the device has not passed [`self_test`] yet, it is tested
    /// first.
    ///
    /// # Errors
    /// When the device does not have enough memory, its limits do not allow such a large layer, or
    /// it computes wrong scores.
    pub fn new(gpu: Arc<Gpu>, tables: &Tables, seeds: usize) -> Result<GpuComputer, ComputeError> {
        super::computer::require(&gpu, tables.pits(), seeds)?;
        self_test(&gpu, tables.rules())?;
        GpuComputer::untested(gpu, tables, seeds)
    }
}

/// Computes a small layer on a device and compares it with the CPU's. Does nothing if the device
/// has passed already.
///
/// The layer has some 50,000 positions, or some hundreds with limits that are too small for this.
///
/// # Errors
/// [`GpuError::WrongScores`], or another fault of the device; or there is not enough memory.
pub fn self_test(gpu: &Arc<Gpu>, rules: Rules) -> Result<(), ComputeError> {
    gpu.once(rules.name(), || {
        let large = super::computer::require(gpu, PITS, SEEDS).is_ok();
        let last = if large { SEEDS } else { FEW_SEEDS };
        let mut builder = MemoryBuilder::new(TableKey { rules, pits: PITS, seeds: last }).map_err(failed)?;
        let pulse = Pulse::default();
        while builder.build_layer(&pulse).map_err(failed)?.is_some() {}
        let tables = builder.tables();
        let table = tables.require(last)?;
        let frames: Vec<Frame> = table.key().frames().collect();
        let wrong = Mutex::new(None);
        let compare = |packed: PackedFrame| {
            if packed.section() != table.section(&table.header().entries[packed.frame.mover - 1]) {
                wrong.lock().get_or_insert(packed.frame);
            }
            Ok(())
        };
        GpuComputer::untested(Arc::clone(gpu), tables, last)?.compute(tables, &frames, &pulse, &compare)?;
        match wrong.into_inner() {
            None => Ok(()),
            Some(Frame { mover, other, .. }) => {
                let first = format!("the frame {mover} | {other} of {PITS} pits, {rules}");
                Err(GpuError::WrongScores { adapter: gpu.report().name.clone(), first }.into())
            }
        }
    })
}

/// Converts an error of the CPU's tables.
fn failed(error: BuildError) -> ComputeError {
    match error {
        BuildError::OutOfMemory(error) => error.into(),
        BuildError::Table(error) => error.into(),
        error => ComputeError::Device(error.into()),
    }
}
