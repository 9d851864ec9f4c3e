//! Wording of GPU errors, and advice.

use std::error::Error;

#[cfg(feature = "gpu")]
use indicatif::HumanBytes;
#[cfg(feature = "gpu")]
use kalah::gpu::{GpuError, Shortage};

/// The program was compiled without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
#[derive(Debug, thiserror::Error)]
#[error("this build has no GPU support")]
pub struct Unsupported;

/// Returns the text of a GPU error with figures for people; `None` for others.
#[cfg(feature = "gpu")]
pub fn statement(error: &(dyn Error + 'static)) -> Option<String> {
    let GpuError::OutOfMemory { what, bytes, used, shortage } = error.downcast_ref()? else { return None };
    let allowed = shortage.budget().map(|budget| format!(", {} are allowed", HumanBytes(budget)));
    let (bytes, used) = (HumanBytes(*bytes), HumanBytes(*used));
    Some(format!("not enough GPU memory for {what} ({bytes}; {used} are in use{})", allowed.unwrap_or_default()))
}

/// Returns advice for a GPU error; `cpu` is the flag that avoids the GPU.
#[cfg(feature = "gpu")]
pub fn advice(error: &(dyn Error + 'static), cpu: &str) -> Option<String> {
    Some(match error.downcast_ref()? {
        GpuError::NoAdapter { wanted: None, .. } => format!("use {cpu}, or choose a software adapter with --adapter"),
        GpuError::OutOfMemory { shortage, .. } => match shortage {
            Shortage::Allowed(_) => format!("allow more with --gpu-memory, build fewer seeds, or use {cpu}"),
            Shortage::BufferSize(_) => format!("the adapter has no buffers of this size: use {cpu}"),
            Shortage::Device(_) => format!("close other programs that use the GPU, or use {cpu}"),
            _ => format!("close other programs, or use {cpu}"),
        },
        GpuError::Hung(_) => format!("restart the GPU's driver or the machine, or use {cpu}"),
        GpuError::WrongScores { .. } => format!("update the GPU's driver, or use {cpu}"),
        _ => return None,
    })
}

/// Returns `None`: no error is that of a GPU.
#[cfg(not(feature = "gpu"))]
pub fn statement(_error: &(dyn Error + 'static)) -> Option<String> {
    None
}

/// Returns advice if a GPU was asked for; `cpu` is the flag that avoids the GPU.
#[cfg(not(feature = "gpu"))]
pub fn advice(error: &(dyn Error + 'static), cpu: &str) -> Option<String> {
    (error.to_string() == Unsupported.to_string())
        .then(|| format!("use {cpu}, or compile kalah with its feature `gpu`"))
}
