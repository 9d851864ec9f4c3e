use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah::game::Rules;

/// The program was compiled without the feature `gpu`.
#[derive(Debug, thiserror::Error)]
#[error("this build has no GPU support")]
pub(crate) struct Unsupported;

impl Diagnostic for Unsupported {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        Outcome::Failed.help(format!("use {}, or compile kalah with its feature `gpu`", commands.without_gpu()))
    }
}

/// No flags, since the program was compiled without the feature `gpu`.
#[derive(Args, Clone)]
pub(crate) struct GpuFlags {}

impl GpuFlags {
    /// Returns false: no adapter can be named.
    pub(crate) fn name_an_adapter(&self) -> bool {
        false
    }

    /// Returns an error.
    pub(crate) fn open(&self, _rules: Rules) -> Result<(Backend, String), ComputeError> {
        Err(ComputeError::Device(Unsupported.into()))
    }

    /// Returns the reason why there is no GPU.
    pub(crate) fn why_none(error: &ComputeError) -> Option<String> {
        Some(error.to_string())
    }
}
