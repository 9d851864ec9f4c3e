//! Positions in arrays, and locating their rows in tables.

use kalah::index::{MAX_TABLE_SEEDS, RowIndex, TableRow};
use kalah::solve::Sower;
use kalah::table::{TableError, Tables};
use pyo3::prelude::*;

use crate::array::{Elements, elements};
use crate::errors::python::PositionError;
use crate::errors::{ToPython, of_row};

/// Reason why a position of an array has no score.
#[derive(Debug)]
pub(crate) enum RowError {
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
            RowError::Table(error) => of_row(self.0, error),
        }
    }
}

/// Positions in an array. Its last axis has the pits of a position: the mover's pits, then the other player's, each
/// in its owner's sowing order.
pub(crate) struct Positions<'py>(Elements<'py, u8>);

impl Positions<'_> {
    /// The pits of all positions, one position after the other.
    pub(crate) fn get(&self) -> &[u8] {
        self.0.get()
    }

    /// The other axes of the array.
    pub(crate) fn axes(&self) -> &[usize] {
        let shape = self.0.shape();
        &shape[..shape.len() - 1]
    }
}

/// The positions of `object`, on boards of `pits` pits a side.
pub(crate) fn positions<'py>(object: &Bound<'py, PyAny>, pits: usize) -> PyResult<Positions<'py>> {
    let expected = || format!("positions are a numpy array of type uint8 and shape (n, {})", 2 * pits);
    let elements = elements(object, &expected, Some(2 * pits))?;
    Ok(Positions(elements))
}

/// The ranks of `object`.
pub(crate) fn ranks<'py>(object: &Bound<'py, PyAny>) -> PyResult<Elements<'py, i64>> {
    let expected = || "ranks are a numpy array of type int64 and shape (n,)".to_owned();
    elements(object, &expected, None)
}

/// A row as a word: the seeds of the first pit in the lowest byte, 0 in the bytes beyond the board.
pub(crate) type Row = u64;

/// The rows of the position with this number among `seeds`, for boards of `pits` pits a side.
#[inline]
pub(crate) fn rows_at(seeds: &[u8], number: usize, pits: usize) -> (Row, Row) {
    let first = 2 * pits * number;
    // Eight bytes from each row on, of which those beyond the row are of no use.
    if let Some(bytes) = seeds.get(first..first + pits + 8) {
        let mask = u64::MAX >> (64 - 8 * pits);
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) & mask;
        return (word(0), word(pits));
    }
    let word = |at: usize| {
        let mut row = TableRow::default();
        row[..pits].copy_from_slice(&seeds[at..at + pits]);
        u64::from_le_bytes(row)
    };
    (word(first), word(first + pits))
}

/// Seeds of a row, of any number in each pit.
#[inline]
fn total(row: Row) -> usize {
    const EVERY_SECOND: u64 = 0x00ff_00ff_00ff_00ff;
    let pairs = (row & EVERY_SECOND) + (row >> 8 & EVERY_SECOND);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// Ranks rows as [`RowIndex::rank`] does, with half the reads.
pub(crate) struct Ranker {
    /// The index of all rows that a table can have. That of open tables may end below.
    pub(crate) index: RowIndex,
    /// The terms of [`RowIndex::rank_terms`].
    terms: Box<[u32]>,
    pits: usize,
    /// Terms for each number of pits passed.
    passed: usize,
    /// Terms for each number of seeds.
    potentials: usize,
}

impl Ranker {
    /// A ranker for boards of `pits` pits a side, 1 to 8.
    pub(crate) fn new(pits: usize) -> Ranker {
        let index = RowIndex::new(pits, MAX_TABLE_SEEDS).expect("pits and seeds of tables");
        let (terms, potentials) = (index.rank_terms().into(), index.potentials());
        Ranker { terms, pits, passed: (MAX_TABLE_SEEDS + 1) * potentials, potentials, index }
    }

    /// The rank of a row.
    ///
    /// # Panics
    /// If the row has more seeds than a table can have.
    #[inline]
    pub(crate) fn rank(&self, row: Row) -> u32 {
        match self.pits {
            6 => self.sum::<6>(row),
            1 => self.sum::<1>(row),
            2 => self.sum::<2>(row),
            3 => self.sum::<3>(row),
            4 => self.sum::<4>(row),
            5 => self.sum::<5>(row),
            7 => self.sum::<7>(row),
            _ => self.sum::<8>(row),
        }
    }

    #[inline]
    fn sum<const PITS: usize>(&self, row: Row) -> u32 {
        let pits = row.to_le_bytes();
        let (mut seeds, mut potential, mut rank) = (usize::from(pits[PITS - 1]), 0, 0u32);
        for pit in (0..PITS - 1).rev() {
            seeds += usize::from(pits[pit]);
            potential += usize::from(pits[pit]) * (PITS - 1 - pit);
            rank = rank.wrapping_add(self.terms[pit * self.passed + seeds * self.potentials + potential]);
        }
        if PITS == 1 { self.terms[seeds * self.potentials] } else { rank }
    }
}

/// Everything that lookups read.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'t> {
    /// Open tables.
    pub(crate) tables: &'t Tables,
    /// Ranks rows.
    pub(crate) ranker: &'t Ranker,
    /// Sows on boards with as many seeds as a table can have.
    pub(crate) sower: &'t Sower<u64>,
}

/// Location of the score of a position.
#[derive(Clone, Copy)]
pub(crate) enum ScoreLocation {
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
    pub(crate) fn of(ranker: &Ranker, mover: Row, other: Row) -> Result<ScoreLocation, RowError> {
        let (own, opposite) = (total(mover), total(other));
        if own + opposite > MAX_TABLE_SEEDS {
            return Err(RowError::TooManySeeds(own + opposite));
        }
        if own == 0 || opposite == 0 {
            return Ok(ScoreLocation::Over(own as u8));
        }
        Ok(ScoreLocation::Table { seeds: own + opposite, mover: own, ranks: (ranker.rank(mover), ranker.rank(other)) })
    }

    /// Prefetches the data that [`ScoreLocation::score`] reads.
    #[inline]
    pub(crate) fn prefetch(self, tables: &Tables) {
        if let ScoreLocation::Table { seeds, mover, ranks } = self
            && let Some(table) = tables.layer(seeds).filter(|table| table.blocks().is_resident())
        {
            table.frame_unchecked(mover).prefetch(ranks.0, ranks.1);
        }
    }

    /// The score: the number of seeds in play that the mover collects.
    #[inline]
    pub(crate) fn score(self, tables: &Tables) -> Result<u8, RowError> {
        match self {
            ScoreLocation::Over(score) => Ok(score),
            ScoreLocation::Table { seeds, mover, ranks } => {
                Ok(tables.require(seeds)?.score(mover, ranks.0, ranks.1)?)
            }
        }
    }
}
