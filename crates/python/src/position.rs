//! The classes `Position` and `Line`.

use kalah::game::{
    Line as GameLine, MAX_PITS, ParseError, Pit, Position as GamePosition, PositionError as PositionFault, Row,
};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

use crate::errors::python::{IllegalMoveError, PositionError};
use crate::errors::within;
use crate::rules::Rules;

/// A position: both rows, both stores. The mover is always South.
///
/// `Position(text)` reads one of three forms:
///
/// - '<m,S,N,s1..sm,n1..nm>', a Kalah Game Protocol literal: pits a side, the mover's store, the other store,
///   the mover's row, the other row;
/// - 's1,..,sm/n1,..,nm', without stores;
/// - a start position such as '6x4'.
///
/// Rows are in their owner's sowing order: the last pit is next to the owner's store. Functions that take a
/// position accept such a text too. Raises PositionError for any other text.
///
/// Positions are immutable. They can be compared, hashed and pickled.
#[pyclass(module = "kalah", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Position(pub(crate) GamePosition);

/// The pit with this number.
fn pit(number: i64) -> PyResult<Pit> {
    usize::try_from(number)
        .ok()
        .and_then(Pit::from_number)
        .ok_or_else(|| IllegalMoveError::new_err(format!("move {number} is not legal: there is no such pit")))
}

fn raise(error: ParseError) -> PyErr {
    PositionError::new_err(error.to_string())
}

/// Reads the seeds of a row. One that is too long is not read to its end.
fn row(seeds: &Bound<'_, PyAny>) -> PyResult<Row> {
    let number = |seeds: PyResult<Bound<'_, PyAny>>| {
        let seeds: i64 = seeds?.extract()?;
        u32::try_from(seeds).map_err(|_| PositionError::new_err(format!("{seeds} is not a number of seeds")))
    };
    let seeds = seeds.try_iter()?.take(MAX_PITS + 1).map(number).collect::<PyResult<Vec<u32>>>()?;
    Row::new(&seeds).ok_or_else(|| raise(PositionFault::Pits(seeds.len()).into()))
}

#[pymethods]
impl Position {
    #[new]
    fn new(text: &str) -> PyResult<Position> {
        text.parse().map(Position).map_err(raise)
    }

    /// Returns a position with these seeds in the pits of both rows, 1 to 16 a side, each in its owner's sowing
    /// order.
    ///
    /// Raises PositionError if the rows have different numbers of pits, none, or too many, or if a number of
    /// seeds is negative or too large.
    #[staticmethod]
    #[pyo3(signature = (mover, other, mover_store = 0, other_store = 0))]
    fn from_rows(
        mover: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
        mover_store: u32,
        other_store: u32,
    ) -> PyResult<Position> {
        let position = GamePosition::new(row(mover)?, row(other)?, mover_store, other_store);
        position.map(Position).map_err(|error| raise(error.into()))
    }

    /// The seeds in the mover's pits, first pit first.
    #[getter]
    fn mover<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.mover().seeds())
    }

    /// The seeds in the other player's pits, in that player's sowing order.
    #[getter]
    fn other<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.other().seeds())
    }

    /// The seeds in the mover's store.
    #[getter]
    fn mover_store(&self) -> u32 {
        self.0.mover_store()
    }

    /// The seeds in the other player's store.
    #[getter]
    fn other_store(&self) -> u32 {
        self.0.other_store()
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.0.pits()
    }

    /// Seeds in play: those in the pits.
    #[getter]
    fn seeds(&self) -> u32 {
        self.0.seeds()
    }

    /// True if a row is empty, which ends the game.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// The final store difference for the mover of a finished game. Seeds in the pits belong to the owner of
    /// their row. None if the game is not over.
    #[getter]
    fn final_value(&self) -> Option<i64> {
        self.0.final_value()
    }

    /// Returns the final store difference for the mover if the mover collects `score` of the seeds in play.
    ///
    /// Raises ArgumentError if there are fewer seeds in play.
    fn value(&self, score: i64) -> PyResult<i64> {
        Ok(self.0.value(within("score", score, 0..=self.0.seeds() as usize)? as u32))
    }

    /// Returns the legal moves, as numbers of pits from 1. Empty if the game is over.
    fn moves(&self) -> Vec<usize> {
        self.0.moves().map(Pit::number).collect()
    }

    /// Plays the move of pit number `move`, from 1. Returns the position after it, seen by the player to move
    /// next, and True if that is the same player. If the game is over, it is False.
    ///
    /// Raises IllegalMoveError if the game is over, or the pit is empty or not on the board.
    #[pyo3(
        signature = (r#move, rules = Rules::default()),
        text_signature = "($self, move, rules='empty-capture')"
    )]
    fn play(&self, r#move: i64, rules: Rules) -> PyResult<(Position, bool)> {
        let played =
            self.0.play(rules.0, pit(r#move)?).map_err(|error| IllegalMoveError::new_err(error.to_string()))?;
        Ok((Position(played.position), played.again))
    }

    /// Returns the same board seen from the other side.
    fn turned(&self) -> Position {
        Position(self.0.turned())
    }

    fn _repr_svg_(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("kalah.notebook")?.call_method1("board", (slf,))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Position('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Position>().into_any(), (self.0.to_string(),))
    }
}

/// Arguments may also be texts.
impl<'py> FromPyObject<'_, 'py> for Position {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Position> {
        object.cast::<Position>().map_or_else(|_| Position::new(object.extract()?), |position| Ok(*position.get()))
    }
}

/// A line of play: the turns of alternating players, each with its moves in order.
///
/// `Line(text, pits=6)` reads turns separated by spaces. The moves of a turn are written together ('36 21 4')
/// or, on boards with more than nine pits, with commas ('11,3 2'). Raises PositionError for any other text, and
/// ArgumentError for an invalid number of pits. `replay` checks that a line is legal.
///
/// A line is a sequence of its turns: it has a length, indices and slices, and can be iterated.
#[pyclass(module = "kalah", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Line(pub(crate) GameLine);

fn raise_line(error: ParseError) -> PyErr {
    match error {
        ParseError::Illegal { .. } => IllegalMoveError::new_err(error.to_string()),
        error => PositionError::new_err(error.to_string()),
    }
}

#[pymethods]
impl Line {
    #[new]
    #[pyo3(signature = (text, pits = 6))]
    pub(crate) fn new(text: &str, pits: i64) -> PyResult<Line> {
        GameLine::parse(within("pits", pits, 1..=MAX_PITS)?, text).map(Line).map_err(raise_line)
    }

    /// The turns: a tuple each of moves, which are numbers of pits from 1.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let turn = |turn: &Vec<Pit>| PyTuple::new(py, turn.iter().map(|pit| pit.number()));
        PyTuple::new(py, self.0.turns().iter().map(turn).collect::<PyResult<Vec<_>>>()?)
    }

    /// All moves in order, as numbers of pits from 1.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.turns().iter().flatten().map(|pit| pit.number()).collect::<Vec<_>>())
    }

    /// Plays the line from `start` and returns the position at its end, seen by the player to move.
    ///
    /// Raises IllegalMoveError if a move is illegal, or a turn ends too early or has too many moves.
    #[pyo3(
        signature = (start, rules = Rules::default()),
        text_signature = "($self, start, rules='empty-capture')"
    )]
    fn replay(&self, start: Position, rules: Rules) -> PyResult<Position> {
        self.0.replay(rules.0, &start.0).map(Position).map_err(raise_line)
    }

    fn __len__(&self) -> usize {
        self.0.turns().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.turns(py)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.turns(py)?.as_any().get_item(index)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Line('{}', {})", self.0, self.0.pits())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String, usize)) {
        (py.get_type::<Line>().into_any(), (self.0.to_string(), self.0.pits()))
    }
}
