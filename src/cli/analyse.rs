use clap::{Args, Subcommand};

use super::complexity::Complexity;
use super::graph::Graph;
use super::opening::Opening;
use super::opening_scan::OpeningScan;
use super::outcome::Outcome;
use super::values::Values;

/// Analyse whole boards: values, positions, game trees, openings
#[derive(Args)]
pub struct Analyse {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Values(Values),
    Graph(Graph),
    Complexity(Complexity),
    Opening(Opening),
    OpeningScan(OpeningScan),
}

impl Analyse {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.action {
            Action::Values(values) => values.run(),
            Action::Graph(graph) => graph.run(),
            Action::Complexity(complexity) => complexity.run(),
            Action::Opening(opening) => opening.run(),
            Action::OpeningScan(scan) => scan.run(),
        }
    }
}
