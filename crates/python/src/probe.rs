//! The class `Probe`.

use kalah::game::Pit;
use kalah::table::Probe as TableProbe;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::line::Line;
use crate::position::Position;

/// What the tables contain about a position.
#[pyclass(module = "kalah", frozen, get_all)]
pub struct Probe {
    /// The position.
    position: Position,
    /// How many of the seeds in play the mover collects with best play.
    score: u32,
    /// The final store difference for the mover with best play.
    value: i64,
    /// The mover's score after each legal move, its own gain included: a dict from numbers of pits, from 1. Empty
    /// once the game is over.
    moves: Py<PyDict>,
    /// The moves that reach the score.
    best: Vec<usize>,
    /// A line of best play to the end of the game.
    line: Py<Line>,
}

#[pymethods]
impl Probe {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Probe { position, score, value, best, line, .. } = self;
        let line = line.bind(py).repr()?;
        Ok(format!("Probe({}, score={score}, value={value:+}, best={best:?}, line={line})", position.0))
    }
}

impl Probe {
    /// What the library found.
    pub fn new(py: Python<'_>, probe: TableProbe) -> PyResult<Probe> {
        let best = probe.best().map(Pit::number).collect();
        Ok(Probe {
            position: Position(probe.position),
            score: probe.score,
            value: probe.value,
            moves: moves_dict(py, &probe.moves)?.unbind(),
            best,
            line: Py::new(py, Line::of(probe.line, probe.position.pits()))?,
        })
    }
}

/// Moves and their scores as a dict.
pub fn moves_dict<'py>(py: Python<'py>, moves: &[(Pit, u32)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for &(pit, score) in moves {
        dict.set_item(pit.number(), score)?;
    }
    Ok(dict)
}
