//! A GPU's errors in words, with advice.

use std::error::Error;

#[cfg(feature = "gpu")]
use indicatif::HumanBytes;
#[cfg(feature = "gpu")]
use kalah::gpu::{GpuError, Shortage};

/// This program was compiled without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
#[derive(Debug, thiserror::Error)]
#[error("this build has no GPU support")]
pub struct Unsupported;

/// The statement of a GPU's error, if `error` is one and its figures are to be read by people.
#[cfg(feature = "gpu")]
pub fn statement(error: &(dyn Error + 'static)) -> Option<String> {
    let GpuError::OutOfMemory { what, bytes, used, shortage } = error.downcast_ref()? else { return None };
    let allowed = shortage.budget().map(|budget| format!(", {} are allowed", HumanBytes(budget)));
    let (bytes, used) = (HumanBytes(*bytes), HumanBytes(*used));
    Some(format!("no room on the GPU for {what} ({bytes}; {used} are in use{})", allowed.unwrap_or_default()))
}

/// What to do about a GPU's error, if `error` is one; `cpu` is the flag that does without.
#[cfg(feature = "gpu")]
pub fn advice(error: &(dyn Error + 'static), cpu: &str) -> Option<String> {
    Some(match error.downcast_ref()? {
        GpuError::NoAdapter { wanted: None, .. } => format!("use {cpu}, or name a software adapter with --adapter"),
        GpuError::OutOfMemory { shortage, .. } => match shortage {
            Shortage::Allowed(_) => format!("allow more with --gpu-memory, take fewer seeds, or use {cpu}"),
            Shortage::BufferSize(_) => format!("the adapter has no buffers of this size; use {cpu}"),
            Shortage::Device(_) => format!("end other programs that use the GPU, or use {cpu}"),
            _ => format!("end other programs, or use {cpu}"),
        },
        GpuError::Hung(_) => format!("restart the machine, or the GPU's driver; or use {cpu}"),
        GpuError::WrongScores { .. } => format!("update the GPU's driver, or use {cpu}"),
        _ => return None,
    })
}

/// No error is a GPU's.
#[cfg(not(feature = "gpu"))]
pub fn statement(_error: &(dyn Error + 'static)) -> Option<String> {
    None
}

/// What to do where a GPU was asked for; `cpu` is the flag that does without.
#[cfg(not(feature = "gpu"))]
pub fn advice(error: &(dyn Error + 'static), cpu: &str) -> Option<String> {
    (error.to_string() == Unsupported.to_string())
        .then(|| format!("use {cpu}, or build the program with its feature `gpu`"))
}
