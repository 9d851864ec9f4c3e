use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::game::Rules;

use crate::cli::errors::gpu::Unsupported;

/// No flags, since the program was compiled without the feature `gpu`.
#[derive(Args, Clone)]
pub struct GpuFlags {}

impl GpuFlags {
    /// Returns false: no adapter can be named.
    pub fn name_an_adapter(&self) -> bool {
        false
    }

    /// Returns an error.
    pub fn open(&self, _rules: Rules) -> Result<(Backend, String), ComputeError> {
        Err(ComputeError::Device(Box::new(Unsupported)))
    }

    /// Returns the reason why there is no GPU.
    pub fn why_none(error: &ComputeError) -> Option<String> {
        Some(error.to_string())
    }
}
