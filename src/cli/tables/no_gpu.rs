use clap::Args;
use serde_json::json;

use crate::cli::errors::gpu::Unsupported;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// List the adapters that tables could be built on
#[derive(Args)]
#[command(after_help = examples(&[
    ("What tables could be built on", "kalah gpu"),
]))]
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
