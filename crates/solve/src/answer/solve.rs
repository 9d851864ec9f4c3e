use std::time::Duration;

use kalah_core::game::{Position, Rules, ValueBounds};
use kalah_core::table::Tables;
use serde::Serialize;

use crate::book::{Book, BookError, Recalled};
use crate::solve::{Solution, Solver};

/// The value of a first turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SolveAnswer {
    /// The position.
    pub position: String,
    /// The rule set.
    pub rules: &'static str,
    /// Lower bound that was tested; or that was proved, when the time ended before the value was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<i64>,
    /// Upper bound that was tested; or that was proved, when the time ended before the value was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<i64>,
    /// True if the tested bound holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<bool>,
    /// The final store difference for the mover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// True if the value, or the answer of the test, is from the book.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub book: bool,
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
        self.value = Some(solution.value);
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

    /// Adds bounds of a value that was not proved in time. Bounds that follow from the seeds in play
    /// are left out.
    pub fn add_bounds(&mut self, position: &Position, bounds: ValueBounds) {
        let [worst, best] = [0, position.seeds()].map(|score| position.value(score));
        self.at_least = (bounds.lower > worst).then_some(bounds.lower);
        self.at_most = (bounds.upper < best).then_some(bounds.upper);
    }

    /// Adds the tables that `solver` uses, and what it has counted in `time`.
    pub fn add_effort(&mut self, solver: &Solver, threads: usize, time: Duration) {
        (self.table_seeds, self.bound_seeds) = (solver.table_seeds(), solver.bound_seeds());
        self.threads = threads;
        (self.nodes, self.table_hits) = (solver.nodes(), solver.table_hits());
        self.seconds = time.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::SolverOptions;

    /// Kalah(3,2) is a win by 4: the first player collects 8 of the 12 seeds (Irving et al. 2000).
    #[test]
    fn the_json_of_a_solution_is_that_of_its_answer() {
        let (rules, position): (_, Position) = (Rules::EmptyCapture, "3x2".parse().unwrap());
        let solver = Solver::new(SolverOptions::new(rules, &position).transpositions(1 << 16)).unwrap();
        let solution = solver.solve(&position, 0).unwrap();
        let mut answer = SolveAnswer::new(rules, &position);
        answer.add_solution(&solution);
        let [solution, answer] = [serde_json::to_value(&solution), serde_json::to_value(&answer)].map(Result::unwrap);
        assert_eq!((&solution["score"], &solution["value"]), (&8.into(), &4.into()));
        for (name, value) in solution.as_object().unwrap().iter().filter(|(name, _)| *name != "score") {
            assert_eq!(*value, answer[name], "{name}");
        }
    }
}
