use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::game::Rules;

use crate::cli::errors::gpu::Unsupported;

/// No flags: this program was compiled without the feature `gpu`.
#[derive(Args, Clone)]
pub struct GpuFlags {}

impl GpuFlags {
    /// No flags were given.
    pub fn flags(&self) -> String {
        String::new()
    }

    /// Nobody can name an adapter.
    pub fn name_an_adapter(&self) -> bool {
        false
    }

    /// Always an error.
    pub fn open(&self, _rules: Rules) -> Result<(Backend, String), ComputeError> {
        Err(ComputeError::Device(Box::new(Unsupported)))
    }

    /// Why no GPU is there to be used.
    pub fn why_none(error: &ComputeError) -> Option<String> {
        Some(error.to_string())
    }
}
