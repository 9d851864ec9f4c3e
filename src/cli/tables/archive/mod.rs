mod pack;

use clap::{Args, Subcommand};

use crate::cli::process::outcome::Outcome;
use crate::cli::tables::archive::pack::{Pack, Unpack};

/// Compress tables for storage and download, and restore them
#[derive(Args)]
pub struct Archive {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Pack(Pack),
    Unpack(Unpack),
}

impl Archive {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.action {
            Action::Pack(pack) => pack.run(),
            Action::Unpack(unpack) => unpack.run(),
        }
    }
}
