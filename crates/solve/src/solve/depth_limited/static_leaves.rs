use super::findings::{Finding, Findings, Window};
use crate::solve::ends::Ends;
use crate::solve::evaluation::{MoveScore, SEED, StaticEvaluation, mover_evaluation, select};
use crate::solve::packed::{Board, MoveList, Sower, Sown, Word};

/// Larger than any evaluation.
pub(crate) const LIMIT: i32 = i32::MAX / 4;

/// Nodes between two readings of the clock; with their moves they take a fraction of a millisecond.
const CHECK_INTERVAL: u32 = 1 << 8;

/// Number of turns from which on moves are also sorted by their static evaluations.
const SORTED_TURNS: u32 = 2;

/// Depth-limited search with static evaluations at its leaves: alpha-beta without tables or proved bounds.
pub(crate) struct StaticSearch<'a, W> {
    pub sower: &'a Sower<W>,
    pub evaluation: &'a StaticEvaluation,
    /// Limits that stop a deeper search.
    pub ends: Ends<'a>,
}

impl<W: Word> StaticSearch<'_, W> {
    /// Evaluates `board`, with `seeds` seeds in play, to a depth of `turns` turns. The evaluation is of the
    /// seeds that its mover collects, in sixteenths of a seed; outside the window it is a bound (fail-soft).
    ///
    /// A sufficient finding in `findings` replaces the search. Each node decrements [`Findings::left`]; at 0
    /// the remaining leaves get static evaluations. An interruption sets it to 0.
    pub(crate) fn search(
        &self,
        board: Board<W>,
        seeds: u32,
        turns: u32,
        window: Window,
        findings: &mut Findings,
    ) -> i32 {
        if board.is_over() {
            return SEED * board.mover.total() as i32;
        }
        if turns == 0 || findings.left == 0 {
            return self.evaluation.of(board, seeds);
        }
        findings.left -= 1;
        if findings.left.is_multiple_of(CHECK_INTERVAL) && self.ends.is_reached() {
            findings.left = 0;
            return self.evaluation.of(board, seeds);
        }
        let hash = hash(board);
        let found = findings.get(hash);
        let Window { mut low, high } = match found.filter(|found| found.turns >= turns) {
            Some(found) => match found.narrow(window) {
                Ok(window) => window,
                Err(evaluation) => return evaluation,
            },
            None => window,
        };
        let first = found.map(|found| found.pit);
        let lowest = low;
        let (mut best, mut best_pit) = (-LIMIT, 0);
        let mut moves = W::Moves::<(i32, usize, Sown<W>)>::default();
        for pit in (0..self.sower.pits()).rev().filter(|pit| board.mover.seeds_in(*pit) != 0) {
            let sown = self.sower.sow(board, pit);
            let Sown { stored, again, .. } = sown;
            let static_evaluation = |findings: &mut Findings| {
                let rest = seeds - stored;
                mover_evaluation(again, stored, rest, self.search(sown.next(), rest, 0, Window { low, high }, findings))
            };
            if turns == 1 && !again {
                // Only above leaves: sorting the moves to leaves costs as much as evaluating them.
                let evaluation = static_evaluation(findings);
                if evaluation > best {
                    (best, best_pit) = (evaluation, pit);
                    if best >= high {
                        break;
                    }
                }
                continue;
            }
            let score = if Some(pit) == first {
                LIMIT
            } else {
                let more = if turns >= SORTED_TURNS { static_evaluation(findings) } else { 0 };
                MoveScore::bonus(pit, again, stored, sown.next()) + more
            };
            moves.push((score, pit, sown));
        }
        low = low.max(best);
        for index in 0..moves.len() {
            if low >= high {
                break;
            }
            select(&mut moves[index..], |&(score, ..)| score);
            let (_, pit, sown) = moves[index];
            let Sown { stored, again, .. } = sown;
            let rest = seeds - stored;
            let window = Window { low, high }.after(again, stored, seeds);
            let next = self.search(sown.next(), rest, turns - u32::from(!again), window, findings);
            let evaluation = mover_evaluation(again, stored, rest, next);
            if evaluation > best {
                (best, best_pit) = (evaluation, pit);
                low = low.max(best);
            }
        }
        if findings.left > 0 {
            let (at_least, at_most) = (best > lowest, best < high);
            findings.put(hash, Finding { evaluation: best, turns, at_least, at_most, pit: best_pit });
        }
        best
    }
}

/// A hash of the board. The upper bits select an entry of [`Findings`], the lower bits are stored in it.
#[inline]
fn hash<W: Word>(board: Board<W>) -> u64 {
    let rows = board.mover.wrapping_mul(W::SPREAD[0]).folded() ^ board.other.folded().rotate_left(7);
    let mixed = rows.wrapping_mul(u64::SPREAD[1]);
    (mixed ^ mixed >> 32).wrapping_mul(u64::SPREAD[0])
}
