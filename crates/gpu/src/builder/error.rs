use kalah_tables::builder::ComputeError;

use crate::device::GpuError;

impl From<GpuError> for ComputeError {
    fn from(error: GpuError) -> ComputeError {
        ComputeError::Device(error.into())
    }
}

/// Returns true if the device did not have enough memory.
pub(super) fn is_out_of_memory(error: &ComputeError) -> bool {
    matches!(error, ComputeError::Device(error) if matches!(error.downcast_ref(), Some(GpuError::OutOfMemory { .. })))
}
