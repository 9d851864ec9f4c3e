//! `kalah plan`.
//!
//! | module | what it holds |
//! |---|---|
//! | `build` | what a build still needs, pair by pair |
//! | `layers` | the memory of each layer, what is read and written |
//! | `search` | which tables to have for a search |

mod build;
mod layers;
mod search;

use clap::{Args, Subcommand};

use crate::cli::flags::args;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::plan::build::PlanBuild;
use crate::cli::tables::plan::layers::PlanLayers;
use crate::cli::tables::plan::search::PlanSearch;

/// List what a build needs, or which tables suit a search
#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    action: Action,
}

/// The layers that a plan is about.
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
