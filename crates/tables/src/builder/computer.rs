use std::error::Error;

use kalah_base::progress::Pulse;
use kalah_base::system::OutOfMemory;
use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;
use kalah_core::table::{TableError, Tables};

use crate::table::PackedFrame;

/// The cause of a device failure: an error of the crate that drives it.
pub type DeviceError = Box<dyn Error + Send + Sync>;

/// Reasons why frames could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[source] TableError),
    /// There is not enough memory.
    #[error("{0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// The device failed.
    #[error("{0}")]
    Device(#[source] DeviceError),
    /// The work was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl From<TableError> for ComputeError {
    fn from(error: TableError) -> ComputeError {
        match error {
            TableError::Stopped(stopped) => stopped.into(),
            error => ComputeError::Table(error),
        }
    }
}

/// Computes and packs the frames of layers.
pub trait Computer: Send {
    /// Computes `frames` of a layer, in the order of [`kalah_core::table::TableKey::frames`], from the
    /// layers below in `tables`, and passes each to `output`.
    ///
    /// # Errors
    /// When a lower table is missing or damaged, the device fails, `output` takes no more frames,
    /// or `pulse` was stopped.
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError>;
}

/// Receives the frames of a [`Computer`].
pub trait FrameOutput: Sync {
    /// Called when a pair of frames begins, with its first frame.
    fn pair(&self, _frame: Frame) {}

    /// Returns memory for the next packed frame. Its content does not matter.
    fn buffer(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Receives a packed frame, in order.
    ///
    /// # Errors
    /// The reason why no more frames are wanted, or [`Stopped`].
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError>;
}

/// A function takes the frames.
impl<F: Fn(PackedFrame) -> Result<(), ComputeError> + Sync> FrameOutput for F {
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self(packed)
    }
}
