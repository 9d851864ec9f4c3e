use std::sync::Arc;

use kalah_core::isa::Isa;
use kalah_core::table::Tables;

use super::computer::{ComputeError, Computer, Device, DeviceError};
use super::cpu::CpuComputer;

/// The hardware that computes tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// The CPU, with this instruction set.
    Cpu(Isa),
    /// A GPU.
    Gpu(Arc<dyn Device>),
}

impl Backend {
    /// Returns a computer for the layers up to `seeds` of the board and rules of `tables`.
    pub(crate) fn computer(&self, tables: &Tables, seeds: usize) -> Result<Box<dyn Computer>, ComputeError> {
        Ok(match self {
            Backend::Cpu(isa) => Box::new(CpuComputer::new(*isa, tables, seeds)?),
            Backend::Gpu(gpu) => Arc::clone(gpu).computer(tables, seeds)?,
        })
    }

    /// Checks that a device can compute the layers up to `seeds`.
    ///
    /// # Errors
    /// When its limits, or the memory that it may use, are too small.
    pub fn require_layer(&self, pits: usize, seeds: usize) -> Result<(), DeviceError> {
        match self {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(gpu) => gpu.require_layer(pits, seeds),
        }
    }

    /// Returns true if a build of the layers up to `seeds` reads lower tables of `bytes` bytes from
    /// their files.
    pub(super) fn reads_files(&self, pits: usize, seeds: usize, bytes: u64) -> bool {
        match self {
            Backend::Cpu(_) => true,
            Backend::Gpu(gpu) => !gpu.holds(pits, seeds, bytes),
        }
    }

    /// Frames that may wait for the writer while one is written and the next one is packed or copied. A device is
    /// faster than most disks. On the CPU, scores need the memory.
    pub(super) fn waiting_frames(&self) -> usize {
        usize::from(matches!(self, Backend::Gpu(_)))
    }

    /// Runs `work` where computers are fastest. On the CPU that is inside the pool, where the many
    /// small parallel steps start without waking a thread.
    pub(super) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self {
            Backend::Cpu(_) => rayon::scope(|_| work()),
            Backend::Gpu(_) => work(),
        }
    }

    /// Name in reports: the instruction set, or the name of the GPU.
    pub fn name(&self) -> &str {
        match self {
            Backend::Cpu(isa) => isa.name(),
            Backend::Gpu(gpu) => gpu.name(),
        }
    }
}
