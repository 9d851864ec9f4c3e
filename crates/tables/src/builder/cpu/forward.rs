//! Moves that lead to lower layers: one mover's row against all other rows.

use std::cell::RefCell;
use std::sync::Arc;

use kalah_base::progress::Pulse;
use kalah_core::game::Capture;
use kalah_core::index::{Frame, RankSet};
use kalah_core::isa::Isa;
use kalah_core::table::group::GROUP_POSITIONS;
use kalah_core::table::{RUN_MARGIN, SELECTED_MARGIN, TableError, Tables};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::kernels::{self, CAPTURE_MARGIN};
use super::read_queue::{Child, child};
use super::relay::{FrameRelays, RelayScratch};
use super::workspace::Evaluator;
use crate::builder::computer::lower_frames;
use crate::rows::{BoardRows, CaptureMap, Crossing, ForwardMove, Kind, Moves, SpillMap};

/// Other rows that are unpacked together when a frame is transposed.
const TRANSPOSED_ROWS: usize = 64;

/// Maximum groups of a run that are prefetched: all of a short run, the first ones of a long run.
const PREFETCH_LINES: usize = 16;

/// Runs that are prefetched for a capture: those with the fewest captured seeds, which are the
/// longest.
const PREFETCH_SEGMENTS: usize = 8;

/// Minimum bytes of relay scores for a task; a task has at least those of one crossing.
const CROSSED_BYTES: usize = 1 << 14;

/// Bytes that one task clears.
const CLEARED_BYTES: usize = 1 << 20;

/// Buffers of a thread.
#[derive(Default)]
struct Scratch {
    scores: Vec<u8>,
    /// Scores of some crossings: for each, a run against all other rows.
    crossed: Vec<u8>,
    relay: RelayScratch,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Evaluates the moves of one frame that lead to lower layers: each mover's row against all other
/// rows.
pub(super) struct FrameEvaluator<'a> {
    isa: Isa,
    /// The layers below.
    tables: &'a Tables,
    frame: Frame,
    moves: Arc<Moves>,
    /// Frames of lower layers that moves lead to. `children[left * (seeds in play) + opponent]` has
    /// `opponent` seeds in the row to move and `left` in the other row.
    children: Vec<Option<Child<'a>>>,
    /// The frame of the layer below with one seed fewer in the mover's row, transposed: for each
    /// mover's row, a run of scores against all other rows. It holds the children of most
    /// again-moves. Undefined if there is no such frame.
    again: &'a [u8],
    /// By seeds spilled into the other row.
    spills: Vec<Arc<SpillMap>>,
    /// By laps sown before the capture, then by pit.
    captures: Vec<Vec<Arc<CaptureMap>>>,
    /// The relays, except those that cross into an empty pit.
    relays: Option<FrameRelays<'a>>,
    /// For relays, by pit: 0xff for the other rows in which that pit is empty.
    empty: Vec<Arc<Vec<u8>>>,
}

impl<'a> FrameEvaluator<'a> {
    /// Makes an evaluator of `frame` with the layers below in `tables`.
    ///
    /// `again` is memory for the transposed frame with one seed fewer in the mover's row: a byte
    /// for each position.
    pub(super) fn new(
        evaluator: &'a Evaluator,
        tables: &'a Tables,
        frame: Frame,
        again: &'a mut [u8],
    ) -> Result<FrameEvaluator<'a>, TableError> {
        let Evaluator { isa, rows: BoardRows { rules, maps, .. }, relays } = evaluator;
        let Frame { pits, mover, other } = frame;
        let total = mover + other;
        if rules.moves_again() {
            unpack_transposed(*isa, tables, Frame { pits, mover: mover - 1, other }, again)?;
        }
        // A relay may also leave the mover more seeds than before.
        let most_left = if rules.relays() { total - 1 } else { mover };
        let mut children = vec![None; (most_left + 1) * total];
        for below in lower_frames(*rules, frame) {
            // Other frames are read only for moves after which the mover moves again.
            if below.other <= most_left {
                children[below.other * total + below.mover] = Some(child(tables, below)?);
            }
        }
        // One sowing spills at most what all the row's seeds in one pit would. A move with relays
        // within the mover's row may go around the board more often.
        let most_spilled = if rules.relays() { mover } else { pits * mover.div_ceil(2 * pits + 1) };
        let spills = (0..mover.min(most_spilled + 1)).map(|spilled| maps.spill(other, spilled)).collect();
        // A sowing of more seeds than places on the ring leaves no pit empty and captures nothing. Any
        // other captures before it reaches the other row, or after one lap of it. Reaching its own
        // row again takes at least pits + 2 seeds.
        let laps = match rules.capture() {
            Capture::Never => 0..0,
            Capture::OppositeSeeds | Capture::Always if mover < pits + 2 => 0..1,
            Capture::OppositeSeeds | Capture::Always => 0..2,
        };
        let captures = laps.map(|laps| (0..pits).map(|pit| maps.capture(other, pit, laps)).collect()).collect();
        let moves = evaluator.rows.moves(mover);
        let relays = relays.as_ref().map(|relays| FrameRelays::new(relays, maps.rows(), &moves, frame));
        let empty = relays.iter().flat_map(|_| (0..pits).map(|pit| maps.empty(other, pit))).collect();
        Ok(FrameEvaluator { isa: *isa, tables, frame, moves, children, again, spills, captures, relays, empty })
    }

    fn total(&self) -> usize {
        self.frame.mover + self.frame.other
    }

    /// Sets `runs` to the scores of relays: for each mover's row, a run against all other rows,
    /// with 0 where no relay exists.
    ///
    /// Does nothing for rules without relays.
    pub(super) fn evaluate_relays(&self, runs: &mut [u8], pulse: &Pulse) -> Result<(), TableError> {
        let Some(relays) = &self.relays else { return Ok(()) };
        let (others, crossings) = (runs.len() / self.frame.mover_rows(), relays.crossings());
        runs.par_chunks_mut(CLEARED_BYTES).for_each(|part| part.fill(0));
        // A row has several relays, which may be evaluated at the same time.
        let rows: Vec<Mutex<&mut [u8]>> = runs.chunks_exact_mut(others).map(Mutex::new).collect();
        let count = (CROSSED_BYTES / others).max(1);
        let tasks = crossings.all().par_chunks(count).with_min_len(1).with_max_len(1).enumerate();
        tasks.try_for_each(|(task, part)| {
            let evaluate = |scratch: &mut Scratch| {
                let Scratch { scores, crossed, relay } = scratch;
                grow(crossed, count * others);
                let crossed = &mut crossed[..part.len() * others];
                crossed.fill(0);
                for (crossing, best) in part.iter().zip(crossed.chunks_exact_mut(others)) {
                    self.relay_into_empty(crossing, best, scores)?;
                }
                relays.evaluate(self.isa, &self.children, part, crossed, relay)?;
                for (index, crossed) in (task * count..).zip(crossed.chunks_exact(others)) {
                    for &mover in crossings.movers(index) {
                        let mut best = rows[mover as usize].lock();
                        kernels::max(self.isa, &mut best, crossed);
                    }
                }
                Ok(())
            };
            pulse.check()?;
            SCRATCH.with_borrow_mut(evaluate)
        })
    }

    /// Sets `best` to the scores of the mover's row with rank `mover` against all other rows,
    /// considering only moves to lower layers. For rules with relays, raises the scores that
    /// [`FrameEvaluator::evaluate_relays`] has set.
    pub(super) fn forward(&self, mover: u32, best: &mut [u8]) -> Result<(), TableError> {
        for next in self.moves.forward(mover + 1) {
            self.prefetch(next);
        }
        if self.relays.is_none() {
            best.fill(0);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            self.moves.forward(mover).iter().try_for_each(|next| self.apply(next, best, &mut scratch.scores))
        })
    }

    /// Raises `best` by one move that is not a relay.
    fn apply(&self, next: &ForwardMove, best: &mut [u8], scores: &mut Vec<u8>) -> Result<(), TableError> {
        match next.kind {
            // The mover's row is empty: the game is over, and the remaining seeds belong to the
            // opponent.
            Kind::Again if next.left == 0 => best.iter_mut().for_each(|best| *best = (*best).max(next.stored)),
            Kind::Again if next.spilled == 0 => {
                let scores = &self.again[next.own as usize * best.len()..][..best.len()];
                kernels::max_after_again(self.isa, best, scores, next.stored);
            }
            Kind::Again => self.again_after_laps(next, best)?,
            Kind::Pass => {
                let scores = self.pass(next, best.len(), scores)?;
                kernels::max_after_pass(self.isa, best, scores, self.total() as u8);
            }
            Kind::Capture { pit, even_empty } => {
                self.capture(next, usize::from(pit), even_empty, best, scores)?;
            }
            Kind::Relay { .. } => {}
        }
        Ok(())
    }

    /// Scores of the positions, the opponent to move, after a turn that ends with seeds spilled.
    fn pass<'b>(&self, next: &ForwardMove, others: usize, scores: &'b mut Vec<u8>) -> Result<&'b [u8], TableError> {
        let spilled = usize::from(next.spilled);
        grow(scores, others + SELECTED_MARGIN);
        self.child_scores(next, self.frame.other + spilled, self.spills[spilled].selected(), scores)?;
        Ok(&scores[..others])
    }

    /// Unpacks scores of positions with `opponent` seeds in the row to move to the start of
    /// `scores`. The rows to move are the `selected` ones; the other row is the mover's row after
    /// the move. [`SELECTED_MARGIN`] more bytes are overwritten.
    ///
    /// If one of the rows is empty, the game is over, and the seeds belong to the owner of the
    /// other row.
    fn child_scores(
        &self,
        next: &ForwardMove,
        opponent: usize,
        selected: &RankSet,
        scores: &mut [u8],
    ) -> Result<(), TableError> {
        match self.children[usize::from(next.left) * self.total() + opponent] {
            Some((table, frame)) => {
                let unpacked = frame.unpack_selected(self.isa, next.own, selected, scores);
                unpacked.map_err(|group| table.damaged_group(group))
            }
            None => {
                assert!(next.left == 0 || opponent == 0, "a frame that a move leads to is missing: {next:?}");
                scores[..selected.len()].fill(opponent as u8);
                Ok(())
            }
        }
    }

    /// Prefetches the first data that [`FrameEvaluator::apply`] will read.
    #[inline]
    fn prefetch(&self, next: &ForwardMove) {
        let opponent = self.frame.other + usize::from(next.spilled);
        let segments = match next.kind {
            Kind::Again | Kind::Relay { .. } => 0,
            Kind::Pass => 1,
            Kind::Capture { .. } => PREFETCH_SEGMENTS,
        };
        for captured in 0..segments.min(opponent) {
            if let Some((_, scores)) = self.children[usize::from(next.left) * self.total() + opponent - captured] {
                scores.prefetch_run(0, next.own, PREFETCH_LINES);
            }
        }
    }

    /// Raises `best` by a capture. Reads the opponent's rows without the captured pit, for every
    /// number of seeds that it may have held.
    fn capture(
        &self,
        next: &ForwardMove,
        pit: usize,
        even_empty: bool,
        best: &mut [u8],
        scores: &mut Vec<u8>,
    ) -> Result<(), TableError> {
        let laps = usize::from(next.spilled) / self.frame.pits;
        let total = self.total() as u8;
        let map = &self.captures[laps][pit];
        grow(scores, map.rows() + CAPTURE_MARGIN);
        for (held, (remaining, places)) in map.remaining().iter().zip(map.segments()).enumerate() {
            let scores = &mut scores[places.start as usize..];
            let captured = held + laps;
            if captured > 0 || even_empty {
                // This also overwrites the start of the next segment, which is filled later.
                let opponent = self.frame.other + usize::from(next.spilled) - captured;
                self.child_scores(next, opponent, remaining, scores)?;
            } else {
                // No capture happens here. The opponent collects all seeds, so the mover's score is
                // 0, and another move decides.
                scores[..remaining.len()].fill(total);
            }
        }
        kernels::max_after_capture(self.isa, best, &scores[..map.rows() + CAPTURE_MARGIN], map, total);
        Ok(())
    }

    /// Raises `best` by a move that goes around the board and ends in the store. These are rare, so
    /// the children are read one by one.
    fn again_after_laps(&self, next: &ForwardMove, best: &mut [u8]) -> Result<(), TableError> {
        let left = usize::from(next.left);
        let spilled = usize::from(next.spilled);
        let below = Frame { pits: self.frame.pits, mover: left, other: self.frame.other + spilled };
        let (table, scores) = child(self.tables, below)?;
        for (best, &other) in best.iter_mut().zip(self.spills[spilled].ranks()) {
            let score = scores.score(next.own, other).map_err(|group| table.damaged_group(group))?;
            *best = (*best).max(score.saturating_add(next.stored));
        }
        Ok(())
    }

    /// Raises `best` by relays with this crossing against the rows in which the last seed falls
    /// into an empty pit and ends the turn.
    fn relay_into_empty(&self, crossing: &Crossing, best: &mut [u8], scores: &mut Vec<u8>) -> Result<(), TableError> {
        let &Crossing { left, own, spilled } = crossing;
        // After more than a lap no pit is empty.
        if usize::from(spilled) <= self.frame.pits {
            let next = ForwardMove { kind: Kind::Pass, own, left, stored: 0, spilled };
            let scores = self.pass(&next, best.len(), scores)?;
            let empty = &self.empty[usize::from(spilled) - 1];
            kernels::max_after_pass_masked(self.isa, best, scores, empty, self.total() as u8);
        }
        Ok(())
    }
}

fn grow<T: Default + Clone>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

/// Unpacks `frame` into `buffer`, transposed: for each mover's row, a run of scores against all
/// other rows.
///
/// Does nothing for a frame with an empty mover's row, which no table has.
fn unpack_transposed(isa: Isa, tables: &Tables, frame: Frame, buffer: &mut [u8]) -> Result<(), TableError> {
    if frame.mover == 0 {
        return Ok(());
    }
    let (table, scores) = child(tables, frame)?;
    let (movers, others) = (frame.mover_rows(), tables.rows().rows(frame.other));
    // Each task transposes, of all runs, the part that belongs to a few mover's rows.
    let task_rows = movers.div_ceil(64).clamp(TRANSPOSED_ROWS, 1024);
    let transpose = |task: usize, transposed: &mut [u8]| {
        let first = task * task_rows;
        let part = transposed.len() / others;
        let stride = part + 2 * RUN_MARGIN;
        let mut runs = vec![0; TRANSPOSED_ROWS * stride];
        for other in (0..others).step_by(TRANSPOSED_ROWS) {
            let count = TRANSPOSED_ROWS.min(others - other);
            for index in 0..count {
                // A part of a run is too short for the hardware prefetcher to detect the pattern.
                let later = other + index + TRANSPOSED_ROWS;
                if later < others {
                    scores.prefetch_run(first as u32, later as u32, part / GROUP_POSITIONS + 2);
                }
                let (rank, at) = ((other + index) as u32, index * stride + RUN_MARGIN);
                let unpacked = scores.unpack_run(isa, first as u32, rank, part, &mut runs, at);
                unpacked.map_err(|group| table.damaged_group(group))?;
            }
            kernels::transpose(isa, &runs[RUN_MARGIN..], stride, count, part, &mut transposed[other..], others);
        }
        Ok::<(), TableError>(())
    };
    let tasks = buffer.par_chunks_mut(task_rows * others).enumerate();
    tasks.try_for_each(|(task, transposed)| transpose(task, transposed))
}
