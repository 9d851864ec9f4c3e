//! The class `Tables`.

use kalah::cancel::Cancel;
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions as count_positions, row_count};
use kalah::table::{Directories, Opening, Storage, Tables as OpenTables, check_in_parallel};
use kalah::text::count;
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::argument::{Integer, Locations, Seed};
use crate::array::Results;
use crate::bulk;
use crate::errors::python::{ArgumentError, MissingTableError, PositionError};
use crate::errors::{OrRaise, no_directory};
use crate::filesystem::Filesystem;
use crate::line::Line;
use crate::lookup::{self, Opened, unpack};
use crate::memory::{check_limit, zeros};
use crate::position::PositionArgument;
use crate::probe::{Probe, moves_dict};
use crate::remote::{self, Elsewhere, Located};
use crate::rows::{positions, ranks};
use crate::rules::{Rules, RulesArgument};
use crate::sampling::{Halves, Part, Wish, are_test};
use crate::waiting::{ThreadsArgument, pool, wait_for};

/// The tables of one rule set and number of pits in a directory, or in several: all layers from 2 seeds up, without
/// a gap.
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
/// Positions in arrays are of type uint8 and shape (n, 2 x pits): the mover's pits, then the other player's, each in
/// its owner's sowing order. Stores do not matter. Lists and other integers are converted. A single row, and more
/// axes before the last one, give results with the same axes.
///
/// A `with` block closes them at its end. Afterwards they look nothing up, and raise ArgumentError.
#[pyclass(module = "kalah", frozen)]
pub struct Tables {
    pub opened: Opened,
    directories: Directories,
    max_seeds: usize,
    asked_seeds: usize,
    mapped: bool,
    elsewhere: Elsewhere,
}

#[pymethods]
impl Tables {
    /// Opens all tables in `directory` with at most `max_seeds` seeds in play. With `mapped=False` the files
    /// are copied into memory, and may change later. Several directories are read as one: each layer from the
    /// first that has it.
    ///
    /// An address such as `"https://example.org/tables"` takes the place of a directory. Blocks are then fetched
    /// when they are read, and kept in the user's cache directory, or in that of the variable KALAH_CACHE.
    ///
    /// With `filesystem`, a file system of fsspec such as `s3fs.S3FileSystem()`, `directory` is a directory in it, and
    /// blocks come from there.
    ///
    /// Raises MissingTableError if there is no such directory or no table in it, or a layer is missing below
    /// another one. Raises TableError if two directories have different tables of a layer. Raises
    /// DamagedTableError or TableError if a file is damaged or cannot be read, and OutOfMemoryError if a copy
    /// does not fit the memory. Raises ArgumentError for pits or seeds that no tables have.
    #[staticmethod]
    #[pyo3(
        signature = (
            directory, rules = RulesArgument::default(), pits = Integer::from(6),
            max_seeds = Integer::from(MAX_TABLE_SEEDS as u64), mapped = true, filesystem = None
        ),
        text_signature = "(directory, rules='empty-capture', pits=6, max_seeds=48, mapped=True, filesystem=None)"
    )]
    fn open(
        py: Python<'_>,
        directory: Locations,
        rules: RulesArgument,
        pits: Integer,
        max_seeds: Integer,
        mapped: bool,
        filesystem: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Tables> {
        let pits = pits.within("pits", 1..=MAX_TABLE_PITS)?;
        let max_seeds = max_seeds.at_least("max_seeds", 2, MAX_TABLE_SEEDS as u32)? as usize;
        let board = (rules.0, pits);
        let (located, filesystem) = match filesystem {
            None => (remote::located(py, &directory.paths, board)?, None),
            Some(filesystem) => {
                let several = || ArgumentError::new_err("with a filesystem, directory is one path in it");
                let directory = directory.text.ok_or_else(several)?;
                let files = Filesystem::new(&filesystem, &directory)?;
                let located = py.detach(|| remote::in_filesystem(files, board))?;
                (located, Some((filesystem.unbind(), directory)))
            }
        };
        let Located { directories, remote } = located;
        let elsewhere = Elsewhere::new(remote, filesystem);
        if let Some(missing) = no_directory(&directories) {
            return Err(MissingTableError::new_err(missing));
        }
        let rules = rules.0;
        let opened = if mapped {
            py.detach(|| OpenTables::open(&directories, rules, pits, max_seeds))
        } else {
            let open = |storage| {
                let options = Opening::to(max_seeds).storage(storage);
                py.detach(|| OpenTables::open(&directories, rules, pits, options))
            };
            let tables = open(Storage::Files).or_raise()?;
            let bytes = tables.layers().iter().map(|table| table.header().file_bytes).sum();
            check_limit(bytes, "a copy of the tables")?;
            open(Storage::Copied)
        };
        let tables = opened.or_raise()?;
        tables.require_all().or_raise()?;
        tables.require(2).or_raise()?;
        Ok(Tables {
            directories,
            max_seeds: tables.max_seeds().unwrap_or(0),
            opened: Opened::new(tables),
            asked_seeds: max_seeds,
            mapped,
            elsewhere,
        })
    }

    /// Closes the files, lets go of a file system, and frees the memory of copies, as soon as no call and no solver
    /// reads them. Closing again does nothing.
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

    /// Returns these tables.
    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Closes these tables.
    #[pyo3(signature = (*_exception), text_signature = "($self, *exception)")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// The directory, as an absolute path, or the address: the first of several.
    #[getter]
    fn directory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        remote::location(py, self.directories.places()[0].name().to_owned())
    }

    /// The directories, as absolute paths or addresses.
    #[getter]
    fn directories<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.directories.places().iter().map(|place| remote::location(py, place.name().to_owned())).collect()
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
    fn probe(&self, py: Python<'_>, position: PositionArgument) -> PyResult<Probe> {
        let tables = self.opened.tables()?;
        Ok(Probe::new(self.elsewhere.look_up(py, || tables.probe(&position.0))?.or_raise()?))
    }

    /// Returns the score: the number of seeds in play that the mover collects with best play. Raises as `probe`
    /// does.
    fn score(&self, py: Python<'_>, position: PositionArgument) -> PyResult<u32> {
        let tables = self.opened.tables()?;
        self.elsewhere.look_up(py, || lookup::score(&tables, &position.0))?.or_raise()
    }

    /// Returns the final store difference for the mover with best play. Raises as `probe` does.
    fn value(&self, py: Python<'_>, position: PositionArgument) -> PyResult<i64> {
        Ok(position.0.value(self.score(py, PositionArgument(position.0))?))
    }

    /// Returns the mover's score after each legal move, seeds stored by the move included: a dict with numbers
    /// of pits from 1 as keys. Raises as `probe` does.
    fn move_scores<'py>(&self, py: Python<'py>, position: PositionArgument) -> PyResult<Bound<'py, PyDict>> {
        let tables = self.opened.tables()?;
        let moves = self.elsewhere.look_up(py, || tables.move_scores(&position.0))?.or_raise()?;
        moves_dict(py, moves.iter().map(|&(pit, score)| (pit.number(), score)))
    }

    /// Returns a line of best play to the end of the game. Raises as `probe` does.
    fn line(&self, py: Python<'_>, position: PositionArgument) -> PyResult<Line> {
        let tables = self.opened.tables()?;
        let probe = self.elsewhere.look_up(py, || tables.probe(&position.0))?.or_raise()?;
        Ok(Line::of(probe.line, position.0.pits()))
    }

    /// Returns the same as `probe`, or `default` if the position has more seeds in play than the largest table.
    #[pyo3(signature = (position, default = None))]
    fn get_probe<'py>(
        &self,
        py: Python<'py>,
        position: PositionArgument,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.opened.get(py, position, default, |position| self.probe(py, position))
    }

    /// Returns the same as `score`, or `default` if the position has more seeds in play than the largest table.
    #[pyo3(signature = (position, default = None))]
    fn get_score<'py>(
        &self,
        py: Python<'py>,
        position: PositionArgument,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.opened.get(py, position, default, |position| self.score(py, position))
    }

    /// Returns the same as `value`, or `default` if the position has more seeds in play than the largest table.
    #[pyo3(signature = (position, default = None))]
    fn get_value<'py>(
        &self,
        py: Python<'py>,
        position: PositionArgument,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.opened.get(py, position, default, |position| self.value(py, position))
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
    /// With `out`, an array in C order of the type and shape of the results, they are written there, and `out` is
    /// returned. After an error it may hold some of them.
    ///
    /// Always releases the interpreter's lock. `threads` is the number of cores by default, and at most eight
    /// times that. Raises MissingTableError, DamagedTableError, PositionError (for another shape, or more than
    /// 48 seeds in play), ArgumentError (another `out`), OutOfMemoryError, or TypeError (no array of integers).
    #[pyo3(signature = (positions, *, out = None, threads = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.opened.of_rows(py, positions, None, (out, threads), bulk::scores)
    }

    /// Returns the values of many positions without stores, as an int8 array of shape (n,): the difference of the
    /// seeds in play that the players collect, seen by the mover. Arguments and exceptions are those of `scores`.
    #[pyo3(signature = (positions, *, out = None, threads = None))]
    fn values<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.opened.of_rows(py, positions, None, (out, threads), bulk::values)
    }

    /// Returns the mover's scores after all moves of many positions, as an int8 array of shape (n, pits).
    /// Column i is the move of pit i + 1; -1 means that it is illegal. Arguments and exceptions are those of
    /// `scores`.
    #[pyo3(signature = (positions, *, out = None, threads = None))]
    fn scores_of_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.opened.of_rows(py, positions, Some(self.opened.pits), (out, threads), bulk::move_scores)
    }

    /// Returns the best moves of many positions, as a bool array of shape (n, pits). Column i is the move of
    /// pit i + 1. A row has no True if the game is over. Arguments and exceptions are those of `scores`.
    #[pyo3(signature = (positions, *, out = None, threads = None))]
    fn best_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        self.opened.of_rows(py, positions, Some(self.opened.pits), (out, threads), bulk::best_moves)
    }

    /// Draws `n` positions of the layer with `seeds` seeds in play, independently, with their exact scores.
    /// Returns a uint8 array of shape (n, 2 x pits) and an int8 array of shape (n,).
    ///
    /// The same `seed`, 0 to 2^64 - 1, gives the same positions. Samples of different seeds are independent. A
    /// numpy.random.Generator draws the seed. `offset` leaves out that many positions at the start of the sequence,
    /// which takes no time.
    ///
    /// With replace=False no position is drawn twice. They are those of `kalah export --sample`, in the order of
    /// ranks. There is no offset, part or source then.
    ///
    /// `part`, 'train' or 'test', draws from one part of all positions. A hash of the position decides its part;
    /// `test` is the share of the positions for tests.
    ///
    /// `source` is 'uniform', where all positions of the layer are equally likely, or 'play': positions reached by
    /// random moves from `start`, one of each game. The start has four seeds a pit by default, or more if the layer
    /// has more.
    ///
    /// Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError for numbers out of range.
    #[pyo3(
        signature = (
            n, seeds, seed = Seed::default(), *, offset = Integer::from(0), replace = true, part = None,
            test = Halves::default(), source = None, start = None, threads = None
        ),
        text_signature = "($self, n, seeds, seed=0, *, offset=0, replace=True, part=None, test=0.1, \
                          source='uniform', start=None, threads=None)"
    )]
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: Integer,
        seeds: Integer,
        seed: Seed,
        offset: Integer,
        replace: bool,
        part: Option<&Bound<'py, PyAny>>,
        test: Halves,
        source: Option<&Bound<'py, PyAny>>,
        start: Option<PositionArgument>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<(Bound<'py, PyArray2<u8>>, Bound<'py, PyArray1<i8>>)> {
        let n = n.at_least("n", 0, u64::MAX)? as usize;
        let offset = offset.within("offset", 0..=u64::MAX)?;
        let (tables, layer) = self.opened.layer_of(seeds)?;
        let part = Part::new(part, test)?;
        let wish = Wish { layer, seed: seed.0, offset, replace, part, source, start: start.map(|start| start.0) };
        self.opened.drawn(py, &tables, n, &wish, threads)
    }

    /// Returns True for the positions in the part for tests, which `sample` leaves out with part='train'. A bool
    /// array of shape (n,). A position with an empty row or more than 48 seeds is in no part.
    ///
    /// Raises PositionError, ArgumentError, OutOfMemoryError or TypeError.
    #[pyo3(
        signature = (positions, test = Halves::default(), *, threads = None),
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
        let (rows, pool) = (self::positions(positions, self.opened.pits)?, pool(threads)?);
        let (seeds, mut results) = (rows.get(), Results::new(None, rows.axes().to_vec(), "results")?);
        let flags = results.get();
        py.detach(|| pool.install(|| are_test(self.opened.reader(&tables), test, seeds, flags)));
        results.finish(py)
    }

    /// Returns an endless iterable of random batches for training, a `kalah.data.Batches`. A batch is a pair of
    /// arrays: positions, uint8 (size, 2 x pits), and scores, int8 (size,). With labels='moves' the second has the
    /// scores of all moves, int8 (size, pits).
    ///
    /// `seeds` is the number of seeds in play of a layer, or a list of several, which are equally likely. The same
    /// `seed` gives the same batches, from number `start` on. `worker` is a pair of numbers: this process, and the
    /// number of processes. Each process gets other batches, and so does each worker of a torch DataLoader.
    ///
    /// `part`, `test`, `source` and the exceptions are those of `sample`.
    #[pyo3(
        signature = (*arguments, **named),
        text_signature = "($self, seeds, size=4096, *, seed=0, start=0, worker=None, labels='scores', part=None, \
                          test=0.1, source='uniform', threads=None)"
    )]
    fn batches<'py>(
        slf: Bound<'py, Self>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches = slf.py().import("kalah.data")?.getattr("batches")?;
        let first = PyTuple::new(slf.py(), [slf])?;
        batches.call(first.add(arguments)?.cast_into::<PyTuple>()?, named)
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
        let mut results = Results::new(None, shape, "pits of positions")?;
        let positions = results.get();
        let unranked = py.detach(|| pool.install(|| bulk::unrank(tables.rows(), seeds, ranks, positions)));
        unranked.map_err(|row| {
            let count = count_positions(self.opened.pits, seeds);
            ArgumentError::new_err(format!(
                "rank {} (at {row}) is out of range: the layer with {seeds} seeds has {count} positions",
                ranks[row]
            ))
        })?;
        results.finish(py)
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
        let mut results = Results::new(None, given.axes().to_vec(), "ranks")?;
        let ranks = results.get();
        let ranked = py.detach(|| pool.install(|| bulk::rank(self.opened.reader(&tables), seeds, rows, ranks)));
        ranked.map_err(|row| {
            PositionError::new_err(format!("row {row} is not a position of the layer with {seeds} seeds"))
        })?;
        results.finish(py)
    }

    /// Returns all scores of the layer with `seeds` seeds in play, in the order of ranks, as an int8 array of
    /// shape (positions,). It takes one byte for each position. `out` is that of `scores`.
    ///
    /// Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError if no tables have such a
    /// layer.
    #[pyo3(signature = (seeds, *, out = None, threads = None))]
    fn layer<'py>(
        &self,
        py: Python<'py>,
        seeds: Integer,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, seeds) = self.opened.layer_of(seeds)?;
        let positions = usize::try_from(count_positions(self.opened.pits, seeds)).unwrap_or(usize::MAX);
        let mut results = Results::new(out, vec![positions], "scores")?;
        unpack(py, tables.require(seeds).or_raise()?, 1..seeds, results.get(), threads)?;
        results.finish(py)
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
        let shape = vec![row_count(self.opened.pits, seeds - mover), row_count(self.opened.pits, mover)];
        let mut results = Results::new(None, shape, "scores")?;
        unpack(py, tables.require(seeds).or_raise()?, mover..mover + 1, results.get(), threads)?;
        results.finish(py)
    }

    /// Returns all rows with `seeds` seeds in the order of ranks, as a uint8 array of shape (rows, pits).
    ///
    /// Raises MissingTableError if the tables do not reach this many seeds, OutOfMemoryError, or ArgumentError
    /// if no tables do.
    fn rows<'py>(&self, py: Python<'py>, seeds: Integer) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let seeds: usize = seeds.within("seeds", 0..=MAX_TABLE_SEEDS)?;
        let tables = self.opened.tables()?;
        if seeds > self.max_seeds {
            tables.require(seeds).or_raise()?;
        }
        let (index, pits) = (tables.rows(), self.opened.pits);
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
        let (Opened { rules, pits, .. }, max_seeds) = (&self.opened, self.max_seeds);
        let pits = count(*pits, "pit");
        let (directory, closed) = (self.directories.to_string(), if self.closed() { ", closed" } else { "" });
        format!("<kalah.Tables: {rules}, {pits}, to {max_seeds} seeds, in {directory:?}{closed}>")
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>, &'static str, usize, usize, bool, Option<Py<PyAny>>))> {
        self.opened.tables()?;
        let filesystem = self.elsewhere.filesystem(py);
        let directory = match (&filesystem, self.directories.single()) {
            (Some((_, directory)), _) => PyString::new(py, directory).into_any(),
            (None, Some(_)) => self.directory(py)?,
            (None, None) => self.directories(py)?.into_pyobject(py)?.into_any(),
        };
        let filesystem = filesystem.map(|(filesystem, _)| filesystem);
        let open = py.get_type::<Tables>().getattr("open")?;
        let Opened { rules, pits, .. } = &self.opened;
        Ok((open, (directory, rules.name(), *pits, self.asked_seeds, self.mapped, filesystem)))
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
