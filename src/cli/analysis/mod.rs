//! `kalah analyse`: whole boards.
//!
//! | module | command |
//! |---|---|
//! | `values` | `values` |
//! | `graph` | `graph` |
//! | `complexity` | `complexity` |
//! | `opening` | `opening` |
//! | `opening_scan` | `opening-scan` |

mod complexity;
mod graph;
mod opening;
mod opening_scan;
mod values;

use clap::{Args, Subcommand};

use crate::cli::analysis::complexity::Complexity;
use crate::cli::analysis::graph::Graph;
use crate::cli::analysis::opening::Opening;
use crate::cli::analysis::opening_scan::OpeningScan;
use crate::cli::analysis::values::Values;
use crate::cli::failure;
use crate::cli::process::outcome::Outcome;

/// Analyse whole boards: values, positions, game trees, openings
#[derive(Args)]
pub(super) struct Analyse {
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
    pub(super) fn run(self) -> failure::Result<Outcome> {
        match self.action {
            Action::Values(values) => values.run(),
            Action::Graph(graph) => graph.run(),
            Action::Complexity(complexity) => complexity.run(),
            Action::Opening(opening) => opening.run(),
            Action::OpeningScan(scan) => scan.run(),
        }
    }
}
