//! `kalah analyse`: whole boards.
//!
//! | module | command |
//! |---|---|
//! | `values` | `values` |
//! | `graph` | `graph` |
//! | `complexity` | `complexity` |
//! | `opening_scan` | `opening-scan` |

mod complexity;
mod graph;
mod opening_scan;
mod values;

use clap::{Args, Subcommand};

use crate::cli::analysis::complexity::Complexity;
use crate::cli::analysis::graph::Graph;
use crate::cli::analysis::opening_scan::OpeningScan;
use crate::cli::analysis::values::Values;
use crate::cli::{Outcome, failure};

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
    OpeningScan(OpeningScan),
}

impl Analyse {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        match self.action {
            Action::Values(values) => values.run(),
            Action::Graph(graph) => graph.run(),
            Action::Complexity(complexity) => complexity.run(),
            Action::OpeningScan(scan) => scan.run(),
        }
    }
}
