use std::error::Error;

use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::game::Rules;
use serde_json::json;

use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// This program was compiled without the feature `gpu`.
#[derive(Debug, thiserror::Error)]
#[error("this build has no GPU support")]
struct Unsupported;

/// List the adapters that tables could be built on
#[derive(Args)]
pub struct GpuCommand {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl GpuCommand {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.json {
            true => output::json(&json!({ "adapters": [] }))?,
            false => output::line(Unsupported)?,
        }
        Ok(Outcome::Done)
    }
}

/// No flags.
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

/// Nothing more than the error says.
pub fn statement(_error: &(dyn Error + 'static)) -> Option<String> {
    None
}

/// What to do where a GPU was asked for; `cpu` is the flag that does without.
pub fn advice(error: &(dyn Error + 'static), cpu: &str) -> Option<String> {
    (error.to_string() == Unsupported.to_string())
        .then(|| format!("use {cpu}, or build the program with its feature `gpu`"))
}

/// No device can hang.
pub fn has_hung() -> bool {
    false
}

/// No panic of a device is caught.
pub fn catches_panics() -> bool {
    false
}
