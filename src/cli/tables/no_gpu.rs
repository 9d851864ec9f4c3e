use clap::Args;
use serde_json::json;

use crate::cli::flags::compute::Unsupported;
use crate::cli::{Outcome, examples, failure, output};

/// List the GPUs of this machine, and test them
#[derive(Args)]
#[command(after_help = examples(&[
    ("List all adapters", "kalah gpu"),
    ("Print them for another program", "kalah gpu --json"),
]))]
pub(crate) struct GpuCommand {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl GpuCommand {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        match self.json {
            true => output::json(&json!({ "adapters": [] }))?,
            false => output::line(Unsupported)?,
        }
        Ok(Outcome::Done)
    }
}
