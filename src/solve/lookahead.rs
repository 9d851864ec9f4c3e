use super::board::{Board, Sower, Sown};
use super::estimate::{Estimate, SEED};
use super::expansion::Child;
use super::order::{Promise, collects, select};
use super::word::{Moves, Word};

/// Seeds above the tables from which it pays to look ahead before the moves are ordered.
const LEAST_ABOVE: u32 = 17;

/// So many seeds more, one turn more.
const TURN: u32 = 3;

/// The most turns to look ahead.
const MOST_TURNS: u32 = 8;

/// The same without tables: with estimates that learned nothing more turns cost more than the nodes they save
/// (docs/measurements.md).
const MOST_TURNS_UNTAUGHT: u32 = 2;

/// Where every move falls short by more than this, all will fail in whatever order: so much, and so much for each seed
/// beyond [`LEAST_ABOVE`].
const HOPELESS: (i32, i32) = (3 * SEED, SEED);

/// A first move that promises more than is needed by this stays the first.
const SAFE: (i32, i32) = (2 * SEED, 2 * SEED);

/// Moves worse than the best so far by this are not told apart.
const CLOSE: i32 = 4 * SEED;

/// Beyond any estimate.
pub(super) const LIMIT: i32 = i32::MAX / 4;

/// Positions that are looked at before moves are ordered, at the most. Turns of the relay rule have dozens of moves.
const ORDER_POSITIONS: u32 = 100_000;

/// Positions between two looks at the clock; with their moves they take a fraction of a millisecond.
const ASK_EVERY: u32 = 1 << 8;

/// Looks some turns ahead with estimates alone: alpha-beta without any memory.
pub(super) struct Lookahead<'a, W> {
    pub sower: &'a Sower<W>,
    pub estimate: &'a Estimate,
    /// Tells whether to look no farther.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl<W: Word> Lookahead<'_, W> {
    /// Orders the moves of a position with `seeds` seeds in play, `above` the tables, in which the mover is tested to
    /// collect `score`.
    ///
    /// High above the tables one wrong first move costs whole subtrees; near them a look costs as much as the search. Where
    /// the order cannot matter, or the first move is clear, nothing is done. Returns how many positions it looked at, or
    /// might have when it was interrupted.
    #[inline]
    pub fn order(&self, children: &mut [Child<W>], seeds: u32, above: u32, score: u32) -> u32 {
        if above >= LEAST_ABOVE && children.len() > 1 { self.look(children, seeds, above, score) } else { 0 }
    }

    fn look(&self, children: &mut [Child<W>], seeds: u32, above: u32, score: u32) -> u32 {
        let far = above - LEAST_ABOVE;
        let margin = |(least, each): (i32, i32)| least + each * far as i32;
        let needed = SEED * score as i32;
        select(children, Child::order);
        let most = children.iter().map(|child| child.promise.collects).max().unwrap_or(0);
        if most < needed - margin(HOPELESS) || children[0].promise.collects >= needed + margin(SAFE) {
            return 0;
        }
        let most = if above < seeds { MOST_TURNS } else { MOST_TURNS_UNTAUGHT };
        let turns = (1 + far / TURN).min(most);
        let (mut best, mut left) = (-LIMIT, ORDER_POSITIONS);
        for index in 0..children.len() {
            select(&mut children[index..], Child::order);
            let child = &mut children[index];
            let Child { node, again, stored, .. } = *child;
            let (low, high) = next_window(again, stored, seeds, (best - CLOSE, LIMIT));
            let next = self.score(node.board, node.seeds, turns, (low, high), &mut left);
            child.promise.collects = collects(again, stored, node.seeds, next);
            best = best.max(child.promise.collects);
        }
        ORDER_POSITIONS - left
    }

    /// What the mover of `board`, with `seeds` seeds in play, may collect, in sixteenths of a seed, as it looks after some
    /// turns; if that is not within the window, a bound (fail-soft). From each position looked at one is taken off `left`;
    /// at 0 no more turns are played, and when interrupted it becomes 0.
    pub fn score(&self, board: Board<W>, seeds: u32, turns: u32, (mut low, high): (i32, i32), left: &mut u32) -> i32 {
        if board.is_over() {
            return SEED * board.mover.total() as i32;
        }
        if turns == 0 || *left == 0 {
            return self.estimate.score(board, seeds);
        }
        *left -= 1;
        if left.is_multiple_of(ASK_EVERY) && (self.interrupted)() {
            *left = 0;
            return self.estimate.score(board, seeds);
        }
        let mut best = -LIMIT;
        let mut moves = W::Moves::<(i32, Sown<W>)>::default();
        for pit in (0..self.sower.pits()).rev().filter(|pit| board.mover.seeds_in(*pit) != 0) {
            let sown = self.sower.sow(board, pit);
            let Sown { stored, again, .. } = sown;
            if turns == 1 && !again {
                // The end of the look: sorting such moves costs as much as estimating them.
                let rest = seeds - stored;
                let next = self.score(sown.next(), rest, 0, (low, high), left);
                best = best.max(collects(again, stored, rest, next));
                continue;
            }
            moves.push((Promise::bonus(pit, again, stored, sown.next()), sown));
        }
        low = low.max(best);
        if low >= high {
            return best;
        }
        for index in 0..moves.len() {
            select(&mut moves[index..], |&(order, _)| order);
            let (_, sown) = moves[index];
            let Sown { stored, again, .. } = sown;
            let rest = seeds - stored;
            let window = next_window(again, stored, seeds, (low, high));
            let next = self.score(sown.next(), rest, turns - u32::from(!again), window, left);
            best = best.max(collects(again, stored, rest, next));
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        best
    }
}

/// The window of what who moves next collects, for one of what the mover of a position with `seeds` seeds in play does.
#[inline]
pub(super) fn next_window(again: bool, stored: u32, seeds: u32, (low, high): (i32, i32)) -> (i32, i32) {
    if again {
        (low - SEED * stored as i32, high - SEED * stored as i32)
    } else {
        (SEED * seeds as i32 - high, SEED * seeds as i32 - low)
    }
}
