//! The class `Tables`.

use std::path::PathBuf;
use std::sync::Arc;

use bytemuck::{Zeroable, cast_slice_mut};
use kalah::cancel::Cancel;
use kalah::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions as count_positions, row_count};
use kalah::table::{TableKey, Tables as OpenTables, check_in_parallel};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{Directory, Integer};
use crate::bulk;
use crate::errors::python::{ArgumentError, PositionError};
use crate::errors::{OrRaise, ToPython, no_directory};
use crate::line::Line;
use crate::memory::{check_limit, zeros};
use crate::position::PositionArgument;
use crate::probe::{Probe, moves_dict};
use crate::rows::{positions, ranks};
use crate::rules::{Rules, RulesArgument};
use crate::waiting::{ThreadsArgument, pool, wait_for};

/// Number of positions that are looked up before Python handles signals.
const STEP: usize = 1 << 20;

/// The tables of one rule set and number of pits in a directory: all layers from 2 seeds up, without a gap.
///
/// Open them with `Tables.open`. The files are mapped into memory, so opening is quick and takes no memory of
/// its own. Every block of a file is compared with its checksum before a score in it is used.
///
/// The files must not change while they are mapped: if one becomes shorter, the signal SIGBUS ends the process.
/// Replacing one by renaming another file over it is safe.
///
/// Tables can be pickled; unpickling opens the directory again. No method holds the interpreter's lock while it
/// reads a file.
///
/// Arrays of positions are of type uint8 and shape (n, 2 x pits): the mover's pits, then the other player's, each in
/// its owner's sowing order. Stores do not matter.
#[pyclass(module = "kalah", frozen)]
pub struct Tables {
    pub tables: Arc<OpenTables>,
    asked_seeds: usize,
    mapped: bool,
}

#[pymethods]
impl Tables {
    /// Opens all tables in `directory` with at most `max_seeds` seeds in play. With `mapped=False` the files
    /// are copied into memory, and may change later.
    ///
    /// Raises MissingTableError if there is no such directory or no table in it, or a layer is missing below
    /// another one. Raises DamagedTableError or TableError if a file is damaged or cannot be read, and
    /// OutOfMemoryError if a copy does not fit the memory. Raises ArgumentError for pits or seeds that no
    /// tables have.
    #[staticmethod]
    #[pyo3(
        signature = (
            directory, rules = RulesArgument::default(), pits = Integer::from(6),
            max_seeds = Integer::from(MAX_TABLE_SEEDS as u64), mapped = true
        ),
        text_signature = "(directory, rules='empty-capture', pits=6, max_seeds=48, mapped=True)"
    )]
    fn open(
        py: Python<'_>,
        directory: Directory,
        rules: RulesArgument,
        pits: Integer,
        max_seeds: Integer,
        mapped: bool,
    ) -> PyResult<Tables> {
        let (directory, pits) = (directory.0, pits.within("pits", 1..=MAX_TABLE_PITS)?);
        let max_seeds = max_seeds.at_least("max_seeds", 2, MAX_TABLE_SEEDS as u32)? as usize;
        if let Some(error) = no_directory(&directory) {
            return Err(error);
        }
        let rules = rules.0;
        let opened = if mapped {
            py.detach(|| OpenTables::open(&directory, rules, pits, max_seeds))
        } else {
            let paths = (2..=max_seeds).map(|seeds| TableKey { rules, pits, seeds }.path(&directory));
            let bytes = paths.map_while(|path| Some(path.metadata().ok()?.len())).sum();
            check_limit(bytes, "a copy of the tables")?;
            py.detach(|| OpenTables::read(&directory, rules, pits, max_seeds))
        };
        let tables = opened.or_raise()?;
        tables.require_all().or_raise()?;
        tables.require(2).or_raise()?;
        Ok(Tables { tables: Arc::new(tables), asked_seeds: max_seeds, mapped })
    }

    /// The directory, as an absolute path.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.tables.directory().to_owned()
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.tables.rules())
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.tables.pits()
    }

    /// Seeds in play of the largest layer.
    #[getter]
    fn max_seeds(&self) -> usize {
        self.tables.max_seeds().unwrap_or(0)
    }

    /// Looks a position up: score, value, all moves, and a line of best play.
    ///
    /// Raises MissingTableError if the position has more seeds in play than the largest table,
    /// DamagedTableError if a table is damaged, and PositionError if it has other pits than the tables.
    fn probe(&self, py: Python<'_>, position: PositionArgument) -> PyResult<Probe> {
        Ok(Probe::new(py.detach(|| self.tables.probe(&position.0)).or_raise()?))
    }

    /// Returns the score: the number of seeds in play that the mover collects with best play. Raises as `probe`
    /// does.
    fn score(&self, py: Python<'_>, position: PositionArgument) -> PyResult<u32> {
        let moves = py.detach(|| self.tables.move_scores(&position.0)).or_raise()?;
        Ok(moves.iter().map(|&(_, score)| score).max().unwrap_or_else(|| position.0.mover().total()))
    }

    /// Returns the final store difference for the mover with best play. Raises as `probe` does.
    fn value(&self, py: Python<'_>, position: PositionArgument) -> PyResult<i64> {
        Ok(position.0.value(self.score(py, PositionArgument(position.0))?))
    }

    /// Returns the mover's score after each legal move, seeds stored by the move included: a dict with numbers
    /// of pits from 1 as keys. Raises as `probe` does.
    fn move_scores<'py>(&self, py: Python<'py>, position: PositionArgument) -> PyResult<Bound<'py, PyDict>> {
        let moves = py.detach(|| self.tables.move_scores(&position.0)).or_raise()?;
        moves_dict(py, moves.iter().map(|&(pit, score)| (pit.number(), score)))
    }

    /// Returns a line of best play to the end of the game. Raises as `probe` does.
    fn line(&self, py: Python<'_>, position: PositionArgument) -> PyResult<Line> {
        let probe = py.detach(|| self.tables.probe(&position.0)).or_raise()?;
        Ok(Line::of(probe.line, position.0.pits()))
    }

    /// Compares all tables with their checksums. Raises DamagedTableError.
    #[pyo3(signature = (*, threads = None))]
    fn check(&self, py: Python<'_>, threads: Option<ThreadsArgument>) -> PyResult<()> {
        let (pool, cancel) = (pool(threads)?, Cancel::new());
        let work = || {
            pool.install(|| {
                let mut layers = self.tables.layers().iter().filter(|_| !cancel.is_cancelled());
                layers.try_for_each(|table| check_in_parallel(table).map(|_| ()))
            })
        };
        wait_for(py, work, &cancel, |_| Ok(()))?.or_raise()
    }

    /// Returns the scores of many positions, as an int8 array of shape (n,).
    ///
    /// Always releases the interpreter's lock. `threads` is the number of cores by default, and at most eight
    /// times that. Raises MissingTableError, DamagedTableError, PositionError (for another shape, or more than
    /// 48 seeds in play), OutOfMemoryError or TypeError (not an array of bytes).
    #[pyo3(signature = (positions, *, threads = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let scores = self.of_rows(py, positions, 1, threads, bulk::scores)?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Returns the mover's scores after all moves of many positions, as an int8 array of shape (n, pits).
    /// Column i is the move of pit i + 1; -1 means that it is illegal. Raises as `scores` does.
    #[pyo3(signature = (positions, *, threads = None))]
    fn scores_of_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let scores = self.of_rows(py, positions, self.pits(), threads, bulk::move_scores)?;
        PyArray1::from_vec(py, scores).reshape([positions.len()?, self.pits()])
    }

    /// Returns the best moves of many positions, as a bool array of shape (n, pits). Column i is the move of
    /// pit i + 1. A row has no True if the game is over. Raises as `scores` does.
    #[pyo3(signature = (positions, *, threads = None))]
    fn best_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let best = self.of_rows(py, positions, self.pits(), threads, bulk::best_moves)?;
        PyArray1::from_vec(py, best).reshape([positions.len()?, self.pits()])
    }

    /// Draws `n` positions of the layer with `seeds` seeds in play, uniformly and independently, with their
    /// exact scores. Returns a uint8 array of shape (n, 2 x pits) and an int8 array of shape (n,). The same
    /// `seed`, 0 to 2^64 - 1, gives the same positions. Samples of different seeds are independent.
    ///
    /// Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError for numbers out of range.
    #[pyo3(
        signature = (n, seeds, seed = Integer::from(0), *, threads = None),
        text_signature = "($self, n, seeds, seed=0, *, threads=None)"
    )]
    #[allow(clippy::type_complexity)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: Integer,
        seeds: Integer,
        seed: Integer,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<(Bound<'py, PyArray2<u8>>, Bound<'py, PyArray1<i8>>)> {
        let (n, seed) = (n.at_least("n", 0, u64::MAX)? as usize, seed.within("seed", 0..=u64::MAX)?);
        let (seeds, width) = (self.layer_of(seeds)?, 2 * self.pits());
        let mut positions = zeros::<u8>(n.saturating_mul(width), "pits of positions")?;
        let (mut scores, mut ranks) = (zeros::<i8>(n, "scores")?, zeros::<i64>(n.min(STEP), "ranks")?);
        let (pool, tables) = (pool(threads)?, &*self.tables);
        let mut random = bulk::random_ranks(tables.rows(), seeds, seed);
        for (positions, scores) in positions.chunks_mut(STEP * width).zip(scores.chunks_mut(STEP)) {
            let ranks = &mut ranks[..scores.len()];
            let drawn = py.detach(|| {
                ranks.iter_mut().zip(&mut random).for_each(|(rank, drawn)| *rank = drawn);
                pool.install(|| {
                    bulk::unrank(tables.rows(), seeds, ranks, positions).expect("the layer has these ranks");
                    bulk::scores(tables, positions, scores)
                })
            });
            drawn.map_err(ToPython::to_python)?;
            py.check_signals()?;
        }
        Ok((PyArray1::from_vec(py, positions).reshape([n, width])?, PyArray1::from_vec(py, scores)))
    }

    /// Returns the positions of the layer with `seeds` seeds in play that have these ranks (an int64 array), 0
    /// to `layer_positions(pits, seeds)` - 1, as a uint8 array of shape (n, 2 x pits).
    ///
    /// Raises MissingTableError, OutOfMemoryError, or ArgumentError for a rank that the layer does not have.
    #[pyo3(signature = (seeds, ranks, *, threads = None))]
    fn unrank<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        ranks: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let (seeds, width) = (self.layer_of(seeds)?, 2 * self.pits());
        let ranks = self::ranks(ranks)?;
        let (ranks, pool) = (ranks.get(), pool(threads)?);
        let mut positions = zeros(ranks.len().saturating_mul(width), "pits of positions")?;
        let unranked = py.detach(|| pool.install(|| bulk::unrank(self.tables.rows(), seeds, ranks, &mut positions)));
        unranked.map_err(|row| {
            let count = count_positions(self.pits(), seeds);
            ArgumentError::new_err(format!(
                "rank {} (at {row}) is out of range: the layer with {seeds} seeds has {count} positions",
                ranks[row]
            ))
        })?;
        PyArray1::from_vec(py, positions).reshape([ranks.len(), width])
    }

    /// Returns the ranks of positions in the layer with `seeds` seeds in play: an int64 array of shape (n,).
    /// They are indices of the array that `layer` returns.
    ///
    /// Raises MissingTableError, OutOfMemoryError, or PositionError for a position that is not in the layer. A
    /// position with an empty row is in no layer.
    #[pyo3(signature = (seeds, positions, *, threads = None))]
    fn rank<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        positions: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let seeds = self.layer_of(seeds)?;
        let rows = self::positions(positions, self.pits())?;
        let (index, pool, rows) = (self.tables.rows(), pool(threads)?, rows.get());
        let mut ranks = zeros(rows.len() / (2 * self.pits()), "ranks")?;
        let ranked = py.detach(|| pool.install(|| bulk::rank(index, seeds, rows, &mut ranks)));
        ranked.map_err(|row| {
            PositionError::new_err(format!("row {row} is not a position of the layer with {seeds} seeds"))
        })?;
        Ok(PyArray1::from_vec(py, ranks))
    }

    /// Returns all scores of the layer with `seeds` seeds in play, in the order of ranks, as an int8 array of
    /// shape (positions,). It takes one byte for each position.
    ///
    /// Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError if no tables have such a
    /// layer.
    #[pyo3(signature = (seeds, *, threads = None))]
    fn layer<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let seeds = self.layer_of(seeds)?;
        let scores = self.unpacked(py, seeds, 1..seeds, threads)?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Returns all scores of a frame: the positions with `seeds` seeds in play, `mover` of them in the mover's
    /// row. An int8 array of shape (rows of the other player, rows of the mover), both in the order of `rows`.
    ///
    /// Raises as `layer` does, and ArgumentError if there is no such frame.
    #[pyo3(signature = (seeds, mover, *, threads = None))]
    fn frame<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        mover: Integer,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let seeds = self.layer_of(seeds)?;
        let mover = mover.within("the mover's seeds", 1..=seeds - 1)?;
        let scores = self.unpacked(py, seeds, mover..mover + 1, threads)?;
        let pits = self.pits();
        PyArray1::from_vec(py, scores).reshape([row_count(pits, seeds - mover), row_count(pits, mover)])
    }

    /// Returns all rows with `seeds` seeds in the order of ranks, as a uint8 array of shape (rows, pits).
    ///
    /// Raises MissingTableError if the tables do not reach this many seeds, OutOfMemoryError, or ArgumentError
    /// if no tables do.
    fn rows<'py>(&self, py: Python<'py>, seeds: Integer) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let seeds: usize = seeds.within("seeds", 0..=MAX_TABLE_SEEDS)?;
        if seeds > self.max_seeds() {
            self.tables.require(seeds).or_raise()?;
        }
        let (index, pits) = (self.tables.rows(), self.pits());
        let count = index.rows(seeds);
        let mut rows = zeros::<u8>(count * pits, "pits of rows")?;
        py.detach(|| {
            for (rank, row) in rows.chunks_exact_mut(pits).enumerate() {
                row.copy_from_slice(&index.unrank(seeds, rank as u32)[..pits]);
            }
        });
        PyArray1::from_vec(py, rows).reshape([count, pits])
    }

    fn __repr__(&self) -> String {
        let (directory, max_seeds) = (self.tables.directory().display().to_string(), self.max_seeds());
        format!("<kalah.Tables: {}, {} pits, to {max_seeds} seeds, in {directory:?}>", self.tables.rules(), self.pits())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (PathBuf, &'static str, usize, usize, bool))> {
        let open = py.get_type::<Tables>().getattr("open")?;
        Ok((open, (self.directory(), self.tables.rules().name(), self.pits(), self.asked_seeds, self.mapped)))
    }
}

impl Tables {
    /// The layer with this many seeds in play, if it is open.
    fn layer_of(&self, seeds: Integer) -> PyResult<usize> {
        let seeds = seeds.within("seeds", 2..=MAX_TABLE_SEEDS)?;
        self.tables.require(seeds).or_raise()?;
        Ok(seeds)
    }

    /// The result of `compute` for an array of positions, with `each` numbers for each position.
    fn of_rows<'py, T: Zeroable + Send>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        each: usize,
        threads: Option<ThreadsArgument>,
        compute: fn(&OpenTables, &[u8], &mut [T]) -> bulk::Checked,
    ) -> PyResult<Vec<T>> {
        let rows = self::positions(positions, self.pits())?;
        let (width, seeds, tables) = (2 * self.pits(), rows.get(), &*self.tables);
        let mut results = zeros((seeds.len() / width).saturating_mul(each), "results")?;
        if seeds.len() <= bulk::TASK * width {
            py.detach(|| compute(tables, seeds, &mut results)).map_err(ToPython::to_python)?;
            return Ok(results);
        }
        let pool = pool(threads)?;
        for (number, (seeds, results)) in seeds.chunks(STEP * width).zip(results.chunks_mut(STEP * each)).enumerate() {
            let found = py.detach(|| pool.install(|| compute(tables, seeds, results)));
            found.map_err(|(row, error)| (number * STEP + row, error).to_python())?;
            py.check_signals()?;
        }
        Ok(results)
    }

    /// The scores of these frames of a layer, one after the other.
    fn unpacked(
        &self,
        py: Python<'_>,
        seeds: usize,
        movers: std::ops::Range<usize>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Vec<i8>> {
        let (pool, pits) = (pool(threads)?, self.pits());
        let table = self.tables.require(seeds).or_raise()?;
        let frame = |mover| Frame { pits, mover, other: seeds - mover }.positions() as usize;
        let total = movers.clone().map(frame).sum();
        // The threads that unpack are the first to touch this memory.
        let mut scores = zeros::<i8>(total, "scores")?;
        let mut rest = &mut scores[..];
        for mover in movers {
            let (own, after) = rest.split_at_mut(frame(mover));
            rest = after;
            py.detach(|| pool.install(|| bulk::unpack(table, mover, cast_slice_mut(own)))).or_raise()?;
            py.check_signals()?;
        }
        Ok(scores)
    }
}

/// Returns the number of positions of a layer: `seeds` in play, both rows non-empty. Ranks run from 0 to one
/// less.
///
/// Raises ArgumentError if there is no such layer.
#[pyfunction]
pub fn layer_positions(pits: Integer, seeds: Integer) -> PyResult<u64> {
    Ok(count_positions(pits.within("pits", 1..=MAX_TABLE_PITS)?, seeds.within("seeds", 2..=MAX_TABLE_SEEDS)?))
}
