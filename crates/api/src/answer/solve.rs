use std::fmt;
use std::time::Duration;

use kalah_base::printable::{commas, many, signed};
use kalah_core::game::{Pit, Position, Rules};
use kalah_solve::book::{Book, BookError};
use kalah_solve::solve::{Solution, Solver};
use serde::Serialize;

use super::position::{Source, write_play};
use super::value::Value;

/// The value of a first turn, by a search or a certificate.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningAnswer {
    /// The moves, with dashes.
    pub r#move: String,
    /// Its value for the mover.
    #[serde(flatten)]
    pub value: Value,
    /// Nodes of its search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Seconds of its search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
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
    /// Begins an answer with what `book` has of the position: the value and, if the book decides every move, best moves
    /// and line. Its source is the book if the book has the value.
    ///
    /// # Errors
    /// When the book contradicts itself.
    pub fn new(rules: Rules, position: &Position, book: Option<&Book>) -> Result<SolveAnswer, BookError> {
        let rules = rules.name();
        let mut answer = SolveAnswer { position: position.to_string(), rules, threads: 1, ..SolveAnswer::default() };
        let Some(book) = book else { return Ok(answer) };
        let recalled = book.recall(position, None)?;
        if let Some(score) = recalled.score().filter(|_| recalled.from_book) {
            (answer.source, answer.value) = (Source::Book, Value::exact(position.value(score)));
            if recalled.is_decided() {
                let (line, complete) = book.line(position, None)?;
                answer.best = Some(recalled.best().map(Pit::number).collect());
                (answer.line, answer.line_open) = (Some(line.to_string()), !complete);
            }
        }
        Ok(answer)
    }

    /// Adds value, best moves and line.
    pub fn add_solution(&mut self, solution: &Solution) {
        self.value = Value::exact(solution.value);
        self.best = Some(solution.best().map(Pit::number).collect());
        self.line = Some(solution.line.to_string());
    }

    /// Adds the tables that `solver` uses, and what it has counted in `time`.
    pub fn add_effort(&mut self, solver: &Solver, threads: usize, time: Duration) {
        (self.table_seeds, self.bound_seeds) = (solver.table_seeds(), solver.bound_seeds());
        self.threads = threads;
        (self.nodes, self.table_hits) = (solver.nodes(), solver.table_hits());
        self.seconds = time.as_secs_f64();
    }
}

impl fmt::Display for SolveAnswer {
    /// Writes the answer as lines of text, without the openings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.position)?;
        let from = if self.source == Source::Book { ", from the book" } else { "" };
        let tested = self.at_least.map(|value| ("at least", value)).or(self.at_most.map(|value| ("at most", value)));
        if let (Some((how, value)), Some(proved)) = (tested, self.proved) {
            write!(f, "\n  value {how} {}: {}{from}", signed(value), if proved { "yes" } else { "no" })?;
        }
        if let Some(value) = self.value.value() {
            write!(f, "\n  value  {}{from}", signed(value))?;
        }
        let open = if self.line_open { " ... (the book ends here; --no-book finds the rest)" } else { "" };
        write_play(f, self.best.as_deref().unwrap_or_default(), self.line.as_deref(), open)?;
        let (nodes, hits) = (many(self.nodes, "node"), many(self.table_hits, "table hit"));
        let speed = commas((self.nodes as f64 / self.seconds.max(1e-9)) as u64);
        write!(f, "\n  {nodes}, {hits}, {:.2} s, {speed} nodes/s", self.seconds)
    }
}
