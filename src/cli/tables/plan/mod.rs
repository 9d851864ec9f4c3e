//! `kalah plan`.
//!
//! | module | contents |
//! |---|---|
//! | `build` | the needs of each missing layer |
//! | `search` | the best tables for a search |

mod build;
mod search;

use clap::{Args, Subcommand};

use crate::cli::process::outcome::Outcome;
use crate::cli::tables::plan::build::PlanBuild;
use crate::cli::tables::plan::search::PlanSearch;

/// Plan a build, or choose the tables for a search
#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Build(PlanBuild),
    Search(PlanSearch),
}

impl Plan {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.action {
            Action::Build(plan) => plan.run(),
            Action::Search(plan) => plan.run(),
        }
    }
}
