//! Arrays of positions: reading them, and locating their rows in tables.

use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, RowIndex, TableRow};
use kalah::table::{TableError, Tables};
use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{Element, PyArray, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::ToPython;
use crate::errors::python::{ArgumentError, PositionError};
use crate::memory::zeros;

/// Reason why a position of an array has no score.
#[derive(Debug)]
pub enum RowError {
    /// It has more seeds in play than a table can contain.
    TooManySeeds(usize),
    /// A table is missing or damaged.
    Table(TableError),
}

impl From<TableError> for RowError {
    fn from(error: TableError) -> RowError {
        RowError::Table(error)
    }
}

impl ToPython for (usize, RowError) {
    fn to_python(self) -> PyErr {
        match self.1 {
            RowError::TooManySeeds(seeds) => PositionError::new_err(format!(
                "row {}: {seeds} seeds in play, and tables end at {MAX_TABLE_SEEDS}",
                self.0
            )),
            RowError::Table(error) => error.to_python(),
        }
    }
}

/// The elements of an array in C order: those of the array itself if it is in that order, otherwise those of a
/// copy.
pub struct Elements<'py, T: Element, D: Dimension> {
    array: PyReadonlyArray<'py, T, D>,
    copy: Option<Vec<T>>,
}

impl<'py, T: Element + Copy + bytemuck::Zeroable, D: Dimension> Elements<'py, T, D> {
    /// The elements of `array`. `expected` describes the right array, and `has_shape` checks its shape.
    fn new(
        array: &Bound<'py, PyAny>,
        expected: &str,
        has_shape: impl Fn(&[usize]) -> bool,
    ) -> PyResult<Elements<'py, T, D>> {
        let Ok(array) = array.cast::<PyArray<T, D>>() else {
            return Err(PyTypeError::new_err(format!("{expected}, not {}", describe(array))));
        };
        if !has_shape(array.shape()) {
            return Err(PositionError::new_err(format!("{expected}, not {}", describe(array.as_any()))));
        }
        let array = array
            .try_readonly()
            .map_err(|_| ArgumentError::new_err("the array is being written to: give a copy of it"))?;
        if !array.is_aligned() {
            return Err(ArgumentError::new_err("the numbers of the array are not aligned: give a copy of it"));
        }
        // Arrays in column order are contiguous too, but in another order.
        let copy = if array.is_c_contiguous() {
            None
        } else {
            let mut copy = zeros(array.len(), "elements of a copy of an array")?;
            copy.iter_mut().zip(array.as_array()).for_each(|(copied, &element)| *copied = element);
            Some(copy)
        };
        Ok(Elements { array, copy })
    }

    /// All elements.
    pub fn get(&self) -> &[T] {
        match &self.copy {
            Some(copy) => copy,
            None => self.array.as_slice().expect("no copy was needed"),
        }
    }
}

/// Positions in an array, one in each row: the mover's pits, then the other player's, each in its owner's
/// sowing order.
pub type Rows<'py> = Elements<'py, u8, Ix2>;

/// Ranks in an array.
pub type Ranks<'py> = Elements<'py, i64, Ix1>;

/// The positions of `array`, on boards of `pits` pits a side.
pub fn positions<'py>(array: &Bound<'py, PyAny>, pits: usize) -> PyResult<Rows<'py>> {
    let expected = format!("positions are a numpy array of type uint8 and shape (n, {})", 2 * pits);
    Elements::new(array, &expected, |shape| shape[1] == 2 * pits)
}

/// The ranks of `array`.
pub fn ranks<'py>(array: &Bound<'py, PyAny>) -> PyResult<Ranks<'py>> {
    Elements::new(array, "ranks are a numpy array of type int64 and shape (n,)", |_| true)
}

/// Description of an object for messages: type and shape of an array, otherwise the class.
fn describe(object: &Bound<'_, PyAny>) -> String {
    let name = |attribute: &str| object.getattr(attribute).map(|value| value.to_string());
    match (name("dtype"), name("shape")) {
        (Ok(dtype), Ok(shape)) => format!("type {dtype} and shape {shape}"),
        _ => object.get_type().to_string(),
    }
}

/// The rows of a position in an array.
#[inline]
pub fn table_rows(seeds: &[u8]) -> (TableRow, TableRow) {
    let pits = seeds.len() / 2;
    let (mut mover, mut other) = ([0; MAX_TABLE_PITS], [0; MAX_TABLE_PITS]);
    mover[..pits].copy_from_slice(&seeds[..pits]);
    other[..pits].copy_from_slice(&seeds[pits..]);
    (mover, other)
}

/// Location of the score of a position.
#[derive(Clone, Copy)]
pub enum ScoreLocation {
    /// The game is over: its score.
    Over(u8),
    /// In the tables.
    Table {
        /// Seeds in play.
        seeds: usize,
        /// Seeds in the mover's row.
        mover: usize,
        /// Ranks of the rows.
        ranks: (u32, u32),
    },
}

impl ScoreLocation {
    /// Locates the score of the position with these rows. It may be beyond the open tables.
    #[inline]
    pub fn of(index: &RowIndex, mover: &TableRow, other: &TableRow) -> Result<ScoreLocation, RowError> {
        let sum = |row: &TableRow| row.iter().map(|&seeds| usize::from(seeds)).sum::<usize>();
        let (own, opposite) = (sum(mover), sum(other));
        if own + opposite > MAX_TABLE_SEEDS {
            return Err(RowError::TooManySeeds(own + opposite));
        }
        if own == 0 || opposite == 0 {
            return Ok(ScoreLocation::Over(own as u8));
        }
        Ok(ScoreLocation::Table { seeds: own + opposite, mover: own, ranks: (index.rank(mover), index.rank(other)) })
    }

    /// Prefetches the data that [`ScoreLocation::score`] reads.
    #[inline]
    pub fn prefetch(self, tables: &Tables) {
        if let ScoreLocation::Table { seeds, mover, ranks } = self
            && let Some(table) = tables.layer(seeds)
        {
            table.frame_unchecked(mover).prefetch(ranks.0, ranks.1);
        }
    }

    /// The score: the number of seeds in play that the mover collects.
    #[inline]
    pub fn score(self, tables: &Tables) -> Result<u8, RowError> {
        match self {
            ScoreLocation::Over(score) => Ok(score),
            ScoreLocation::Table { seeds, mover, ranks } => {
                Ok(tables.require(seeds)?.score(mover, ranks.0, ranks.1)?)
            }
        }
    }
}
