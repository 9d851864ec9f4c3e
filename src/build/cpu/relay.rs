//! Relays of one mover's row against all other rows.

use std::sync::Arc;

use super::lower::Child;
use super::reads::{Reads, Worth, raise};
use crate::index::{Frame, TableRow};
use crate::isa::Isa;
use crate::rows::{Ending, OffsetList, RanksFrom, Relays, RowMaps, RowMove};
use crate::table::{DamagedGroup, FrameScores, RUN_MARGIN, TableError};

/// An ending for at most so many other rows is evaluated without waiting for others that read the same run.
const FEW: usize = 8;

/// A run is unpacked if at least one of so many of its scores is read; otherwise the scores are read one by one.
const UNPACKED_PER_READ: usize = 64;

/// Score groups of a run that are prefetched.
const PREFETCH_LINES: usize = 4;

/// The relays of a frame.
pub(super) struct FrameRelays<'a> {
    relays: &'a Relays,
    frame: Frame,
    movers: Arc<Vec<TableRow>>,
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct RelayScratch {
    /// Endings for many other rows.
    many: Vec<(Source, Ending)>,
    /// The order in which these are evaluated: by source.
    order: Vec<(u64, u32)>,
    /// Of one relay.
    endings: Vec<Ending>,
    run: Vec<u8>,
}

/// Where the scores of an ending stand.
#[derive(Clone, Copy)]
struct Source {
    /// The index of the frame below.
    child: u16,
    /// Whether the mover moves again.
    again: bool,
    /// The rank of the mover's row.
    own: u32,
}

impl Source {
    /// A number that is the same for equal sources only.
    fn key(self) -> u64 {
        u64::from(self.child) << 33 | u64::from(self.again) << 32 | u64::from(self.own)
    }
}

/// The other rows of an ending: the fillings, and the ranks with them before and after the move.
#[derive(Clone, Copy)]
struct OtherRows<'a> {
    fillings: &'a OffsetList,
    before: RanksFrom<'a>,
    after: RanksFrom<'a>,
}

impl<'a> FrameRelays<'a> {
    /// The relays of `frame`.
    pub fn new(relays: &'a Relays, maps: &RowMaps, frame: Frame) -> FrameRelays<'a> {
        FrameRelays { relays, frame, movers: maps.all(frame.mover) }
    }

    fn total(&self) -> usize {
        self.frame.mover + self.frame.other
    }

    /// Raises `best`, the scores of the mover's row with rank `mover` against all other rows, by the relays from `pits`.
    ///
    /// `children[waiting * (seeds in play) + to move]` is the frame with these seeds in the row to move and the other one.
    pub fn apply(
        &self,
        isa: Isa,
        children: &'a [Option<Child<'a>>],
        mover: u32,
        pits: impl Iterator<Item = usize>,
        best: &mut [u8],
        scratch: &mut RelayScratch,
    ) -> Result<(), TableError> {
        let RelayScratch { many, order, endings, run } = scratch;
        many.clear();
        let mut reads = Reads::new(children);
        let rules = self.relays.rules();
        for pit in pits {
            let row_move = RowMove::new(rules, self.frame.pits, &self.movers[mover as usize], pit);
            let RowMove::Relay { own, spilled } = row_move else { unreachable!("the move is a relay") };
            endings.clear();
            self.relays.endings(&own, usize::from(spilled), self.frame.other, endings);
            for ending in &*endings {
                // Evaluated for all other rows at once where the first pit that is met is empty.
                if usize::from(spilled) > self.frame.pits || usize::from(ending.rest) < self.frame.other {
                    self.sort_out(children, ending, best, many, &mut reads);
                }
            }
            reads.read_many(best)?;
        }
        order.clear();
        order.extend(many.iter().zip(0..).map(|((source, _), index)| (source.key(), index)));
        order.sort_unstable();
        for same in order.chunk_by(|(a, _), (b, _)| a == b) {
            let endings = same.iter().map(|&(_, index)| &many[index as usize].1);
            let source = many[same[0].1 as usize].0;
            let (table, scores) = children[usize::from(source.child)].as_ref().expect("the game goes on");
            if !source.again {
                let unpacked = self.pass(isa, source, endings.clone(), scores, best, run);
                if unpacked.map_err(|group| table.damaged_group(group))? {
                    continue;
                }
            }
            for ending in endings {
                self.push_reads(scores, source, ending, self.other_rows(ending), &mut reads);
                reads.read_many(best)?;
            }
        }
        reads.read(best)
    }

    /// Evaluates an ending at which the game is over, and lists what others will read.
    #[inline]
    fn sort_out(
        &self,
        children: &'a [Option<Child<'a>>],
        ending: &Ending,
        best: &mut [u8],
        many: &mut Vec<(Source, Ending)>,
        reads: &mut Reads<'a>,
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
                before.each_of_both(before, fillings, |rank, _| raise(best, rank, self.total() as u8 - opponent));
            }
            Some((_, scores)) if fillings.offsets().len() <= FEW => {
                self.push_reads(scores, source, ending, others, reads);
            }
            Some((_, scores)) => {
                if !again {
                    scores.prefetch_run((after.rank(fillings.offsets()[0]), own), PREFETCH_LINES);
                }
                many.push((source, *ending));
            }
        }
    }

    /// Lists what an ending reads.
    #[inline(always)]
    fn push_reads(
        &self,
        scores: &FrameScores<'a>,
        source: Source,
        ending: &Ending,
        others: OtherRows,
        reads: &mut Reads<'a>,
    ) {
        let (Source { child, again, own }, total) = (source, self.total() as u8);
        let OtherRows { fillings, before, after } = others;
        if again {
            let worth = Worth::again(total - ending.left - ending.opponent);
            before
                .each_of_both(after, fillings, |rank, other| reads.push(child, scores.place(own, other), worth, rank));
        } else {
            let worth = Worth::pass(total);
            before
                .each_of_both(after, fillings, |rank, other| reads.push(child, scores.place(other, own), worth, rank));
        }
    }

    /// Evaluates endings after which the opponent moves, all with the same mover's row: if it pays, by unpacking the run of that
    /// row. Returns whether it did.
    fn pass<'b>(
        &self,
        isa: Isa,
        source: Source,
        endings: impl Iterator<Item = &'b Ending> + Clone,
        scores: &FrameScores,
        best: &mut [u8],
        run: &mut Vec<u8>,
    ) -> Result<bool, DamagedGroup> {
        let (mut count, mut first, mut end) = (0, u32::MAX, 0);
        for ending in endings.clone() {
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
        scores.unpack_run(isa, (first, source.own), len, run, RUN_MARGIN)?;
        let run = &run[RUN_MARGIN..RUN_MARGIN + len];
        for ending in endings {
            raise_all(best, self.other_rows(ending), run, first, self.total() as u8);
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

/// Raises `best` by the scores of a `run` that begins at rank `first`, after which the opponent moves.
#[inline(never)]
fn raise_all(best: &mut [u8], others: OtherRows, run: &[u8], first: u32, total: u8) {
    let OtherRows { fillings, before, after } = others;
    before.each_of_both(after, fillings, |rank, other| {
        let score = run[other.wrapping_sub(first) as usize];
        raise(best, rank, total.wrapping_sub(score));
    });
}
