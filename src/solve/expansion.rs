use arrayvec::ArrayVec;

use super::board::{Board, MAX_BOARD_PITS, Sown, sums, total};
use super::order::Promise;
use super::prober::Spot;
use super::search::Shared;
use super::transposition::Slot;

/// Seeds above the tables up to which what is proved of a position is not kept: proving it again costs no more than keeping
/// it, and leaves the room to positions that cost more (docs/measurements.md).
const UNKEPT_SEEDS: u32 = 6;

/// A position to search.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub board: Board,
    /// Seeds in play.
    pub seeds: u32,
    pub slot: Slot,
}

/// A position after a move, still to be searched.
#[derive(Clone, Copy)]
pub(super) struct Child {
    pub node: Node,
    /// Whether the mover moves again.
    pub again: bool,
    /// Seeds the move stores.
    pub stored: u32,
    pub promise: Promise,
}

/// A position after a move, whose score stands in a table.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub spot: Spot,
    pub again: bool,
    pub stored: u32,
    /// Seeds in play after the move.
    pub seeds: u32,
}

/// What the mover collects in all, if the score after a move is `score`.
#[inline]
pub(super) fn collected(seeds: u32, again: bool, stored: u32, score: u32) -> u32 {
    if again { stored + score } else { seeds - score }
}

/// A position with its moves played, and the memory that they read on its way to the processor.
pub(super) struct Expansion {
    pub node: Node,
    /// What the mover has for sure after the best of the moves, from seeds stored and games ended alone.
    pub lower: u32,
    /// What the mover gets at most by moves that end the game.
    pub ended: u32,
    /// In the order of the search.
    pub children: ArrayVec<Child, MAX_BOARD_PITS>,
    pub known: ArrayVec<Known, MAX_BOARD_PITS>,
}

impl Shared<'_, '_> {
    /// Plays the moves of a position. What they need of the tables and of the transposition table is fetched meanwhile.
    #[inline]
    pub fn expand(&self, node: Node) -> Expansion {
        let Shared { sower, keys, prober, positions, ref look, .. } = *self;
        let mut expansion = Expansion { node, lower: 0, ended: 0, children: ArrayVec::new(), known: ArrayVec::new() };
        for pit in (0..sower.pits()).rev() {
            if node.board.mover >> (8 * pit) & 0xff == 0 {
                continue;
            }
            let sown = sower.sow(node.board, pit);
            let Sown { board, stored, again } = sown;
            if board.is_over() {
                // What is left belongs to the owner of the row it lies in.
                expansion.ended = expansion.ended.max(stored + total(board.mover));
                continue;
            }
            expansion.lower = expansion.lower.max(stored);
            let (board, seeds) = (sown.next(), node.seeds - stored);
            let mover_sums = sums(board.mover);
            let mover_seeds = (mover_sums >> 56) as u32;
            let (mover, other) = (keys.row(mover_sums), keys.row(sums(board.other)));
            if seeds as usize <= prober.reach() {
                let spot = prober.locate(seeds, mover_seeds, mover, other);
                if expansion.known.is_empty() {
                    prober.prefetch(spot);
                }
                expansion.known.push(Known { spot, again, stored, seeds });
                continue;
            }
            let slot = positions.slot(keys.combine(mover, mover_seeds, other));
            let promise = Promise::new(look.estimate, pit, again, stored, board, seeds);
            let order = promise.order();
            let at = expansion.children.iter().rposition(|child| child.promise.order() >= order).map_or(0, |at| at + 1);
            expansion.children.insert(at, Child { node: Node { board, seeds, slot }, again, stored, promise });
        }
        expansion.lower = expansion.lower.max(expansion.ended);
        if let Some(first) = expansion.children.first().filter(|first| self.keeps(first.node)) {
            positions.prefetch(first.node.slot);
        }
        expansion
    }

    /// Whether what is proved of a position is kept.
    #[inline]
    pub fn keeps(&self, node: Node) -> bool {
        node.seeds > self.prober.reach() as u32 + UNKEPT_SEEDS
    }
}
