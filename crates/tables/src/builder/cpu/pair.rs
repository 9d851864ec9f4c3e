use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kalah_base::progress::Pulse;
use kalah_core::game::Capture;
use kalah_core::index::Frame;
use kalah_core::memory::prefetch_bytes;
use kalah_core::table::{TableError, Tables};
use rayon::prelude::*;

use super::forward::FrameEvaluator;
use super::kernels;
use super::workspace::Evaluator;
use super::workspace::{Block, PairSpace, Workspace, block_rows};
use crate::builder::computer::ComputeError;
use crate::rows::{BoardRows, Moves, QuietMove};

/// Bytes of work worth a separate task: the maximum where there is much work, and the minimum where
/// there is little for each thread.
const TASK_BYTES: usize = 1 << 14;
const SMALL_TASK_BYTES: usize = 1 << 11;

/// Bytes of work for each task of a step with `bytes` bytes: small enough that no thread waits long
/// for the last one.
fn task_bytes(bytes: usize) -> usize {
    (bytes / (4 * rayon::current_num_threads())).clamp(SMALL_TASK_BYTES, TASK_BYTES)
}

/// Prefetch distance, in rows, of scores that are read in short parts.
const PREFETCH_ROWS: usize = 8;
const PREFETCH_BYTES: usize = 512;

/// The scores of a pair of mirrored frames, in index order.
#[derive(Debug)]
pub struct PairScores<'a> {
    /// The frame in which the side with fewer seeds moves.
    pub small_moves: &'a [u8],
    /// The frame in which the side with more seeds moves. The same scores if the frame is its own
    /// mirror image.
    pub large_moves: &'a [u8],
}

/// Computes all positions in which one side's row has `small` seeds and the other's `large` >=
/// `small`.
///
/// The layers below must be in `tables`. Rows of the large side are processed level by level (see
/// [`kalah_core::index::RowIndex`]), since their quiet moves lead to rows of lower levels, which
/// are done. First the large side moves, against all rows of the small side. Then the small side
/// moves, and its quiet moves lead to positions just computed. All other moves lead to lower
/// layers.
///
/// # Errors
/// When a lower table is missing or damaged, there is not enough memory, or `pulse` was stopped.
pub fn compute_pair<'a>(
    evaluator: &Evaluator,
    tables: &Tables,
    small: usize,
    large: usize,
    workspace: &'a mut Workspace,
    pulse: &Pulse,
) -> Result<PairScores<'a>, ComputeError> {
    let space = workspace.divide(tables.pits(), &[(small, large)])?.pop().expect("memory for one pair");
    compute_pair_in(evaluator, tables, small, large, space, pulse)
}

/// [`compute_pair`] in a part of a workspace.
pub(super) fn compute_pair_in<'a>(
    evaluator: &Evaluator,
    tables: &Tables,
    small: usize,
    large: usize,
    space: PairSpace<'a>,
    pulse: &Pulse,
) -> Result<PairScores<'a>, ComputeError> {
    assert!(0 < small && small <= large);
    // `by_small` has the small side to move: for each of its rows, a run over the large side. Block
    // by block it is replaced by the scores with the large side to move, in the same order.
    // `by_large` has the small side to move: for each row of the large side, a run over the small
    // side.
    let PairSpace { by_small, by_large, again, block } = space;
    let rows = tables.rows();
    let frame = Frame { pits: tables.pits(), mover: small, other: large };
    let below = |frame: Frame| rows.rows(frame.mover - 1) * rows.rows(frame.other);
    pulse.check()?;
    let small_moves = FrameEvaluator::new(evaluator, tables, frame, &mut again[..below(frame)])?;
    forward_of_small(&small_moves, by_small, rows.rows(large), pulse)?;

    let mirrored = frame.mirrored();
    pulse.check()?;
    let large_moves = FrameEvaluator::new(evaluator, tables, mirrored, &mut again[..below(mirrored)])?;
    // Until a row is computed, its relay scores occupy the place of the scores with the other side
    // to move.
    large_moves.evaluate_relays(by_large, pulse)?;
    let levels = Levels::new(evaluator, large_moves, small, large);
    let block_rows = block_rows(levels.small_rows);
    for level in rows.level_bounds(large).windows(2) {
        let end = level[1] as usize;
        for start in (level[0] as usize..end).step_by(block_rows) {
            pulse.check()?;
            let rows = start..end.min(start + block_rows);
            levels.block(rows.clone(), by_small, by_large, block)?;
            let sides = if small == large { 1 } else { 2 };
            pulse.positions.fetch_add((rows.len() * levels.small_rows) as u64 * sides, Ordering::Relaxed);
        }
    }
    Ok(PairScores { small_moves: by_large, large_moves: by_small })
}

/// Sets `by_small` to the scores of the small side's moves to lower layers: for each of its rows, a
/// run over the `large_rows` rows of the large side.
fn forward_of_small(
    small_moves: &FrameEvaluator,
    by_small: &mut [u8],
    large_rows: usize,
    pulse: &Pulse,
) -> Result<(), TableError> {
    small_moves.evaluate_relays(by_small, pulse)?;
    let task_rows = task_bytes(by_small.len()).div_ceil(large_rows);
    by_small.par_chunks_mut(task_rows * large_rows).with_tasks_of(1).enumerate().try_for_each(|(task, runs)| {
        let mut rows = (task * task_rows..).zip(runs.chunks_exact_mut(large_rows));
        rows.try_for_each(|(row, best)| {
            pulse.check().map_err(TableError::from)?;
            small_moves.forward(row as u32, best)
        })
    })
}

/// A pair of frames level by level, in blocks of rows of the large side. The small side's moves to
/// lower layers are evaluated already.
struct Levels<'a> {
    evaluator: &'a Evaluator,
    large_moves: FrameEvaluator<'a>,
    small_rows: usize,
    large_rows: usize,
    small_quiet: QuietMoves,
    large_quiet: QuietMoves,
}

struct QuietMoves {
    moves: Arc<Moves>,
    masks: Masks,
}

impl<'a> Levels<'a> {
    fn new(evaluator: &'a Evaluator, large_moves: FrameEvaluator<'a>, small: usize, large: usize) -> Levels<'a> {
        let rows = evaluator.rows.maps.rows();
        let quiet = |own: usize, other: usize| QuietMoves {
            moves: evaluator.rows.moves(own),
            masks: evaluator.masks(other, small + large),
        };
        Levels {
            evaluator,
            large_moves,
            small_rows: rows.rows(small),
            large_rows: rows.rows(large),
            small_quiet: quiet(small, large),
            large_quiet: quiet(large, small),
        }
    }

    /// Computes a block of rows of one level.
    fn block(
        &self,
        rows: Range<usize>,
        by_small: &mut [u8],
        by_large: &mut [u8],
        block: &mut Block,
    ) -> Result<(), TableError> {
        let (count, small_rows) = (rows.len(), self.small_rows);
        let [to_move, transposed, waiting] = block.sized(count * small_rows);
        let (done, rest) = by_large.split_at_mut(rows.start * small_rows);
        let own = &mut rest[..count * small_rows];
        self.large_side(rows.start, done, own, to_move)?;
        self.transpose(to_move, small_rows, transposed, count);
        self.small_side(rows.start, count, transposed, waiting, by_small);
        self.transpose(waiting, count, own, small_rows);
        Ok(())
    }

    /// Sets `to_move` to the scores of the large side's rows from `first` on, with the large side
    /// to move. For rows before them, `done` has the scores with the small side to move. For these
    /// rows, `relays` has the scores of relays.
    fn large_side(&self, first: usize, done: &[u8], relays: &[u8], to_move: &mut [u8]) -> Result<(), TableError> {
        let (evaluator, small_rows) = (self.evaluator, self.small_rows);
        let QuietMoves { moves, masks } = &self.large_quiet;
        let task_rows = task_bytes(to_move.len()).div_ceil(small_rows);
        to_move.par_chunks_mut(task_rows * small_rows).with_tasks_of(1).enumerate().try_for_each(|(task, runs)| {
            for (row, best) in (task * task_rows..).zip(runs.chunks_exact_mut(small_rows)) {
                if evaluator.relays.is_some() {
                    best.copy_from_slice(&relays[row * small_rows..][..small_rows]);
                }
                let row = (first + row) as u32;
                self.large_moves.forward(row, best)?;
                for &quiet in moves.quiet(row) {
                    let scores = &done[quiet.own as usize * small_rows..][..small_rows];
                    evaluator.apply_quiet(quiet, best, scores, masks, 0);
                }
            }
            Ok(())
        })
    }

    /// Transposes rows of `columns` scores into `to`, where each run has `rows` scores.
    fn transpose(&self, from: &[u8], columns: usize, to: &mut [u8], rows: usize) {
        let chunk = (task_bytes(to.len()) / rows).max(1).next_multiple_of(16);
        to.par_chunks_mut(chunk * rows).with_tasks_of(1).enumerate().for_each(|(index, to)| {
            let (from, part) = (&from[index * chunk..], to.len() / rows);
            kernels::transpose(self.evaluator.isa, from, columns, rows, part, to, rows);
        });
    }

    /// Sets `waiting` to the scores with the small side to move against the `count` rows of the
    /// large side from `first` on. Replaces them in `by_small` by the scores with the large side to
    /// move, from `transposed`.
    fn small_side(&self, first: usize, count: usize, transposed: &[u8], waiting: &mut [u8], by_small: &mut [u8]) {
        let (evaluator, large_rows) = (self.evaluator, self.large_rows);
        let QuietMoves { moves, masks } = &self.small_quiet;
        let chunk = (task_bytes(waiting.len()) / count).max(1);
        let runs = by_small.par_chunks_mut(chunk * large_rows);
        waiting.par_chunks_mut(chunk * count).with_tasks_of(1).zip(runs).enumerate().for_each(
            |(index, (waiting, by_small))| {
                let rows = waiting.chunks_exact_mut(count).zip(by_small.chunks_exact_mut(large_rows));
                for (row, (best, by_small)) in (index * chunk..).zip(rows) {
                    // These scores are far apart: each row has them in another page.
                    let later = by_small.as_ptr().wrapping_add(PREFETCH_ROWS * large_rows + first);
                    prefetch_bytes(later, count.min(PREFETCH_BYTES));
                    let kept = &mut by_small[first..first + count];
                    best.copy_from_slice(kept);
                    for &quiet in moves.quiet(row as u32) {
                        let scores = &transposed[quiet.own as usize * count..][..count];
                        evaluator.apply_quiet(quiet, best, scores, masks, first);
                    }
                    kept.copy_from_slice(&transposed[row * count..][..count]);
                }
            },
        );
    }
}

/// Masks of the other rows, for quiet moves that depend on them.
struct Masks {
    total: u8,
    /// For each pit: 0xff for the other rows in which it is empty. Present only for rules that need
    /// it.
    empty: Vec<Arc<Vec<u8>>>,
}

/// Splits work into tasks of equal size. By default rayon splits work into about as many parts as
/// there are threads. Threads then wait for each other at the end of each of the many short steps.
trait EqualTasks: IndexedParallelIterator {
    /// Makes tasks of about `len` items each.
    fn with_tasks_of(self, len: usize) -> impl IndexedParallelIterator<Item = Self::Item> {
        self.with_min_len(len).with_max_len(len)
    }
}

impl<I: IndexedParallelIterator> EqualTasks for I {}

impl Evaluator {
    /// Masks of the rows with `other` seeds, in a layer with `total` seeds.
    fn masks(&self, other: usize, total: usize) -> Masks {
        let BoardRows { rules, maps, .. } = &self.rows;
        let pits = if rules.capture() == Capture::OppositeSeeds { maps.rows().pits() } else { 0 };
        Masks { total: total as u8, empty: (0..pits).map(|pit| maps.empty(other, pit)).collect() }
    }

    /// Raises `best`, the scores of one mover's row against the other rows from rank `first` on, by
    /// a quiet move. `scores` are those of its children, with the opponent to move.
    #[inline]
    fn apply_quiet(&self, quiet: QuietMove, best: &mut [u8], scores: &[u8], masks: &Masks, first: usize) {
        match quiet.only_if_empty {
            None => kernels::max_after_pass(self.isa, best, scores, masks.total),
            Some(pit) => {
                let mask = &masks.empty[usize::from(pit)][first..][..best.len()];
                kernels::max_after_pass_masked(self.isa, best, scores, mask, masks.total);
            }
        }
    }
}
