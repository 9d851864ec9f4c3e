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

use clap::Subcommand;

use crate::cli::{Outcome, failure};

/// Analyse whole boards: values, positions, game trees, openings
#[derive(Subcommand)]
pub(super) enum Analyse {
    Values(values::Values),
    Graph(graph::Graph),
    Complexity(complexity::Complexity),
    OpeningScan(opening_scan::OpeningScan),
}

impl Analyse {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        match self {
            Analyse::Values(values) => values.run(),
            Analyse::Graph(graph) => graph.run(),
            Analyse::Complexity(complexity) => complexity.run(),
            Analyse::OpeningScan(scan) => scan.run(),
        }
    }
}
