use std::time::Duration;

use kalah_core::game::{Position, Rules};
use kalah_core::table::Tables;
use kalah_solve::book::{Book, BookError, Recalled};
use kalah_solve::solve::{Solution, Solver};
use serde::Serialize;

use super::position::Source;
use super::value::Value;

/// The value of a first turn.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningAnswer {
    /// The moves, with dashes.
    pub r#move: String,
    /// Its value for the mover.
    pub value: i64,
    /// Nodes of its search.
    pub nodes: u64,
    /// Seconds of its search.
    pub seconds: f64,
}

/// The answer of a search for a position.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SolveAnswer {
    /// The position.
    pub position: String,
    /// The rule set.
    pub rules: &'static str,
    /// Lower bound that was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<i64>,
    /// Upper bound that was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<i64>,
    /// True if the tested bound holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<bool>,
    /// The value, or what was proved of it in time.
    #[serde(flatten)]
    pub value: Value,
    /// Where the value, or the answer of the test, comes from: `book` or `solver`.
    pub source: Source,
    /// Numbers of the moves that keep the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Vec<usize>>,
    /// A line of best play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// True if the line stops before the game is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub line_open: bool,
    /// Seeds of the largest layer of exact tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_seeds: Option<usize>,
    /// Seeds of the largest layer of bound tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_seeds: Option<usize>,
    /// Threads of the search.
    pub threads: usize,
    /// Nodes of the search.
    pub nodes: u64,
    /// Scores read from tables.
    pub table_hits: u64,
    /// Seconds of the search.
    pub seconds: f64,
    /// Every first turn with its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openings: Option<Vec<OpeningAnswer>>,
}

impl SolveAnswer {
    /// An empty answer.
    pub fn new(rules: Rules, position: &Position) -> SolveAnswer {
        SolveAnswer { position: position.to_string(), rules: rules.name(), threads: 1, ..SolveAnswer::default() }
    }

    /// Adds value, best moves and line.
    pub fn add_solution(&mut self, solution: &Solution) {
        self.value = Value::exact(solution.value);
        self.best = Some(solution.best().map(|pit| pit.number()).collect());
        self.line = Some(solution.line.to_string());
    }

    /// Adds best moves and line from a book.
    ///
    /// # Errors
    /// When the book contradicts itself.
    pub fn add_recalled(&mut self, book: &Book, position: &Position, recalled: &Recalled) -> Result<(), BookError> {
        let (line, complete) = book.line(position, None::<&Tables>)?;
        self.best = Some(recalled.best().map(|pit| pit.number()).collect());
        (self.line, self.line_open) = (Some(line.to_string()), !complete);
        Ok(())
    }

    /// Adds the tables that `solver` uses, and what it has counted in `time`.
    pub fn add_effort(&mut self, solver: &Solver, threads: usize, time: Duration) {
        (self.table_seeds, self.bound_seeds) = (solver.table_seeds(), solver.bound_seeds());
        self.threads = threads;
        (self.nodes, self.table_hits) = (solver.nodes(), solver.table_hits());
        self.seconds = time.as_secs_f64();
    }
}
