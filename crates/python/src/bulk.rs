//! Scores of many positions and of their moves, ranks, whole layers. Input and output are plain slices, without
//! Python.

use kalah::game::mover_score;
use kalah::index::{LayerIndex, RowIndex};
use kalah::isa::Isa;
use kalah::solve::{Board, Word};
use kalah::table::{RUN_MARGIN, Table, TableError, Tables, frame_in_parallel};
use rayon::prelude::*;

use crate::rows::{Reader, RowError, ScoreLocation, rows_at, total};

/// Number of positions that are located before the first of their scores is read, so that reads do not wait for
/// memory.
const BATCH: usize = 64;

/// Positions of a task. Up to this number are looked up on the calling thread.
pub(crate) const TASK: usize = 1 << 12;

/// Nothing, or an error of a position.
pub(crate) type Checked = Result<(), RowError>;

/// Marks an illegal move among scores.
pub(crate) const NO_MOVE: i8 = -1;

/// Looks up the scores of the positions in `seeds`, `2 pits` numbers each.
pub(crate) fn scores(reader: Reader<'_>, seeds: &[u8], scores: &mut [i8]) -> Checked {
    let (tables, pits) = (reader.tables, reader.tables.pits());
    in_tasks(seeds, 2 * pits, scores, 1, |seeds, scores| {
        let located = (0..scores.len()).filter_map(|position| {
            let (mover, other) = rows_at(seeds, position, pits);
            reader.locate(mover, other).ok()
        });
        request(tables, located)?;
        let mut places = [ScoreLocation::Over(0); BATCH];
        for (number, scores) in scores.chunks_mut(BATCH).enumerate() {
            let first = number * BATCH;
            for (position, place) in (first..first + scores.len()).zip(&mut places) {
                let (mover, other) = rows_at(seeds, position, pits);
                *place = reader.locate(mover, other)?;
                place.prefetch(tables);
            }
            for (score, place) in scores.iter_mut().zip(&places) {
                *score = place.score(tables)?;
            }
        }
        Ok(())
    })
}

/// Reads ahead, together, what these scores need from other machines. Does nothing for tables on this machine.
fn request(tables: &Tables, places: impl Iterator<Item = ScoreLocation>) -> Result<(), RowError> {
    if !tables.is_remote() {
        return Ok(());
    }
    Ok(tables.request_ranks(places.filter_map(|place| match place {
        ScoreLocation::Table { seeds, mover, ranks } => Some((seeds, (mover, ranks.0, ranks.1))),
        _ => None,
    }))?)
}

/// Does `task` with parts of the positions and their results, on all threads of the current pool. A few
/// positions are done on this thread, which need not be in a pool.
fn in_tasks(
    seeds: &[u8],
    width: usize,
    results: &mut [i8],
    results_each: usize,
    task: impl Fn(&[u8], &mut [i8]) -> Checked + Sync,
) -> Checked {
    if seeds.len() <= TASK * width {
        return task(seeds, results);
    }
    let pieces = seeds.par_chunks(TASK * width).zip(results.par_chunks_mut(TASK * results_each));
    pieces.try_for_each(|(seeds, results)| task(seeds, results))
}

/// A position after a move, and the data to convert its score to that of the player who moved.
struct Child {
    /// Index of the move among all results.
    result: usize,
    /// True if the player moves again.
    again: bool,
    /// Seeds stored by the move.
    stored: u8,
    /// Seeds in play before it.
    seeds: u8,
    place: ScoreLocation,
}

/// For each position in `seeds`, computes the mover's score after each move, `pits` numbers: [`NO_MOVE`] if it
/// is illegal. A position above the tables has the default result for each pit.
pub(crate) fn move_scores(reader: Reader<'_>, seeds: &[u8], scores: &mut [i8]) -> Checked {
    let pits = reader.tables.pits();
    in_tasks(seeds, 2 * pits, scores, pits, |seeds, scores| {
        scores.fill(NO_MOVE);
        let mut children = Vec::with_capacity((BATCH + 1) * pits);
        // Blocks of tables at an address are requested together.
        let batch = if reader.tables.is_remote() { usize::MAX } else { BATCH };
        let positions = seeds.len() / (2 * pits);
        for index in 0..positions {
            let (mover, other) = rows_at(seeds, index, pits);
            match reader.locate(mover, other)? {
                ScoreLocation::Over(_) => {}
                ScoreLocation::Above(default) => scores[index * pits..][..pits].fill(default),
                ScoreLocation::Table { seeds, .. } => {
                    add_children(reader, Board { mover, other }, seeds as u8, index * pits, &mut children)?;
                }
            }
            if children.len() < batch && index + 1 < positions {
                continue;
            }
            request(reader.tables, children.iter().map(|child: &Child| child.place))?;
            for child in children.drain(..) {
                let score = child.place.score(reader.tables)?;
                scores[child.result] = mover_score(child.again, child.stored, child.seeds, score as u8) as i8;
            }
        }
        Ok(())
    })
}

/// Adds the positions after the moves of a position with `seeds` in play and prefetches their scores.
fn add_children(
    reader: Reader<'_>,
    board: Board<u64>,
    seeds: u8,
    first: usize,
    children: &mut Vec<Child>,
) -> Result<(), RowError> {
    let Reader { tables, sower, .. } = reader;
    for pit in (0..tables.pits()).filter(|&pit| board.mover.seeds_in(pit) > 0) {
        let sown = sower.sow(board, pit);
        let again = sown.again && !sown.board.is_over();
        let next = if again { sown.board } else { sown.board.turned() };
        let place = reader.locate(next.mover, next.other)?;
        place.prefetch(tables);
        children.push(Child { result: first + pit, again, stored: sown.stored as u8, seeds, place });
    }
    Ok(())
}

/// Computes the ranks of the positions in `seeds` in their layer. An error names a position that is not in the
/// layer with `layer` seeds.
pub(crate) fn rank(index: &RowIndex, layer: usize, seeds: &[u8], ranks: &mut [i64]) -> Result<(), usize> {
    let layer_index = LayerIndex::new(index, layer);
    ranks.par_iter_mut().enumerate().try_for_each(|(number, rank)| {
        let (mover, other) = rows_at(seeds, number, index.pits());
        let (own, opposite) = (total(mover), total(other));
        if own == 0 || opposite == 0 || own + opposite != layer {
            return Err(number);
        }
        *rank = layer_index.rank(&mover.to_le_bytes(), &other.to_le_bytes()) as i64;
        Ok(())
    })
}

/// Writes the positions with these ranks in the layer with `layer` seeds to `seeds`. An error names a rank that
/// the layer does not have.
pub(crate) fn unrank(index: &RowIndex, layer: usize, ranks: &[i64], seeds: &mut [u8]) -> Result<(), usize> {
    let (pits, layer_index) = (index.pits(), LayerIndex::new(index, layer));
    seeds.par_chunks_exact_mut(2 * pits).zip(ranks).enumerate().try_for_each(|(number, (position, &rank))| {
        let rank = u64::try_from(rank).ok().filter(|&rank| rank < layer_index.positions()).ok_or(number)?;
        let (mover, other) = layer_index.unrank(rank);
        position[..pits].copy_from_slice(&mover[..pits]);
        position[pits..].copy_from_slice(&other[..pits]);
        Ok(())
    })
}

/// Unpacks the scores of the frame with `mover` seeds in the mover's row to `scores`, run after run.
pub(crate) fn unpack(table: &Table, mover: usize, scores: &mut [u8]) -> Result<(), TableError> {
    let (isa, seeds, packed) = (Isa::detect(), table.key().seeds, frame_in_parallel(table, mover)?);
    let run = packed.frame().mover_rows();
    let runs_each = (1usize << 16).div_ceil(run);
    scores.par_chunks_mut(runs_each * run).enumerate().try_for_each_init(Vec::new, |buffer, (number, scores)| {
        buffer.resize(run + 2 * RUN_MARGIN, 0u8);
        for (index, scores) in scores.chunks_exact_mut(run).enumerate() {
            let other = (number * runs_each + index) as u32;
            let unpacked = packed.unpack_run(isa, 0, other, run, buffer, RUN_MARGIN);
            unpacked.map_err(|group| table.damaged_group(group))?;
            scores.copy_from_slice(&buffer[RUN_MARGIN..][..run]);
            let most = scores.iter().copied().fold(0, u8::max);
            if usize::from(most) > seeds {
                let rank = scores.iter().position(|&score| score == most).unwrap_or(0);
                return Err(table.damaged_score(mover, rank as u32, other));
            }
        }
        Ok(())
    })
}
