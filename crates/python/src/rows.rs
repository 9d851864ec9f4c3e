//! Rows of positions in arrays, and locating them in tables.

use kalah::index::{MAX_TABLE_SEEDS, RowIndex, TableRow};
use kalah::solve::Sower;
use kalah::table::{TableError, Tables};
use pyo3::prelude::*;

use crate::errors::ToPython;
use crate::errors::python::PositionError;

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

impl ToPython for RowError {
    fn to_python(self) -> PyErr {
        match self {
            RowError::TooManySeeds(seeds) => PositionError::new_err(format!(
                "a position has {seeds} seeds in play, and tables end at {MAX_TABLE_SEEDS}"
            )),
            RowError::Table(error) => error.to_python(),
        }
    }
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
pub(crate) fn total(row: Row) -> usize {
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
    /// The result for positions above the tables; `None` if they are an error.
    pub(crate) default: Option<i8>,
}

/// Location of the score of a position.
#[derive(Clone, Copy)]
pub(crate) enum ScoreLocation {
    /// The game is over: its score.
    Over(u8),
    /// Above the tables: the default result.
    Above(i8),
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

impl Reader<'_> {
    /// Locates the score of the position with these rows. Without a default it may be beyond the open tables.
    #[inline]
    pub(crate) fn locate(self, mover: Row, other: Row) -> Result<ScoreLocation, RowError> {
        let (own, opposite) = (total(mover), total(other));
        let (seeds, is_over) = (own + opposite, own == 0 || opposite == 0);
        let most = if is_over { MAX_TABLE_SEEDS } else { self.tables.max_seeds().unwrap_or(0) };
        if let Some(default) = self.default.filter(|_| seeds > most) {
            return Ok(ScoreLocation::Above(default));
        }
        if seeds > MAX_TABLE_SEEDS {
            return Err(RowError::TooManySeeds(seeds));
        }
        if is_over {
            return Ok(ScoreLocation::Over(own as u8));
        }
        Ok(ScoreLocation::Table { seeds, mover: own, ranks: (self.ranker.rank(mover), self.ranker.rank(other)) })
    }
}

impl ScoreLocation {
    /// Prefetches the data that [`ScoreLocation::score`] reads.
    #[inline]
    pub(crate) fn prefetch(self, tables: &Tables) {
        if let ScoreLocation::Table { seeds, mover, ranks } = self
            && let Some(table) = tables.layer(seeds).filter(|table| table.blocks().is_resident())
        {
            table.frame_unchecked(mover).prefetch(ranks.0, ranks.1);
        }
    }

    /// The score: the number of seeds in play that the mover collects; or the default result.
    #[inline]
    pub(crate) fn score(self, tables: &Tables) -> Result<i8, RowError> {
        match self {
            ScoreLocation::Over(score) => Ok(score as i8),
            ScoreLocation::Above(default) => Ok(default),
            ScoreLocation::Table { seeds, mover, ranks } => {
                Ok(tables.require(seeds)?.score(mover, ranks.0, ranks.1)? as i8)
            }
        }
    }
}
