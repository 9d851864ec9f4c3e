use std::collections::HashSet;

use foldhash::fast::FixedState;
use kalah_core::game::{Pit, Rules};

use super::outcome::Outcome;
use super::ring::{Ring, RingEnd};

/// The step to a board: the last move, and the node from which it was played.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u32,
    pit: u8,
}

/// Marks the start of a turn.
const NO_STEP: Step = Step { from: u32::MAX, pit: 0 };

/// End of a turn in which the player does not win.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<const PLACES: usize> {
    /// The board, seen by the player whose turn it was.
    pub board: Ring<PLACES>,
    /// True if a row is empty, so the game is over.
    pub over: bool,
    step: Step,
}

impl<const PLACES: usize> End<PLACES> {
    /// The outcome of a finished game for the player whose turn it was.
    pub fn outcome(&self, seeds: u32) -> Outcome {
        Outcome::of(2 * i64::from(self.board.collected()) - i64::from(seeds))
    }
}

/// Result of searching a turn.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// The player wins by these moves: the store then holds more than half of the seeds, or the game is over
    /// and won.
    Win(Vec<Pit>),
    /// The player cannot win within the turn, which has exactly these [ends](TurnSearch::ends).
    NoWin,
    /// The limit of moves was reached.
    Limit,
}

/// Searches a turn: the boards that a player can reach by again-moves, each once, and the ends of the turn.
///
/// Depth first, fullest store first. Most starts are won after a few moves; without a win every board is
/// visited.
pub(super) struct TurnSearch<const PLACES: usize> {
    rules: Rules,
    nodes: Vec<(Ring<PLACES>, Step)>,
    stack: Vec<u32>,
    seen: HashSet<Ring<PLACES>, FixedState>,
    ends: Vec<End<PLACES>>,
    /// Moves played in all turns.
    pub moves: u64,
}

impl<const PLACES: usize> TurnSearch<PLACES> {
    pub fn new(rules: Rules) -> TurnSearch<PLACES> {
        let seen = HashSet::default();
        TurnSearch { rules, nodes: Vec::new(), stack: Vec::new(), seen, ends: Vec::new(), moves: 0 }
    }

    /// Searches the turn of the mover of `start` with at most about `limit` moves. The game has `seeds` seeds
    /// and is not over.
    pub fn run(&mut self, start: Ring<PLACES>, seeds: u32, limit: u64) -> Found {
        let (enough, most) = (seeds / 2 + 1, self.moves.saturating_add(limit));
        self.nodes.clear();
        self.stack.clear();
        self.seen.clear();
        self.ends.clear();
        self.nodes.push((start, NO_STEP));
        self.stack.push(0);
        self.seen.insert(start);
        while let Some(from) = self.stack.pop() {
            let board = self.nodes[from as usize].0;
            let first = self.nodes.len();
            for pit in (0..Ring::<PLACES>::PITS).rev().filter(|&pit| board.seeds_in(pit) > 0) {
                let mut child = board;
                let sown = child.sow(self.rules, pit, enough);
                let step = Step { from, pit: pit as u8 };
                self.moves += 1;
                let over = sown != RingEnd::Enough && child.is_over();
                if child.store() >= enough || over && child.collected() >= enough {
                    return Found::Win(self.path(step));
                }
                if sown == RingEnd::Again && !over {
                    if self.seen.insert(child) {
                        if self.moves >= most {
                            return Found::Limit;
                        }
                        self.nodes.push((child, step));
                    }
                } else {
                    self.ends.push(End { board: child, over, step });
                }
            }
            let pushed = self.stack.len();
            self.stack.extend(first as u32..self.nodes.len() as u32);
            self.stack[pushed..].sort_by_key(|&node| self.nodes[node as usize].0.store());
        }
        Found::NoWin
    }

    /// Different ends of a turn without a win, fullest store first.
    pub fn ends(&self) -> Vec<End<PLACES>> {
        let mut ends = self.ends.clone();
        ends.sort_by(|a, b| b.board.store().cmp(&a.board.store()).then_with(|| a.board.cmp(&b.board)));
        ends.dedup_by_key(|end| end.board);
        ends
    }

    /// The moves to an end of the turn searched last.
    pub fn moves_to(&self, end: &End<PLACES>) -> Vec<Pit> {
        self.path(end.step)
    }

    fn path(&self, last: Step) -> Vec<Pit> {
        let mut path = Vec::new();
        let mut step = last;
        loop {
            path.push(Ring::<PLACES>::pit(step.pit as usize));
            if step.from == 0 {
                break;
            }
            step = self.nodes[step.from as usize].1;
        }
        path.reverse();
        path
    }
}
