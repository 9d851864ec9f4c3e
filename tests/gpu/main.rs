//! Building tables on a GPU, and its shaders.

#[cfg(feature = "gpu")]
mod access_trace;
#[cfg(feature = "gpu")]
mod adapter;
mod cli_backends;
#[cfg(all(feature = "gpu", target_os = "linux"))]
mod faults;
mod gpu_faults;
mod gpu_process;
mod gpu_tables;
mod overlap;
mod races;
mod shaders;
#[cfg(feature = "gpu")]
mod stage_cases;
mod stages;
