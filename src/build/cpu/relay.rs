//! Relays of one mover's row against all other rows.

use std::sync::Arc;

use crate::index::{Frame, RowIndex, TableRow};
use crate::isa::Isa;
use crate::rows::{Ending, RankOffsets, RanksFrom, Relays, RowMaps, RowMove};
use crate::table::{FrameScores, RUN_MARGIN, Table, TableError};

/// A run is unpacked if at least one of so many of its scores is read; otherwise the scores are read one by one.
const UNPACKED_PER_READ: usize = 24;

/// The relays of a frame.
pub(super) struct FrameRelays<'a> {
    relays: &'a Relays,
    rows: &'a RowIndex,
    frame: Frame,
    movers: Arc<Vec<TableRow>>,
    /// By seeds and, varying faster, set of pits.
    fillings: Vec<Arc<Vec<RankOffsets>>>,
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct RelayScratch {
    endings: Vec<(Ending, u32)>,
    run: Vec<u8>,
}

/// The frames below a frame: see `FrameEvaluator`.
pub(super) trait Children<'a> {
    /// The frame with these seeds in the row to move and in the other; `None` if one of them has none.
    fn child(&self, mover: u8, other: u8) -> Option<(&'a Table, FrameScores<'a>)>;
}

impl<'a> FrameRelays<'a> {
    /// The relays of `frame`.
    pub fn new(relays: &'a Relays, maps: &'a RowMaps, frame: Frame) -> FrameRelays<'a> {
        let fillings = (0..=frame.other)
            .flat_map(|seeds| (0..1u8 << frame.pits).map(move |pits| (pits, seeds)))
            .map(|(pits, seeds)| {
                // At least one pit is met.
                if pits + 1 == 1 << frame.pits { Arc::default() } else { relays.fillings(pits, seeds) }
            })
            .collect();
        FrameRelays { relays, rows: maps.rows(), frame, movers: maps.all(frame.mover), fillings }
    }

    /// Raises `best`, the scores of the mover's row with rank `mover` against all other rows, by the relays from `pits`.
    pub fn apply(
        &self,
        isa: Isa,
        children: &impl Children<'a>,
        mover: u32,
        pits: impl Iterator<Item = usize>,
        best: &mut [u8],
        scratch: &mut RelayScratch,
    ) -> Result<(), TableError> {
        let RelayScratch { endings, run } = scratch;
        endings.clear();
        for pit in pits {
            let RowMove::Relay { own, spilled } =
                RowMove::new(self.relays.rules(), self.frame.pits, &self.movers[mover as usize], pit)
            else {
                unreachable!("a relay of the mover's row")
            };
            self.relays.endings(&own, usize::from(spilled), self.frame.other, &mut |ending| {
                endings.push((ending, self.rows.rank(&ending.own)));
            });
        }
        let total = (self.frame.mover + self.frame.other) as u8;
        let run_of = |(ending, own): &(Ending, u32)| (ending.again, ending.left, ending.opponent, *own);
        endings.sort_unstable_by_key(run_of);
        for group in endings.chunk_by(|a, b| run_of(a) == run_of(b)) {
            let (Ending { again, left, opponent, .. }, own) = group[0];
            let (to_move, other) = if again { (left, opponent) } else { (opponent, left) };
            match children.child(to_move, other) {
                // A row is empty: the game is over, and the opponent gets the seeds of the other row.
                None => group.iter().for_each(|(ending, _)| {
                    let (fillings, before, _) = self.ranks(ending);
                    for &filling in fillings {
                        raise(best, before.rank(filling), total - opponent);
                    }
                }),
                Some((table, scores)) if again => {
                    let stored = total - left - opponent;
                    for (ending, _) in group {
                        let (fillings, before, after) = self.ranks(ending);
                        for &filling in fillings {
                            let score = scores.score(own, after.rank(filling));
                            let score = score.map_err(|group| table.damaged_group(group))?;
                            raise(best, before.rank(filling), score.wrapping_add(stored));
                        }
                    }
                }
                Some((table, scores)) => {
                    self.pass(isa, group, &scores, total, best, run).map_err(|group| table.damaged_group(group))?;
                }
            }
        }
        Ok(())
    }

    /// Endings after which the opponent moves, all with the same rows of the mover and seeds of the opponent.
    fn pass(
        &self,
        isa: Isa,
        group: &[(Ending, u32)],
        scores: &FrameScores,
        total: u8,
        best: &mut [u8],
        run: &mut Vec<u8>,
    ) -> Result<(), crate::table::DamagedGroup> {
        let own = group[0].1;
        let (mut count, mut first, mut end) = (0, u32::MAX, 0);
        for (ending, _) in group {
            let (fillings, _, after) = self.ranks(ending);
            count += fillings.len();
            // Ranks ascend.
            first = first.min(after.rank(fillings[0]));
            end = end.max(after.rank(fillings[fillings.len() - 1]) + 1);
        }
        let len = (end - first) as usize;
        if count * UNPACKED_PER_READ < len {
            for (ending, _) in group {
                let (fillings, before, after) = self.ranks(ending);
                for &filling in fillings {
                    let score = scores.score(after.rank(filling), own)?;
                    raise(best, before.rank(filling), total.wrapping_sub(score));
                }
            }
            return Ok(());
        }
        if run.len() < len + 2 * RUN_MARGIN {
            run.resize(len + 2 * RUN_MARGIN, 0);
        }
        scores.unpack_run(isa, (first, own), len, run, RUN_MARGIN)?;
        let run = &run[RUN_MARGIN..RUN_MARGIN + len];
        for (ending, _) in group {
            let (fillings, before, after) = self.ranks(ending);
            for &filling in fillings {
                let score = run[(after.rank(filling) - first) as usize];
                raise(best, before.rank(filling), total.wrapping_sub(score));
            }
        }
        Ok(())
    }

    /// The other rows of an ending: the fillings, and the ranks with them before and after the move.
    #[inline]
    fn ranks(&self, ending: &Ending) -> (&[RankOffsets], RanksFrom<'_>, RanksFrom<'_>) {
        let sums = self.relays.sums();
        (
            &self.fillings[usize::from(ending.rest) << self.frame.pits | usize::from(ending.unmet)],
            sums.from(self.frame.other, ending.before),
            sums.from(usize::from(ending.opponent), ending.after),
        )
    }
}

#[inline(always)]
fn raise(best: &mut [u8], rank: u32, score: u8) {
    let best = &mut best[rank as usize];
    *best = (*best).max(score);
}
