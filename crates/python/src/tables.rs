//! The class `Tables`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::cast_slice_mut;
use kalah::cancel::Cancel;
use kalah::game::Rules as GameRules;
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_frames, layer_positions as count_positions, table_row};
use kalah::remote::{Address, RemoteTables};
use kalah::solve::Sower;
use kalah::table::{Directory, ProbeError, Tables as OpenTables, check_in_parallel};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array::{positions, ranks, shaped, zeros};
use crate::bulk;
use crate::errors::python::{ArgumentError, MissingTableError, PositionError};
use crate::errors::{OrRaise, within};
use crate::position::Position;
use crate::remote;
use crate::results::{self, moves_dict};
use crate::rows::{Ranker, Reader};
use crate::rules::Rules;
use crate::sampling::{Part, Play, Sequence};
use crate::waiting::{pool, wait_for};

/// Number of positions that are looked up before Python handles signals.
const STEP: usize = 1 << 20;

/// Returns the number of positions of a layer: `seeds` in play, both rows non-empty. Ranks run from 0 to one
/// less.
///
/// Raises ArgumentError if there is no such layer.
#[pyfunction]
pub(crate) fn layer_positions(pits: i64, seeds: i64) -> PyResult<u64> {
    Ok(count_positions(within("pits", pits, 1..=MAX_TABLE_PITS)?, layer(seeds)?))
}

/// The seeds in play of a layer that tables can have.
fn layer(seeds: i64) -> PyResult<usize> {
    within("seeds", seeds, 2..=MAX_TABLE_SEEDS)
}

/// Open tables, and where they are from if they are at an address or in a file system.
#[derive(Clone)]
struct Open {
    tables: Arc<OpenTables>,
    remote: Option<RemoteTables>,
}

/// The part of `kalah.Tables` that reads tables.
#[pyclass(module = "kalah._kalah", frozen, subclass)]
pub(crate) struct Tables {
    /// `None` once they are closed.
    open: Mutex<Option<Open>>,
    /// Sows on boards with as many seeds as a table can have.
    sower: Sower<u64>,
    ranker: Ranker,
    pub(crate) rules: GameRules,
    pub(crate) pits: usize,
    max_seeds: usize,
    /// Path or address of the directory. That of closed tables holds on to nothing.
    name: PathBuf,
    in_filesystem: bool,
}

#[pymethods]
impl Tables {
    #[new]
    #[pyo3(signature = (path, rules, pits, max_seeds, mapped, filesystem))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        rules: Rules,
        pits: i64,
        max_seeds: i64,
        mapped: bool,
        filesystem: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Tables> {
        let (rules, pits) = (rules.0, within("pits", pits, 1..=MAX_TABLE_PITS)?);
        let max_seeds = within("max_seeds", max_seeds, 2..=MAX_TABLE_SEEDS)?;
        let address = path.to_str().filter(|text| Address::is_address(text));
        let remote = match (&filesystem, address) {
            (Some(files), _) => Some(remote::in_filesystem(py, files, (rules, pits))?),
            (None, Some(address)) => Some(remote::at_address(py, address, (rules, pits))?),
            (None, None) if path.exists() => None,
            (None, None) => {
                return Err(MissingTableError::new_err(format!("there is no directory {}", path.display())));
            }
        };
        let directory = remote.as_ref().map_or_else(|| Directory::from(path), RemoteTables::directory);
        let directory = if mapped { directory } else { directory.reading_files() };
        let open = || OpenTables::open(&directory, rules, pits, max_seeds);
        let tables = py.detach(open).or_raise()?;
        tables.require_all().or_raise()?;
        tables.require(2).or_raise()?;
        Ok(Tables {
            max_seeds: tables.max_seeds().unwrap_or(0),
            open: Mutex::new(Some(Open { tables: Arc::new(tables), remote })),
            sower: Sower::new(rules, pits, MAX_TABLE_SEEDS).expect("the board of tables"),
            ranker: Ranker::new(pits),
            rules,
            pits,
            name: directory.name().to_owned(),
            in_filesystem: filesystem.is_some(),
        })
    }

    /// Closes the files, and lets go of a file system, as soon as no call and no solver reads them. Closing again
    /// does nothing.
    fn close(&self, py: Python<'_>) {
        let closed = self.lock().take();
        py.detach(|| drop(closed));
    }

    /// True once the tables are closed.
    #[getter]
    fn closed(&self) -> bool {
        self.lock().is_none()
    }

    /// The directory, as an absolute path, or the address.
    #[getter]
    fn directory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.name.to_str() {
            Some(text) if Address::is_address(text) => Ok(PyString::new(py, text).into_any()),
            _ => Ok((&self.name).into_pyobject(py)?.into_any()),
        }
    }

    /// Bytes fetched so far from an address or a file system; 0 for tables on this machine and closed ones.
    #[getter]
    fn fetched(&self) -> u64 {
        self.lock().as_ref().and_then(|open| open.remote.as_ref()).map_or(0, RemoteTables::fetched)
    }

    /// The rule set.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules)
    }

    /// Pits a side.
    #[getter]
    fn pits(&self) -> usize {
        self.pits
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
        results::probe(py, self.rules, self.look_up(py, |tables| tables.probe(&position.0))?)
    }

    /// Returns the score: the number of seeds in play that the mover collects with best play. Raises as `probe`
    /// does.
    fn score(&self, py: Python<'_>, position: Position) -> PyResult<u32> {
        let Position(position) = position;
        self.look_up(py, |tables| {
            let is_there = position.pits() == self.pits && tables.layer(position.seeds() as usize).is_some();
            match (table_row(position.mover()), table_row(position.other())) {
                (Some(mover), Some(other)) if is_there => Ok(tables.score_rows(&mover, &other)?.into()),
                _ => tables.score(&position),
            }
        })
    }

    /// Returns the mover's score after each legal move, seeds stored by the move included: a dict with numbers
    /// of pits from 1 as keys. Raises as `probe` does.
    fn move_scores<'py>(&self, py: Python<'py>, position: Position) -> PyResult<Bound<'py, PyDict>> {
        moves_dict(py, self.look_up(py, |tables| tables.move_scores(&position.0))?)
    }

    /// Compares all tables with their checksums. Raises DamagedTableError.
    #[pyo3(signature = (*, threads = None))]
    fn check(&self, py: Python<'_>, threads: Option<u16>) -> PyResult<()> {
        let (tables, pool, cancel) = (self.tables()?, pool(threads)?, Cancel::new());
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
    /// Always releases the interpreter's lock. `threads` is the number of cores by default. Raises
    /// MissingTableError, DamagedTableError, PositionError (for another shape, or more than 48 seeds in play),
    /// OutOfMemoryError, or TypeError (no array of integers).
    #[pyo3(signature = (positions, *, default = None, threads = None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        default: Option<i8>,
        threads: Option<u16>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.of_rows(py, positions, None, default, threads, bulk::scores)
    }

    /// Returns the mover's scores after all moves of many positions, as an int8 array of shape (n, pits).
    /// Column i is the move of pit i + 1; -1 means that it is illegal. Arguments and exceptions are those of
    /// `scores`.
    #[pyo3(signature = (positions, *, default = None, threads = None))]
    fn scores_of_moves<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        default: Option<i8>,
        threads: Option<u16>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        self.of_rows(py, positions, Some(self.pits), default, threads, bulk::move_scores)
    }

    /// Draws positions. `part` is True for the part for tests, False for the rest.
    #[pyo3(signature = (n, seeds, seed, part, test, play, start, threads))]
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn _sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seeds: i64,
        seed: u64,
        part: Option<bool>,
        test: f64,
        play: bool,
        start: Option<Position>,
        threads: Option<u16>,
    ) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, Bound<'py, PyArrayDyn<i8>>)> {
        let (tables, seeds, width) = (self.tables()?, layer(seeds)?, 2 * self.pits);
        tables.require(seeds).or_raise()?;
        let wanted = Part::new(part == Some(true), test)?;
        let part = part.map(|_| wanted);
        let start = start.map(|start| start.0);
        let play = play.then(|| Play::new(self.rules, self.pits, seeds, start)).transpose()?;
        let sequence = Sequence::new(tables.rows(), seeds, seed, part, play)?;
        let mut positions = zeros::<u8>(&[n, width], "pits of positions")?;
        let mut scores = zeros::<i8>(&[n], "scores")?;
        let (pool, cancel, reader) = (pool(threads)?, Cancel::new(), self.reader(&tables, None));
        for (number, (positions, scores)) in positions.chunks_mut(STEP * width).zip(scores.chunks_mut(STEP)).enumerate()
        {
            let work = || {
                pool.install(|| {
                    sequence.draw(number * STEP, positions, &cancel)?;
                    bulk::scores(reader, positions, scores).or_raise()
                })
            };
            // A million games take seconds.
            match sequence.play {
                Some(_) => wait_for(py, work, &cancel, |_| Ok(()))?,
                None => py.detach(work),
            }?;
            py.check_signals()?;
        }
        Ok((shaped(py, positions, &[n, width])?, shaped(py, scores, &[n])?))
    }

    /// Returns the positions of the layer with `seeds` seeds in play that have these ranks (integers in an array or
    /// list), 0 to `layer_positions(pits, seeds)` - 1, as a uint8 array of shape (n, 2 x pits).
    ///
    /// Raises OutOfMemoryError, or ArgumentError for a rank that the layer does not have.
    #[pyo3(signature = (seeds, ranks, *, threads = None))]
    fn unrank<'py>(
        &self,
        py: Python<'py>,
        seeds: i64,
        ranks: &Bound<'py, PyAny>,
        threads: Option<u16>,
    ) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let (seeds, given) = (layer(seeds)?, self::ranks(ranks)?);
        let (ranks, pool) = (given.get(), pool(threads)?);
        let shape = [given.shape(), &[2 * self.pits]].concat();
        let mut positions = zeros(&shape, "pits of positions")?;
        let index = &self.ranker.index;
        let unranked = py.detach(|| pool.install(|| bulk::unrank(index, seeds, ranks, &mut positions)));
        unranked.map_err(|row| {
            let count = count_positions(self.pits, seeds);
            ArgumentError::new_err(format!(
                "rank {} is out of range: the layer with {seeds} seeds has {count} positions",
                ranks[row]
            ))
        })?;
        shaped(py, positions, &shape)
    }

    /// Returns the ranks of positions in the layer with `seeds` seeds in play: an int64 array of shape (n,).
    /// They are indices of the array that `layer` returns.
    ///
    /// Raises OutOfMemoryError, or PositionError for a position that is not in the layer. A position with an empty
    /// row is in no layer.
    #[pyo3(signature = (seeds, positions, *, threads = None))]
    fn rank<'py>(
        &self,
        py: Python<'py>,
        seeds: i64,
        positions: &Bound<'py, PyAny>,
        threads: Option<u16>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
        let (seeds, given) = (layer(seeds)?, self::positions(positions, self.pits)?);
        let (pool, rows, mut ranks) = (pool(threads)?, given.get(), zeros(given.axes(), "ranks")?);
        let index = &self.ranker.index;
        let ranked = py.detach(|| pool.install(|| bulk::rank(index, seeds, rows, &mut ranks)));
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
    fn layer<'py>(&self, py: Python<'py>, seeds: i64, threads: Option<u16>) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, seeds) = (self.tables()?, layer(seeds)?);
        let (table, pool) = (tables.require(seeds).or_raise()?, pool(threads)?);
        let shape = [usize::try_from(count_positions(self.pits, seeds)).unwrap_or(usize::MAX)];
        // The threads that unpack are the first to touch this memory.
        let mut scores = zeros::<i8>(&shape, "scores")?;
        let mut rest = &mut *scores;
        for frame in layer_frames(self.pits, seeds) {
            let (own, after) = rest.split_at_mut(frame.positions() as usize);
            rest = after;
            py.detach(|| pool.install(|| bulk::unpack(table, frame.mover, cast_slice_mut(own)))).or_raise()?;
            py.check_signals()?;
        }
        shaped(py, scores, &shape)
    }
}

/// Computes results for the positions in a slice.
type Compute = fn(Reader<'_>, &[u8], &mut [i8]) -> bulk::Checked;

impl Tables {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> PyResult<Open> {
        self.lock().clone().ok_or_else(|| ArgumentError::new_err("these tables are closed: open them again"))
    }

    /// The open tables.
    pub(crate) fn tables(&self) -> PyResult<Arc<OpenTables>> {
        self.opened().map(|open| open.tables)
    }

    /// The reader for lookups in `tables`, with a result for positions above them.
    fn reader<'t>(&'t self, tables: &'t OpenTables, default: Option<i8>) -> Reader<'t> {
        Reader { tables, ranker: &self.ranker, sower: &self.sower, default }
    }

    /// Does `work`, a lookup of one position, without the interpreter's lock. Ctrl-C ends its waits for servers. Python
    /// itself interrupts a file system, which therefore is called in this thread.
    fn look_up<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&OpenTables) -> Result<T, ProbeError> + Send,
    ) -> PyResult<T> {
        let Open { tables, remote } = self.opened()?;
        let work = || work(&tables);
        let found = match remote.filter(|_| !self.in_filesystem) {
            None => py.detach(work),
            Some(remote) => {
                wait_for(py, work, &Cancel::new(), |py| py.check_signals().inspect_err(|_| remote.interrupt()))?
            }
        };
        found.or_raise()
    }

    /// The results of `compute` for an array of positions: one for each position, or `each` in a new last axis.
    /// Positions above the tables get `default`, if that is given.
    fn of_rows<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        each: Option<usize>,
        default: Option<i8>,
        threads: Option<u16>,
        compute: Compute,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, given) = (self.tables()?, self::positions(positions, self.pits)?);
        let (seeds, width, reader) = (given.get(), 2 * self.pits, self.reader(&tables, default));
        let shape: Vec<usize> = given.axes().iter().copied().chain(each).collect();
        let (mut found, each) = (zeros(&shape, "results")?, each.unwrap_or(1));
        if seeds.len() <= bulk::TASK * width {
            py.detach(|| compute(reader, seeds, &mut found)).or_raise()?;
            return shaped(py, found, &shape);
        }
        let pool = pool(threads)?;
        for (seeds, found) in seeds.chunks(STEP * width).zip(found.chunks_mut(STEP * each)) {
            py.detach(|| pool.install(|| compute(reader, seeds, found))).or_raise()?;
            py.check_signals()?;
        }
        shaped(py, found, &shape)
    }
}
