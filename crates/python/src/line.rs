//! The class `Line`.

use kalah::game::{Line as GameLine, MAX_PITS, ParseError, Pit};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

use crate::argument::{Integer, Text};
use crate::errors::python::{IllegalMoveError, PositionError};
use crate::position::{Position, PositionArgument};
use crate::rules::RulesArgument;

/// A line of play: the turns of alternating players, each with its moves in order.
///
/// `Line(text, pits=6)` reads turns separated by spaces. The moves of a turn are written together ('36 21 4')
/// or, on boards with more than nine pits, with commas ('11,3 2'). Raises PositionError for any other text, and
/// ArgumentError for an invalid number of pits. `replay` checks that a line is legal.
///
/// A line is a sequence of its turns: it has a length, indices and slices, and can be iterated.
#[pyclass(module = "kalah", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    line: GameLine,
    pits: usize,
}

impl Line {
    /// A line on a board of `pits` pits a side.
    pub fn of(line: GameLine, pits: usize) -> Line {
        Line { line, pits }
    }
}

fn raise(error: ParseError) -> PyErr {
    match error {
        ParseError::Illegal { .. } | ParseError::TurnEnd { .. } => IllegalMoveError::new_err(error.to_string()),
        error => PositionError::new_err(error.to_string()),
    }
}

#[pymethods]
impl Line {
    #[new]
    #[pyo3(signature = (text, pits = Integer::from(6)), text_signature = "(text, pits=6)")]
    fn new(text: Text, pits: Integer) -> PyResult<Line> {
        let pits = pits.within("pits", 1..=MAX_PITS)?;
        GameLine::parse(pits, &text.0).map(|line| Line { line, pits }).map_err(raise)
    }

    /// The turns: a tuple each of moves, which are numbers of pits from 1.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let turn = |turn: &Vec<Pit>| PyTuple::new(py, turn.iter().map(|pit| pit.number()));
        PyTuple::new(py, self.line.turns().iter().map(turn).collect::<PyResult<Vec<_>>>()?)
    }

    /// All moves in order, as numbers of pits from 1.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.numbers())
    }

    /// Plays the line from `start` and returns the position at its end, seen by the player to move.
    ///
    /// Raises IllegalMoveError if a move is illegal, or a turn ends too early or has too many moves.
    #[pyo3(
        signature = (start, rules = RulesArgument::default()),
        text_signature = "($self, start, rules='empty-capture')"
    )]
    fn replay(&self, start: PositionArgument, rules: RulesArgument) -> PyResult<Position> {
        self.line.replay(rules.0, &start.0).map(Position).map_err(raise)
    }

    fn __len__(&self) -> usize {
        self.line.turns().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.turns(py)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.turns(py)?.as_any().get_item(index)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.pits, self.numbers(), self.line.turns().len()).hash(&mut hasher);
        hasher.finish()
    }

    pub fn __str__(&self) -> String {
        self.line.to_string()
    }

    pub fn __repr__(&self) -> String {
        format!("Line('{}', {})", self.line, self.pits)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String, usize)) {
        (py.get_type::<Line>().into_any(), (self.line.to_string(), self.pits))
    }
}

impl Line {
    fn numbers(&self) -> Vec<usize> {
        self.line.turns().iter().flatten().map(|pit| pit.number()).collect()
    }
}
