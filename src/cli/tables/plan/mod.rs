//! `kalah plan`.
//!
//! | module | contents |
//! |---|---|
//! | `build` | the remaining work of a build, pair by pair |
//! | `layers` | memory, reads and writes of each layer |
//! | `search` | the best tables for a search |

mod build;
mod layers;
mod search;

use clap::{Args, Subcommand};

use crate::cli::flags::args;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::plan::build::PlanBuild;
use crate::cli::tables::plan::layers::PlanLayers;
use crate::cli::tables::plan::search::PlanSearch;

/// Plan a build, or choose the tables for a search
#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    action: Action,
}

/// Layers of a plan.
#[derive(Args)]
struct UpTo {
    /// Plan up to this many seeds in play
    #[arg(long, value_name = "N", value_parser = args::seeds)]
    seeds: usize,
}

#[derive(Subcommand)]
enum Action {
    Build(PlanBuild),
    Layers(PlanLayers),
    Search(PlanSearch),
}

impl Plan {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.action {
            Action::Build(plan) => plan.run(),
            Action::Layers(plan) => plan.run(),
            Action::Search(plan) => plan.run(),
        }
    }
}
