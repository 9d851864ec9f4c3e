use std::collections::HashSet;

use foldhash::fast::FixedState;
use kalah_core::game::{Pit, Rules};

use super::outcome::Outcome;
use super::ring::{Ring, Sown};

/// The moves that lead to a board: the last one, and the node it was played from.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u32,
    pit: u8,
}

/// The start of a turn has no step to it.
const NO_STEP: Step = Step { from: u32::MAX, pit: 0 };

/// How a turn of a player who does not win in it can end.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<const PLACES: usize> {
    /// The board, seen by the player whose turn it was.
    pub board: Ring<PLACES>,
    /// Whether a row is empty: the game is over.
    pub over: bool,
    step: Step,
}

impl<const PLACES: usize> End<PLACES> {
    /// How the game has ended for the player whose turn it was, if it is over.
    pub fn outcome(&self, seeds: u32) -> Outcome {
        Outcome::of(2 * i64::from(self.board.collected()) - i64::from(seeds))
    }
}

/// What a player can do within one turn.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// To win, by these moves: the store then holds more than half of the seeds, or the game is over and won.
    Win(Vec<Pit>),
    /// Not to win; the turn has only the [ends](TurnSearch::ends) found.
    NoWin,
    /// More moves than may be played.
    Limit,
}

/// Searches a turn: the boards that a player can reach by moves that move again, each once, and where the turn ends.
///
/// Depth first, the fullest store first: most starts are won after a few moves, and where none wins every board is met.
pub(super) struct TurnSearch<const PLACES: usize> {
    rules: Rules,
    nodes: Vec<(Ring<PLACES>, Step)>,
    stack: Vec<u32>,
    seen: HashSet<Ring<PLACES>, FixedState>,
    ends: Vec<End<PLACES>>,
    /// Moves played so far, of all turns.
    pub moves: u64,
}

impl<const PLACES: usize> TurnSearch<PLACES> {
    pub fn new(rules: Rules) -> TurnSearch<PLACES> {
        let seen = HashSet::default();
        TurnSearch { rules, nodes: Vec::new(), stack: Vec::new(), seen, ends: Vec::new(), moves: 0 }
    }

    /// Searches the turn of the mover of `start`, which is not over, in a game with `seeds` seeds, by at most about
    /// `limit` moves.
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
                let over = sown != Sown::Enough && child.is_over();
                if child.store() >= enough || over && child.collected() >= enough {
                    return Found::Win(self.path(step));
                }
                if sown == Sown::Again && !over {
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

    /// The different ends of a turn searched without a win, the fullest store first.
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
