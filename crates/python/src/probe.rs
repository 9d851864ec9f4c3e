//! The class `Probe`.

use std::hash::{DefaultHasher, Hash, Hasher};

use kalah::game::Pit;
use kalah::table::Probe as TableProbe;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::line::Line;
use crate::notebook;
use crate::pickling::{Parts, parts};
use crate::position::Position;

/// Result of looking a position up in tables. Probes can be compared, hashed and pickled.
#[pyclass(module = "kalah", frozen, eq)]
#[derive(PartialEq)]
pub struct Probe {
    /// The position.
    #[pyo3(get)]
    position: Position,
    /// The score: the number of seeds in play that the mover collects with best play.
    #[pyo3(get)]
    score: u32,
    /// The final store difference for the mover with best play.
    #[pyo3(get)]
    value: i64,
    moves: Vec<(usize, u32)>,
    /// The moves that reach the score.
    #[pyo3(get)]
    best: Vec<usize>,
    /// A line of best play to the end of the game.
    #[pyo3(get)]
    line: Line,
}

/// Parts of a pickled probe.
type ProbeParts = (Position, u32, i64, Vec<(usize, u32)>, Vec<usize>, Line);

#[pymethods]
impl Probe {
    /// The mover's score after each legal move, seeds stored by the move included. A dict with numbers of pits
    /// from 1 as keys; empty if the game is over.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        moves_dict(py, self.moves.iter().copied())
    }

    fn __repr__(&self) -> String {
        let Probe { position, score, value, best, line, .. } = self;
        let line = line.__repr__();
        format!("Probe({}, score={score}, value={value:+}, best={best:?}, line={line})", position.0)
    }

    fn _repr_html_(&self) -> String {
        notebook::probe(&self.position.0, self.value, &self.moves, &self.best, &self.line.__str__())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.position, self.score).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py, ProbeParts>> {
        let (moves, best, line) = (self.moves.clone(), self.best.clone(), self.line.clone());
        parts::<Probe, _>(py, (self.position, self.score, self.value, moves, best, line))
    }

    #[staticmethod]
    fn _of(
        position: Position,
        score: u32,
        value: i64,
        moves: Vec<(usize, u32)>,
        best: Vec<usize>,
        line: Line,
    ) -> Probe {
        Probe { position, score, value, moves, best, line }
    }
}

impl Probe {
    /// Converts a probe of the library.
    pub fn new(probe: TableProbe) -> Probe {
        Probe {
            position: Position(probe.position),
            score: probe.score,
            value: probe.value,
            moves: probe.moves.iter().map(|&(pit, score)| (pit.number(), score)).collect(),
            best: probe.best().map(Pit::number).collect(),
            line: Line::of(probe.line, probe.position.pits()),
        }
    }
}

/// Converts numbers of moves and their scores to a dict.
pub fn moves_dict(py: Python<'_>, moves: impl IntoIterator<Item = (usize, u32)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (number, score) in moves {
        dict.set_item(number, score)?;
    }
    Ok(dict)
}
