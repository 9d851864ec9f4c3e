//! Open tables, and the work of the methods of `Tables`.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::cast_slice_mut;
use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions as count_positions, table_row};
use kalah::solve::Sower;
use kalah::table::{ProbeError, Table, Tables as OpenTables};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::argument::Integer;
use crate::array::{positions, shaped, zeros};
use crate::bulk;
use crate::errors::python::ArgumentError;
use crate::errors::{OrRaise, ToPython};
use crate::rows::{Ranker, Reader};
use crate::sampling::{Source, Wish, draw};
use crate::waiting::{ThreadsArgument, pool, wait_for};

/// Number of positions that are looked up before Python handles signals.
const STEP: usize = 1 << 20;

/// Returns the number of positions of a layer: `seeds` in play, both rows non-empty. Ranks run from 0 to one
/// less.
///
/// Raises ArgumentError if there is no such layer.
#[pyfunction]
pub(crate) fn layer_positions(pits: Integer, seeds: Integer) -> PyResult<u64> {
    Ok(count_positions(pits.within("pits", 1..=MAX_TABLE_PITS)?, seeds.within("seeds", 2..=MAX_TABLE_SEEDS)?))
}

/// The score of a position.
pub(crate) fn score(tables: &OpenTables, position: &Position) -> Result<u32, ProbeError> {
    let is_there = position.pits() == tables.pits() && tables.layer(position.seeds() as usize).is_some();
    if is_there && let (Some(mover), Some(other)) = (table_row(position.mover()), table_row(position.other())) {
        return Ok(tables.score_rows(&mover, &other)?.into());
    }
    // A finished game, or an error.
    let moves = tables.move_scores(position)?;
    Ok(moves.iter().map(|&(_, score)| score).max().unwrap_or_else(|| position.mover().total()))
}

/// The scores of these frames of a layer, one after the other, in an array of this `shape`. The threads that unpack are
/// the first to touch its memory.
pub(crate) fn unpack<'py>(
    py: Python<'py>,
    table: &Table,
    movers: Range<usize>,
    shape: &[usize],
    threads: Option<ThreadsArgument>,
) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
    let (pool, key, mut scores) = (pool(threads)?, table.key(), zeros::<i8>(shape, "scores")?);
    let mut rest = &mut *scores;
    for mover in movers {
        let frame = Frame { pits: key.pits, mover, other: key.seeds - mover };
        let (own, after) = rest.split_at_mut(frame.positions() as usize);
        rest = after;
        py.detach(|| pool.install(|| bulk::unpack(table, mover, cast_slice_mut(own)))).or_raise()?;
        py.check_signals()?;
    }
    shaped(py, scores, shape)
}

/// Computes results for the positions in a slice.
type Compute = fn(Reader<'_>, &[u8], &mut [i8]) -> bulk::Checked;

/// Tables of one rule set and number of pits until they are closed, and what lookups in them need.
pub(crate) struct Opened {
    /// `None` once they are closed.
    open: Mutex<Option<Arc<OpenTables>>>,
    /// Sows on boards with as many seeds as a table can have.
    sower: Sower<u64>,
    ranker: Ranker,
    pub(crate) rules: Rules,
    pub(crate) pits: usize,
}

impl Opened {
    /// Wraps open tables.
    pub(crate) fn new(tables: OpenTables) -> Opened {
        let (rules, pits) = (tables.rules(), tables.pits());
        Opened {
            open: Mutex::new(Some(Arc::new(tables))),
            sower: Sower::new(rules, pits, MAX_TABLE_SEEDS).expect("the board of tables"),
            ranker: Ranker::new(pits),
            rules,
            pits,
        }
    }

    /// The open tables, or `None` if they are closed.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Arc<OpenTables>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open tables.
    pub(crate) fn tables(&self) -> PyResult<Arc<OpenTables>> {
        self.lock().clone().ok_or_else(|| ArgumentError::new_err("these tables are closed: open them again"))
    }

    /// The reader for lookups in `tables`, with a result for positions above them.
    pub(crate) fn reader<'t>(&'t self, tables: &'t OpenTables, default: Option<i8>) -> Reader<'t> {
        Reader { tables, ranker: &self.ranker, sower: &self.sower, default }
    }

    /// The open tables and the layer with this many seeds in play, if it is among them.
    pub(crate) fn layer_of(&self, seeds: Integer) -> PyResult<(Arc<OpenTables>, usize)> {
        let (tables, seeds) = (self.tables()?, seeds.within("seeds", 2..=MAX_TABLE_SEEDS)?);
        tables.require(seeds).or_raise()?;
        Ok((tables, seeds))
    }

    /// The results of `compute` for an array of positions: one for each position, or `each` in a new last axis.
    /// Positions above the tables get `default`, if that is given.
    pub(crate) fn of_rows<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        each: Option<usize>,
        default: Option<Integer>,
        threads: Option<ThreadsArgument>,
        compute: Compute,
    ) -> PyResult<Bound<'py, PyArrayDyn<i8>>> {
        let (tables, given) = (self.tables()?, self::positions(positions, self.pits)?);
        let default = default.map(|default| default.within("default", i8::MIN..=i8::MAX)).transpose()?;
        let (seeds, width, reader) = (given.get(), 2 * self.pits, self.reader(&tables, default));
        let shape: Vec<usize> = given.axes().iter().copied().chain(each).collect();
        let (mut found, each) = (zeros(&shape, "results")?, each.unwrap_or(1));
        if seeds.len() <= bulk::TASK * width {
            py.detach(|| compute(reader, seeds, &mut found)).or_raise()?;
            return shaped(py, found, &shape);
        }
        let pool = pool(threads)?;
        for (number, (seeds, found)) in seeds.chunks(STEP * width).zip(found.chunks_mut(STEP * each)).enumerate() {
            let computed = py.detach(|| pool.install(|| compute(reader, seeds, found)));
            computed.map_err(|(row, error)| (number * STEP + row, error)).or_raise()?;
            py.check_signals()?;
        }
        shaped(py, found, &shape)
    }

    /// Draws `n` positions, and looks up their scores.
    #[allow(clippy::type_complexity)]
    pub(crate) fn drawn<'py>(
        &self,
        py: Python<'py>,
        tables: &OpenTables,
        n: usize,
        wish: &Wish,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, Bound<'py, PyArrayDyn<i8>>)> {
        let (index, layer, width, reader) = (tables.rows(), wish.layer, 2 * self.pits, self.reader(tables, None));
        let mut positions = zeros::<u8>(&[n, width], "pits of positions")?;
        let (mut scores, mut ranks) = (zeros::<i8>(&[n], "scores")?, zeros::<i64>(&[n.min(STEP)], "ranks")?);
        let (pool, source) = (pool(threads)?, Source::new(self.rules, index, n, wish)?);
        let (cancel, mut first) = (Cancel::new(), wish.offset);
        for (positions, scores) in positions.chunks_mut(STEP * width).zip(scores.chunks_mut(STEP)) {
            let ranks = &mut ranks[..scores.len()];
            let work = || {
                pool.install(|| {
                    draw(&source, index, layer, first, ranks, positions, &cancel)?;
                    bulk::scores(reader, positions, scores).map_err(ToPython::to_python)
                })
            };
            // A million games take seconds.
            match source {
                Source::Play(_) => wait_for(py, work, &cancel, |_| Ok(()))?,
                _ => py.detach(work),
            }?;
            first = first.wrapping_add(scores.len() as u64);
            py.check_signals()?;
        }
        Ok((shaped(py, positions, &[n, width])?, shaped(py, scores, &[n])?))
    }
}
