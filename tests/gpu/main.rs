//! Building tables on a GPU, and its shaders.
#![cfg(feature = "gpu")]

mod access_trace;
mod adapter;
mod builds;
#[cfg(feature = "cli")]
mod cli_backends;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod gpu_faults;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod gpu_process;
mod gpu_tables;
mod overlap;
mod races;
mod shaders;
mod stage_cases;
mod stages;
