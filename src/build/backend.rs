use std::sync::Arc;

use super::cpu::{CpuComputer, Pulse};
use super::gpu::{Gpu, GpuComputer, GpuError};
use crate::index::Frame;
use crate::isa::Isa;
use crate::table::{PackedFrame, TableError, Tables};

/// What computes tables.
#[derive(Clone)]
pub enum Backend {
    /// The CPU, with this instruction set.
    Cpu(Isa),
    /// A GPU.
    Gpu(Arc<Gpu>),
}

/// Why frames could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum ComputeError {
    /// A table cannot be read, or there is no memory.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The GPU failed.
    #[error("{0}")]
    Gpu(#[from] GpuError),
}

/// Computes and packs the frames of layers.
pub trait Computer: Send {
    /// Computes `frames` of a layer, in the order of [`crate::table::TableKey::frames`], from the layers below in `tables`,
    /// and hands each to `output`. Whether all were computed and taken; not when `pulse` says stop.
    ///
    /// # Errors
    /// When a lower table is missing or damaged, or the device fails.
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn Output,
    ) -> Result<bool, ComputeError>;
}

/// Takes what a [`Computer`] makes.
pub trait Output: Sync {
    /// A pair of frames begins: the one that comes first.
    fn pair(&self, frame: Frame);

    /// Memory for the next packed frame; what is in it does not matter.
    fn buffer(&self) -> Vec<u8>;

    /// A packed frame, in order. Whether more are wanted.
    fn take(&self, packed: PackedFrame) -> bool;
}

impl Backend {
    /// A computer for the layers up to `seeds` of the board and rules of `tables`.
    ///
    /// # Errors
    /// When there is not enough memory, or the device cannot do so large a layer.
    pub fn computer(&self, tables: &Tables, seeds: usize) -> Result<Box<dyn Computer>, ComputeError> {
        Ok(match self {
            Backend::Cpu(isa) => Box::new(CpuComputer::new(*isa, tables, seeds)?),
            Backend::Gpu(gpu) => Box::new(GpuComputer::new(Arc::clone(gpu), tables, seeds)?),
        })
    }

    /// Runs `work` where its computers run best: for the CPU inside the pool, where the many small parallel steps begin
    /// without waking a thread.
    pub(super) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self {
            Backend::Cpu(_) => rayon::scope(|_| work()),
            Backend::Gpu(_) => work(),
        }
    }

    /// Its name in reports: the instruction set, or the GPU's name.
    pub fn name(&self) -> &str {
        match self {
            Backend::Cpu(isa) => isa.name(),
            Backend::Gpu(gpu) => &gpu.report().name,
        }
    }
}
