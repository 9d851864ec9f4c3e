use crate::gpu::GpuError;
use crate::index::Frame;
use crate::progress::Pulse;
use crate::system::OutOfMemory;
use crate::table::{PackedFrame, TableError, Tables};

/// Why frames could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The GPU failed.
    #[error(transparent)]
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
