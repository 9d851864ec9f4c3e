use clap::{Args, Subcommand};

use super::outcome::Outcome;
use super::plan_build::PlanBuild;
use super::plan_layers::PlanLayers;
use super::search_plan::PlanSearch;

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
