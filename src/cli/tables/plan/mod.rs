//! `kalah plan`.
//!
//! | module | what it holds |
//! |---|---|
//! | `build` | what a build still needs, pair by pair |
//! | `layers` | the memory of each layer, what is read and written |

mod build;
mod layers;

use clap::{Args, Subcommand};

use crate::cli::flags::search_plan::PlanSearch;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::plan::build::PlanBuild;
use crate::cli::tables::plan::layers::PlanLayers;

/// List what a build needs, or which tables suit a search
#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    action: Action,
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
