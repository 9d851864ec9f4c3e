//! Relays against all other rows, from the point where they cross.

use kalah_core::index::{Frame, RowIndex};
use kalah_core::isa::Isa;
use kalah_core::table::{DamagedGroup, FrameScores, RUN_MARGIN, TableError};

use super::read_queue::{Child, ReadQueue, Worth, raise};
use crate::rows::{Crossing, Crossings, Ending, Moves, OffsetList, RanksFrom, Relays};

/// Endings for at most this many other rows are evaluated at once, without waiting for others that
/// read the same run.
const FEW: usize = 8;

/// A run is unpacked if at least one in this many of its scores is read. Otherwise the scores are
/// read one by one.
const UNPACKED_PER_READ: usize = 64;

/// Score groups of a run that are prefetched.
const PREFETCH_LINES: usize = 4;

pub(super) struct FrameRelays<'a> {
    relays: &'a Relays,
    rows: &'a RowIndex,
    frame: Frame,
    crossings: Crossings,
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct RelayScratch {
    /// Endings for many other rows, each with the place where the scores of its relay begin.
    many: Vec<(Source, u32, Ending)>,
    /// The order in which these are evaluated: by source.
    order: Vec<(u64, u32)>,
    /// The endings of one relay.
    endings: Vec<Ending>,
    run: Vec<u8>,
}

/// Location of the scores of an ending.
#[derive(Clone, Copy)]
struct Source {
    /// Index of the lower frame.
    child: u16,
    /// True if the mover moves again.
    again: bool,
    /// Rank of the mover's row.
    own: u32,
}

impl Source {
    /// A number that is equal only for equal sources.
    fn key(self) -> u64 {
        u64::from(self.child) << 33 | u64::from(self.again) << 32 | u64::from(self.own)
    }
}

/// The other rows of an ending: the fillings, with the row ranks before and after the move.
#[derive(Clone, Copy)]
struct OtherRows<'a> {
    fillings: &'a OffsetList,
    before: RanksFrom<'a>,
    after: RanksFrom<'a>,
}

impl<'a> FrameRelays<'a> {
    /// Lists the relays of `frame`, whose mover's rows have these `moves`.
    pub(super) fn new(relays: &'a Relays, rows: &'a RowIndex, moves: &Moves, frame: Frame) -> FrameRelays<'a> {
        FrameRelays { relays, rows, frame, crossings: Crossings::new(rows.rows(frame.mover), moves) }
    }

    /// Points where the relays cross.
    pub(super) fn crossings(&self) -> &Crossings {
        &self.crossings
    }

    fn total(&self) -> usize {
        self.frame.mover + self.frame.other
    }

    /// Raises `scores` (a run against all other rows for each of the `crossings`) by the scores of
    /// relays from that point on. Rows in which they crossed into an empty pit are left out.
    ///
    /// `children[waiting * (seeds in play) + to move]` is the frame with these seeds in the row to
    /// move and the other one.
    pub(super) fn evaluate(
        &self,
        isa: Isa,
        children: &'a [Option<Child<'a>>],
        crossings: &[Crossing],
        scores: &mut [u8],
        scratch: &mut RelayScratch,
    ) -> Result<(), TableError> {
        let RelayScratch { many, order, endings, run } = scratch;
        many.clear();
        let mut queue = ReadQueue::new(children);
        let others = self.rows.rows(self.frame.other);
        for (&Crossing { left, own, spilled }, at) in crossings.iter().zip((0..).step_by(others)) {
            let (own, spilled) = (self.rows.unrank(left.into(), own), usize::from(spilled));
            endings.clear();
            self.relays.endings(&own, spilled, self.frame.other, endings);
            for ending in &*endings {
                // Evaluated for all other rows at once where the first met pit is empty.
                if spilled > self.frame.pits || usize::from(ending.rest) < self.frame.other {
                    self.sort_out(children, ending, at, scores, many, &mut queue);
                }
            }
            queue.read_many(scores)?;
        }
        order.clear();
        order.extend(many.iter().zip(0..).map(|((source, ..), index)| (source.key(), index)));
        order.sort_unstable();
        for same in order.chunk_by(|(a, _), (b, _)| a == b) {
            let endings = same.iter().map(|&(_, index)| (many[index as usize].1, &many[index as usize].2));
            let source = many[same[0].1 as usize].0;
            let (table, child) = children[usize::from(source.child)].as_ref().expect("the game goes on");
            if !source.again {
                let unpacked = self.pass(isa, source, endings.clone(), child, scores, run);
                if unpacked.map_err(|group| table.damaged_group(group))? {
                    continue;
                }
            }
            for (at, ending) in endings {
                self.push_reads(child, source, at, ending, self.other_rows(ending), &mut queue);
                queue.read_many(scores)?;
            }
        }
        queue.read(scores)
    }

    /// Evaluates an ending at which the game is over, and lists the reads of all others. The scores
    /// of its relay begin at place `at` of `scores`.
    #[inline]
    fn sort_out(
        &self,
        children: &'a [Option<Child<'a>>],
        ending: &Ending,
        at: u32,
        scores: &mut [u8],
        many: &mut Vec<(Source, u32, Ending)>,
        queue: &mut ReadQueue<'a>,
    ) {
        let &Ending { again, left, opponent, own, .. } = ending;
        let (to_move, waiting) = if again { (left, opponent) } else { (opponent, left) };
        let child = usize::from(waiting) * self.total() + usize::from(to_move);
        let source = Source { child: child as u16, again, own };
        let others = self.other_rows(ending);
        let OtherRows { fillings, before, after } = others;
        match &children[child] {
            // A row is empty: the game is over, and the opponent gets the seeds of the other row.
            None => {
                before
                    .each_of_both(before, fillings, |rank, _| raise(scores, at + rank, self.total() as u8 - opponent));
            }
            Some((_, child)) if fillings.offsets().len() <= FEW => {
                self.push_reads(child, source, at, ending, others, queue);
            }
            Some((_, child)) => {
                if !again {
                    child.prefetch_run(after.rank(fillings.offsets()[0]), own, PREFETCH_LINES);
                }
                many.push((source, at, *ending));
            }
        }
    }

    #[inline(always)]
    fn push_reads(
        &self,
        scores: &FrameScores<'a>,
        source: Source,
        at: u32,
        ending: &Ending,
        others: OtherRows,
        queue: &mut ReadQueue<'a>,
    ) {
        let (Source { child, again, own }, total) = (source, self.total() as u8);
        let OtherRows { fillings, before, after } = others;
        if again {
            let worth = Worth::again(total - ending.left - ending.opponent);
            before.each_of_both(after, fillings, |rank, other| {
                queue.push(child, scores.place(own, other), worth, at + rank)
            });
        } else {
            let worth = Worth::pass(total);
            before.each_of_both(after, fillings, |rank, other| {
                queue.push(child, scores.place(other, own), worth, at + rank)
            });
        }
    }

    /// Evaluates endings after which the opponent moves, all with the same mover's row, by
    /// unpacking the run of that row if that is worthwhile. Returns true if it was.
    fn pass<'b>(
        &self,
        isa: Isa,
        source: Source,
        endings: impl Iterator<Item = (u32, &'b Ending)> + Clone,
        child: &FrameScores,
        scores: &mut [u8],
        run: &mut Vec<u8>,
    ) -> Result<bool, DamagedGroup> {
        let (mut count, mut first, mut end) = (0, u32::MAX, 0);
        for (_, ending) in endings.clone() {
            let OtherRows { fillings, after, .. } = self.other_rows(ending);
            let fillings = fillings.offsets();
            count += fillings.len();
            // Ranks ascend.
            first = first.min(after.rank(fillings[0]));
            end = end.max(after.rank(fillings[fillings.len() - 1]) + 1);
        }
        let len = (end - first) as usize;
        if count * UNPACKED_PER_READ < len {
            return Ok(false);
        }
        if run.len() < len + 2 * RUN_MARGIN {
            run.resize(len + 2 * RUN_MARGIN, 0);
        }
        child.unpack_run(isa, first, source.own, len, run, RUN_MARGIN)?;
        let run = &run[RUN_MARGIN..RUN_MARGIN + len];
        for (at, ending) in endings {
            raise_all(&mut scores[at as usize..], self.other_rows(ending), run, first, self.total() as u8);
        }
        Ok(true)
    }

    #[inline(always)]
    fn other_rows(&self, ending: &Ending) -> OtherRows<'_> {
        let sums = self.relays.sums();
        OtherRows {
            fillings: self.relays.fillings(ending.unmet, usize::from(ending.rest)),
            before: sums.from(self.frame.other, ending.before),
            after: sums.from(usize::from(ending.opponent), ending.after),
        }
    }
}

/// Raises `best` by the scores of a `run` that begins at rank `first`, with the opponent to move.
#[inline(never)]
fn raise_all(best: &mut [u8], others: OtherRows, run: &[u8], first: u32, total: u8) {
    let OtherRows { fillings, before, after } = others;
    before.each_of_both(after, fillings, |rank, other| {
        let score = run[other.wrapping_sub(first) as usize];
        raise(best, rank, total.wrapping_sub(score));
    });
}
