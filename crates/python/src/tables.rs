//! The class `Tables`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::cast_slice_mut;
use kalah::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions as count_positions, row_count};
use kalah::table::{Tables as OpenTables, check_in_parallel};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bulk;
use crate::errors::python::{MissingTableError, PositionError};
use crate::errors::{OrRaise, ToPython};
use crate::line::Line;
use crate::position::PositionArgument;
use crate::probe::{Probe, moves_dict};
use crate::rows::Rows;
use crate::rules::{Rules, RulesArgument};
use crate::waiting::{pool, wait_for};

/// Positions that are looked up before Python handles signals.
const STEP: usize = 1 << 20;

/// The tables of one rule set and number of pits in a directory: all layers from 2 seeds up, without a gap.
///
/// Open them with `Tables.open`. The files are mapped into memory: opening is quick and takes no memory of its own,
/// and every block of a file is compared with its checksum before a score in it is used. The files must not change
/// while they are open; replacing one by renaming another over it is safe. Tables can be pickled: the directory is
/// opened again.
///
/// Arrays of positions are of type uint8 and shape (n, 2 x pits): the mover's pits, then the other player's, each in
/// its owner's sowing order. Stores do not matter.
#[pyclass(module = "kalah", frozen)]
pub struct Tables {
    pub tables: Arc<OpenTables>,
    asked_seeds: usize,
}

#[pymethods]
impl Tables {
    /// Opens all tables in `directory` with at most `max_seeds` seeds in play.
    ///
    /// Raises DamagedTableError or TableError if a file is damaged or the directory or a file cannot be read, and
    /// MissingTableError if there is no table at all, or a layer is missing below another one.
    #[staticmethod]
    #[pyo3(
        signature = (directory, rules = RulesArgument::default(), pits = 6, max_seeds = MAX_TABLE_SEEDS),
        text_signature = "(directory, rules='empty-capture', pits=6, max_seeds=48)"
    )]
    fn open(
        py: Python<'_>,
        directory: PathBuf,
        rules: RulesArgument,
        pits: usize,
        max_seeds: usize,
    ) -> PyResult<Tables> {
        if !(1..=MAX_TABLE_PITS).contains(&pits) {
            return Err(PyValueError::new_err(format!("tables have 1 to {MAX_TABLE_PITS} pits a side, not {pits}")));
        }
        let tables = py.detach(|| OpenTables::open(&directory, rules.0, pits, max_seeds)).or_raise()?;
        tables.require_all().or_raise()?;
        tables.require(2).or_raise()?;
        Ok(Tables { tables: Arc::new(tables), asked_seeds: max_seeds })
    }

    /// The directory.
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

    /// The seeds in play of the largest layer.
    #[getter]
    fn max_seeds(&self) -> usize {
        self.tables.max_seeds().unwrap_or(0)
    }

    /// Looks a position up: score, value, all moves, and a line of best play.
    ///
    /// Raises MissingTableError if the position has more seeds in play than the largest table, DamagedTableError if a
    /// table is damaged, and PositionError if it has other pits than the tables.
    fn probe(&self, py: Python<'_>, position: PositionArgument) -> PyResult<Probe> {
        Probe::new(py, self.tables.probe(&position.0).or_raise()?)
    }

    /// How many of the seeds in play the mover collects with best play. Raises as `probe` does.
    fn score(&self, position: PositionArgument) -> PyResult<u32> {
        let moves = self.tables.move_scores(&position.0).or_raise()?;
        Ok(moves.iter().map(|&(_, score)| score).max().unwrap_or_else(|| position.0.mover().total()))
    }

    /// The final store difference for the mover with best play. Raises as `probe` does.
    fn value(&self, position: PositionArgument) -> PyResult<i64> {
        Ok(position.0.value(self.score(PositionArgument(position.0))?))
    }

    /// The mover's score after each legal move, its own gain included: a dict from numbers of pits, from 1. Raises as
    /// `probe` does.
    fn move_scores<'py>(&self, py: Python<'py>, position: PositionArgument) -> PyResult<Bound<'py, PyDict>> {
        moves_dict(py, &self.tables.move_scores(&position.0).or_raise()?)
    }

    /// A line of best play to the end of the game. Raises as `probe` does.
    fn line(&self, position: PositionArgument) -> PyResult<Line> {
        let probe = self.tables.probe(&position.0).or_raise()?;
        Ok(Line::of(probe.line, position.0.pits()))
    }

    /// Compares all tables with their checksums. Raises DamagedTableError.
    #[pyo3(signature = (*, threads = None))]
    fn check(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
        let (pool, stopped) = (pool(threads)?, AtomicBool::new(false));
        let work = || {
            pool.install(|| {
                let mut layers = self.tables.layers().iter().filter(|_| !stopped.load(Ordering::Relaxed));
                layers.try_for_each(|table| check_in_parallel(table).map(|_| ()))
            })
        };
        wait_for(py, work, || stopped.store(true, Ordering::Relaxed), |_| Ok(()))?.or_raise()
    }

    /// The scores of many positions, as an int8 array of shape (n,).
    ///
    /// Releases the interpreter's lock; `threads` are as many as there are cores by default. Raises
    /// MissingTableError, DamagedTableError, PositionError (more than 48 seeds in play), TypeError or ValueError (not
    /// an array of positions).
    #[pyo3(signature = (positions, *, threads = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let scores = self.of_rows(py, positions, 1, 0i8, threads, bulk::scores)?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The mover's scores after all moves of many positions, as an int8 array of shape (n, pits): column i is the
    /// move that empties pit i + 1, and -1 means that it is not legal. Raises as `scores` does.
    #[pyo3(signature = (positions, *, threads = None))]
    fn scores_of_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let scores = self.of_rows(py, positions, self.pits(), bulk::NO_MOVE, threads, bulk::move_scores)?;
        PyArray1::from_vec(py, scores).reshape([positions.len()?, self.pits()])
    }

    /// The best moves of many positions, as a bool array of shape (n, pits): column i is the move that empties pit i
    /// + 1. A row has no True once the game is over. Raises as `scores` does.
    #[pyo3(signature = (positions, *, threads = None))]
    fn best_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let best = self.of_rows(py, positions, self.pits(), false, threads, bulk::best_moves)?;
        PyArray1::from_vec(py, best).reshape([positions.len()?, self.pits()])
    }

    /// Draws `n` positions of the layer with `seeds` seeds in play, uniformly and independently, with their exact
    /// scores: a uint8 array of shape (n, 2 x pits) and an int8 array of shape (n,). The same `seed` gives the same
    /// positions.
    ///
    /// Raises MissingTableError or DamagedTableError.
    #[pyo3(signature = (n, seeds, seed = 0, *, threads = None))]
    #[allow(clippy::type_complexity)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seeds: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<u8>>, Bound<'py, PyArray1<i8>>)> {
        self.tables.require(seeds).or_raise()?;
        let ranks = py.detach(|| bulk::random_ranks(self.tables.rows(), seeds, n, seed));
        let positions = self.positions(py, seeds, &ranks, threads)?;
        let scores = self.scores(py, positions.as_any(), threads)?;
        Ok((positions, scores))
    }

    /// The positions of the layer with `seeds` seeds in play that have these ranks (an int64 array), 0 to
    /// `layer_positions(pits, seeds)` - 1, as a uint8 array of shape (n, 2 x pits).
    ///
    /// Raises MissingTableError, or ValueError for a rank that the layer does not have.
    #[pyo3(signature = (seeds, ranks, *, threads = None))]
    fn unrank<'py>(
        &self,
        py: Python<'py>,
        seeds: usize,
        ranks: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        self.tables.require(seeds).or_raise()?;
        let Ok(ranks) = ranks.extract::<PyReadonlyArray1<'py, i64>>() else {
            return Err(PyTypeError::new_err("ranks are a numpy array of type int64 and shape (n,)"));
        };
        let ranks: Vec<i64> = ranks.as_array().iter().copied().collect();
        self.positions(py, seeds, &ranks, threads)
    }

    /// The ranks of positions in the layer with `seeds` seeds in play: an int64 array of shape (n,). The array that
    /// `layer` returns has their scores at these indices.
    ///
    /// Raises MissingTableError, or PositionError for a position that is not in the layer (one with an empty row is
    /// in none).
    #[pyo3(signature = (seeds, positions, *, threads = None))]
    fn rank<'py>(
        &self,
        py: Python<'py>,
        seeds: usize,
        positions: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.tables.require(seeds).or_raise()?;
        let rows = Rows::new(positions, self.pits())?;
        let mut ranks = vec![0i64; rows.seeds().len() / (2 * self.pits())];
        let (index, pool, bytes) = (self.tables.rows(), pool(threads)?, rows.seeds());
        let ranked = py.detach(|| pool.install(|| bulk::rank(index, seeds, bytes, &mut ranks)));
        ranked.map_err(|row| {
            PositionError::new_err(format!("row {row} is not a position of the layer with {seeds} seeds"))
        })?;
        Ok(PyArray1::from_vec(py, ranks))
    }

    /// All scores of the layer with `seeds` seeds in play, in the order of ranks, as an int8 array of shape
    /// (positions,): unpacked, it takes one byte a position.
    ///
    /// Raises MissingTableError, DamagedTableError, or MemoryError.
    #[pyo3(signature = (seeds, *, threads = None))]
    fn layer<'py>(&self, py: Python<'py>, seeds: usize, threads: Option<usize>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        self.tables.require(seeds).or_raise()?;
        let scores = self.unpacked(py, seeds, 1..seeds, threads)?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// All scores of a frame: the positions with `seeds` seeds in play of which `mover` are in the mover's row. An
    /// int8 array of shape (rows of the other player, rows of the mover), both in the order of `rows`.
    ///
    /// Raises MissingTableError, DamagedTableError, MemoryError, or ValueError if there is no such frame.
    #[pyo3(signature = (seeds, mover, *, threads = None))]
    fn frame<'py>(
        &self,
        py: Python<'py>,
        seeds: usize,
        mover: usize,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<i8>>> {
        self.tables.require(seeds).or_raise()?;
        if !(1..seeds).contains(&mover) {
            return Err(PyValueError::new_err(format!(
                "the mover's row has 1 to {} of {seeds} seeds, not {mover}",
                seeds - 1
            )));
        }
        let scores = self.unpacked(py, seeds, mover..mover + 1, threads)?;
        let pits = self.pits();
        PyArray1::from_vec(py, scores).reshape([row_count(pits, seeds - mover), row_count(pits, mover)])
    }

    /// All rows with `seeds` seeds in the order of ranks, as a uint8 array of shape (rows, pits).
    ///
    /// Raises MissingTableError if the tables do not reach so many seeds.
    fn rows<'py>(&self, py: Python<'py>, seeds: usize) -> PyResult<Bound<'py, PyArray2<u8>>> {
        if seeds > self.max_seeds() {
            return Err(MissingTableError::new_err(format!(
                "the tables reach {} seeds, not {seeds}",
                self.max_seeds()
            )));
        }
        let (index, pits) = (self.tables.rows(), self.pits());
        let count = index.rows(seeds);
        let rows = (0..count as u32).flat_map(|rank| index.unrank(seeds, rank).into_iter().take(pits));
        PyArray1::from_vec(py, rows.collect()).reshape([count, pits])
    }

    fn __repr__(&self) -> String {
        let (directory, max_seeds) = (self.tables.directory().display().to_string(), self.max_seeds());
        format!("<kalah.Tables: {}, {} pits, to {max_seeds} seeds, in {directory:?}>", self.tables.rules(), self.pits())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, &'static str, usize, usize))> {
        let open = py.get_type::<Tables>().getattr("open")?;
        let directory = std::path::absolute(self.tables.directory())?;
        Ok((open, (directory, self.tables.rules().name(), self.pits(), self.asked_seeds)))
    }
}

impl Tables {
    /// What `compute` finds of an array of positions, `each` results of a position.
    fn of_rows<'py, T: Copy + Send>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        each: usize,
        empty: T,
        threads: Option<usize>,
        compute: fn(&OpenTables, &[u8], &mut [T]) -> bulk::Checked,
    ) -> PyResult<Vec<T>> {
        let rows = Rows::new(positions, self.pits())?;
        let (width, seeds, tables) = (2 * self.pits(), rows.seeds(), &*self.tables);
        let mut results = vec![empty; seeds.len() / width * each];
        if seeds.len() <= bulk::TASK * width {
            compute(tables, seeds, &mut results).map_err(ToPython::to_python)?;
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

    /// The positions with these ranks.
    fn positions<'py>(
        &self,
        py: Python<'py>,
        seeds: usize,
        ranks: &[i64],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let (pool, width) = (pool(threads)?, 2 * self.pits());
        let mut positions = vec![0u8; ranks.len() * width];
        let unranked = py.detach(|| pool.install(|| bulk::unrank(self.tables.rows(), seeds, ranks, &mut positions)));
        unranked.map_err(|row| {
            let count = count_positions(self.pits(), seeds);
            PyValueError::new_err(format!("rank {} (at {row}): the layer with {seeds} seeds has {count}", ranks[row]))
        })?;
        PyArray1::from_vec(py, positions).reshape([ranks.len(), width])
    }

    /// The scores of these frames of a layer, one after the other.
    fn unpacked(
        &self,
        py: Python<'_>,
        seeds: usize,
        movers: std::ops::Range<usize>,
        threads: Option<usize>,
    ) -> PyResult<Vec<i8>> {
        let (pool, pits) = (pool(threads)?, self.pits());
        let table = self.tables.require(seeds).or_raise()?;
        let frame = |mover| Frame { pits, mover, other: seeds - mover }.positions() as usize;
        let total = movers.clone().map(frame).sum();
        // The threads that unpack are the first to touch this memory.
        let zeroed = try_zeroed_vec::<i8>(total);
        let mut scores = zeroed.map_err(|()| PyMemoryError::new_err(format!("no memory for {total} scores")))?;
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

/// The positions of a layer: `seeds` in play, both rows non-empty. Ranks run from 0 to one less.
///
/// Raises ValueError if there is no such layer.
#[pyfunction]
pub fn layer_positions(pits: usize, seeds: usize) -> PyResult<u64> {
    if !(1..=MAX_TABLE_PITS).contains(&pits) || !(2..=MAX_TABLE_SEEDS).contains(&seeds) {
        return Err(PyValueError::new_err(format!(
            "layers have 1 to {MAX_TABLE_PITS} pits a side and 2 to {MAX_TABLE_SEEDS} seeds, not {pits} and {seeds}"
        )));
    }
    Ok(count_positions(pits, seeds))
}
