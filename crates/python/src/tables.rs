//! The class `Tables`.

use std::path::PathBuf;

use kalah::cancel::Cancel;
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions as count_positions, row_count};
use kalah::table::{Storage, Tables as OpenTables, check_in_parallel};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::Integer;
use crate::array::{positions, ranks, shaped, zeros};
use crate::bulk;
use crate::errors::python::{ArgumentError, MissingTableError, PositionError};
use crate::errors::{OrRaise, no_directory};
use crate::filesystem::Filesystem;
use crate::lookup::{self, Opened, unpack};
use crate::position::Position;
use crate::remote::{self, Elsewhere, Located};
use crate::results::{self, moves_dict};
use crate::rules::Rules;
use crate::sampling::{Halves, Part, Wish, are_test};
use crate::waiting::{ThreadsArgument, pool, wait_for};

/// The part of `kalah.Tables` that reads tables.
#[pyclass(module = "kalah._kalah", frozen, subclass)]
pub(crate) struct Tables {
    pub(crate) opened: Opened,
    /// Path or address of the directory. That of closed tables holds on to nothing.
    name: PathBuf,
    max_seeds: usize,
    elsewhere: Elsewhere,
}

#[pymethods]
impl Tables {
    #[new]
    #[pyo3(signature = (path, rules, pits, max_seeds, mapped, filesystem))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        rules: Rules,
        pits: Integer,
        max_seeds: Integer,
        mapped: bool,
        filesystem: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Tables> {
        let pits = pits.within("pits", 1..=MAX_TABLE_PITS)?;
        let max_seeds = max_seeds.within("max_seeds", 2..=MAX_TABLE_SEEDS)?;
        let board = (rules.0, pits);
        let Located { directory, remote } = match &filesystem {
            None => remote::located(py, &path, board)?,
            Some(directory) => {
                let files = Filesystem::new(directory)?;
                py.detach(|| remote::in_filesystem(files, board))?
            }
        };
        let elsewhere = Elsewhere::new(remote, filesystem.is_some());
        if let Some(missing) = no_directory(&directory) {
            return Err(MissingTableError::new_err(missing));
        }
        let storage = if mapped { Storage::Mapped } else { Storage::Files };
        let open = || OpenTables::open_as(&directory, rules.0, pits, max_seeds, storage);
        let tables = py.detach(open).or_raise()?;
        tables.require_all().or_raise()?;
        tables.require(2).or_raise()?;
        let name = directory.name().to_owned();
        Ok(Tables { name, max_seeds: tables.max_seeds().unwrap_or(0), opened: Opened::new(tables), elsewhere })
    }

    /// Closes the files, and lets go of a file system, as soon as no call and no solver reads them. Closing again
    /// does nothing.
    fn close(&self, py: Python<'_>) {
        let closed = self.opened.lock().take();
        py.detach(|| {
            drop(closed);
            self.elsewhere.close();
        });
    }

    /// True once the tables are closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opened.lock().is_none()
    }

    /// The directory, as an absolute path, or the address.
    #[getter]
    fn directory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        remote::location(py, self.name.clone())
    }

    /// Bytes fetched so far from addresses or a file system; 0 for tables on this machine.
    #[getter]
    fn fetched(&self) -> u64 {
        self.elsewhere.fetched()
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.opened.rules)
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.opened.pits
    }

    /// Seeds in play of the largest layer.
    #[getter]
    fn max_seeds(&self) -> usize {
        self.max_seeds
    }

    /// Looks a position up: score, value, all moves, and a line of best play.
    ///
    /// Raises MissingTableError if the position has more seeds in play than the largest table,
    /// DamagedTableError if a table is damaged, and PositionError if it has other pits than the tables.
    fn probe<'py>(&self, py: Python<'py>, position: Position) -> PyResult<Bound<'py, PyAny>> {
        let tables = self.opened.tables()?;
        results::probe(py, self.elsewhere.look_up(py, || tables.probe(&position.0))?.or_raise()?)
    }

    /// Returns the score: the number of seeds in play that the mover collects with best play. Raises as `probe`
    /// does.
    fn score(&self, py: Python<'_>, position: Position) -> PyResult<u32> {
        let tables = self.opened.tables()?;
        self.elsewhere.look_up(py, || lookup::score(&tables, &position.0))?.or_raise()
    }

    /// Returns the final store difference for the mover with best play. Raises as `probe` does.
    fn value(&self, py: Python<'_>, position: Position) -> PyResult<i64> {
        Ok(position.0.value(self.score(py, position)?))
    }

    /// Returns the mover's score after each legal move, seeds stored by the move included: a dict with numbers
    /// of pits from 1 as keys. Raises as `probe` does.
    fn move_scores<'py>(&self, py: Python<'py>, position: Position) -> PyResult<Bound<'py, PyDict>> {
        let tables = self.opened.tables()?;
        let moves = self.elsewhere.look_up(py, || tables.move_scores(&position.0))?.or_raise()?;
        moves_dict(py, moves)
    }

    /// Compares all tables with their checksums. Raises DamagedTableError.
    #[pyo3(signature = (*, threads = None))]
    fn check(&self, py: Python<'_>, threads: Option<ThreadsArgument>) -> PyResult<()> {
        let (tables, pool, cancel) = (self.opened.tables()?, pool(threads)?, Cancel::new());
        let work = || {
            pool.install(|| {
                let mut layers = tables.layers().iter().filter(|_| !cancel.is_cancelled());
                layers.try_for_each(|table| check_in_parallel(table.blocks()).map(|_| ()))
            })
        };
        wait_for(py, work, &cancel, |_| Ok(()))?.or_raise()
    }

    /// Returns the scores of many positions, as an int8 array of shape (n,).
    ///
    /// Positions with more seeds in play than the largest table get the result `default`, if that is given.
    ///
    /// Always releases the interpreter's lock. `threads` is the number of cores by default, and at most eight
    /// times that. Raises MissingTableError, DamagedTableError, PositionError (for another shape, or more than
    /// 48 seeds in play), ArgumentError, OutOfMemoryError, or TypeError (no array of integers).
    #[pyo3(signature = (positions, *, default = None, threads = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        default: Option<Integer>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.opened.of_rows(py, positions, None, default, threads, bulk::scores)
    }

    /// Returns the mover's scores after all moves of many positions, as an int8 array of shape (n, pits).
    /// Column i is the move of pit i + 1; -1 means that it is illegal. Arguments and exceptions are those of
    /// `scores`.
    #[pyo3(signature = (positions, *, default = None, threads = None))]
    fn scores_of_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        default: Option<Integer>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.opened.of_rows(py, positions, Some(self.opened.pits), default, threads, bulk::move_scores)
    }

    /// Draws positions. `part` is True for the part for tests, False for the rest.
    #[pyo3(signature = (n, seeds, seed, offset, replace, part, test, play, start, threads))]
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn _sample<'py>(
        &self,
        py: Python<'py>,
        n: Integer,
        seeds: Integer,
        seed: u64,
        offset: Integer,
        replace: bool,
        part: Option<bool>,
        test: Halves,
        play: bool,
        start: Option<Position>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, Bound<'py, PyArrayDyn<i8>>)> {
        let n = n.within("n", 0..=usize::MAX)?;
        let offset = offset.within("offset", 0..=u64::MAX)?;
        let (tables, layer) = self.opened.layer_of(seeds)?;
        let (part, start) = (Part::new(part, test), start.map(|start| start.0));
        let wish = Wish { layer, seed, offset, replace, part, play, start };
        self.opened.drawn(py, &tables, n, &wish, threads)
    }

    /// Returns True for the positions in the part for tests, which `sample` leaves out with part='train'. A bool
    /// array of shape (n,). A position with an empty row or more than 48 seeds is in no part.
    ///
    /// Raises PositionError, ArgumentError, OutOfMemoryError or TypeError.
    #[pyo3(
        signature = (positions, test = Halves::new(0.1), *, threads = None),
        text_signature = "($self, positions, test=0.1, *, threads=None)"
    )]
    fn is_test<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        test: Halves,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let tables = self.opened.tables()?;
        let (given, pool) = (self::positions(positions, self.opened.pits)?, pool(threads)?);
        let (rows, mut flags) = (given.get(), zeros(given.axes(), "results")?);
        py.detach(|| pool.install(|| are_test(self.opened.reader(&tables, None), test, rows, &mut flags)));
        shaped(py, flags, given.axes())
    }

    /// Returns the positions of the layer with `seeds` seeds in play that have these ranks (integers in an array or
    /// list), 0 to `layer_positions(pits, seeds)` - 1, as a uint8 array of shape (n, 2 x pits).
    ///
    /// Raises MissingTableError, OutOfMemoryError, or ArgumentError for a rank that the layer does not have.
    #[pyo3(signature = (seeds, ranks, *, threads = None))]
    fn unrank<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        ranks: &Bound<'py, PyAny>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let (tables, seeds) = self.opened.layer_of(seeds)?;
        let given = self::ranks(ranks)?;
        let (ranks, pool) = (given.get(), pool(threads)?);
        let shape = [given.shape(), &[2 * self.opened.pits]].concat();
        let mut positions = zeros(&shape, "pits of positions")?;
        let unranked = py.detach(|| pool.install(|| bulk::unrank(tables.rows(), seeds, ranks, &mut positions)));
        unranked.map_err(|row| {
            let count = count_positions(self.opened.pits, seeds);
            ArgumentError::new_err(format!(
                "rank {} (at {row}) is out of range: the layer with {seeds} seeds has {count} positions",
                ranks[row]
            ))
        })?;
        shaped(py, positions, &shape)
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
    ) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
        let (tables, seeds) = self.opened.layer_of(seeds)?;
        let given = self::positions(positions, self.opened.pits)?;
        let (pool, rows) = (pool(threads)?, given.get());
        let (mut ranks, reader) = (zeros(given.axes(), "ranks")?, self.opened.reader(&tables, None));
        let ranked = py.detach(|| pool.install(|| bulk::rank(reader, seeds, rows, &mut ranks)));
        ranked.map_err(|row| {
            PositionError::new_err(format!("row {row} is not a position of the layer with {seeds} seeds"))
        })?;
        shaped(py, ranks, given.axes())
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
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, seeds) = self.opened.layer_of(seeds)?;
        let positions = usize::try_from(count_positions(self.opened.pits, seeds)).unwrap_or(usize::MAX);
        unpack(py, tables.require(seeds).or_raise()?, 1..seeds, &[positions], threads)
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
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, seeds) = self.opened.layer_of(seeds)?;
        let mover = mover.within("the mover's seeds", 1..=seeds - 1)?;
        let shape = [row_count(self.opened.pits, seeds - mover), row_count(self.opened.pits, mover)];
        unpack(py, tables.require(seeds).or_raise()?, mover..mover + 1, &shape, threads)
    }

    /// Returns all rows with `seeds` seeds in the order of ranks, as a uint8 array of shape (rows, pits).
    ///
    /// Raises MissingTableError if the tables do not reach this many seeds, OutOfMemoryError, or ArgumentError
    /// if no tables do.
    fn rows<'py>(&self, py: Python<'py>, seeds: Integer) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let seeds: usize = seeds.within("seeds", 0..=MAX_TABLE_SEEDS)?;
        let tables = self.opened.tables()?;
        if seeds > self.max_seeds {
            tables.require(seeds).or_raise()?;
        }
        let (index, pits) = (tables.rows(), self.opened.pits);
        let shape = [index.rows(seeds), pits];
        let mut rows = zeros(&shape, "pits of rows")?;
        py.detach(|| {
            for (rank, row) in rows.chunks_exact_mut(pits).enumerate() {
                row.copy_from_slice(&index.unrank(seeds, rank as u32)[..pits]);
            }
        });
        shaped(py, rows, &shape)
    }
}
