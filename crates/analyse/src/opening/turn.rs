use std::cmp::Reverse;
use std::collections::HashSet;

use foldhash::fast::FixedState;
use kalah_core::game::{Pit, Position, Rules};

use super::verdict::Outcome;

/// The step to a board: the last move, and the node from which it was played.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u32,
    pit: Pit,
}

/// End of a turn in which the player does not win.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The position, seen by the player whose turn it was.
    pub position: Position,
    step: Step,
}

impl End {
    /// The outcome of a finished game for the player whose turn it was; `None` while the game goes on.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.position.final_value().map(Outcome::of)
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
pub(super) struct TurnSearch {
    rules: Rules,
    /// The boards, and the steps to them from the first.
    boards: Vec<(Position, Option<Step>)>,
    /// Boards to search, each behind the seeds in its store.
    stack: Vec<(u32, u32)>,
    seen: HashSet<Position, FixedState>,
    ends: Vec<End>,
    /// Moves played in all turns.
    pub moves: u64,
}

impl TurnSearch {
    pub(crate) fn new(rules: Rules) -> TurnSearch {
        let (boards, stack, ends) = (Vec::new(), Vec::new(), Vec::new());
        TurnSearch { rules, boards, stack, seen: HashSet::default(), ends, moves: 0 }
    }

    /// Searches the turn of the mover of `start` with at most about `limit` moves. The game has `seeds` seeds
    /// and is not over.
    pub(crate) fn run(&mut self, start: Position, seeds: u32, limit: u64) -> Found {
        let (enough, most) = (seeds / 2 + 1, self.moves.saturating_add(limit));
        self.boards.clear();
        self.stack.clear();
        self.seen.clear();
        self.ends.clear();
        self.boards.push((start, None));
        self.stack.push((0, 0));
        self.seen.insert(start);
        while let Some((_, from)) = self.stack.pop() {
            let (board, _) = self.boards[from as usize];
            let first = self.stack.len();
            let moves: Vec<Pit> = board.moves().collect();
            for &pit in moves.iter().rev() {
                let played = board.play(self.rules, pit).expect("a legal move");
                let child = if played.again { played.position } else { played.position.turned() };
                let step = Step { from, pit };
                self.moves += 1;
                let collected = child.mover_store() + child.mover().total();
                if child.mover_store() >= enough || child.is_over() && collected >= enough {
                    return Found::Win(self.path(step));
                }
                if played.again {
                    if self.seen.insert(child) {
                        if self.moves >= most {
                            return Found::Limit;
                        }
                        self.stack.push((child.mover_store(), self.boards.len() as u32));
                        self.boards.push((child, Some(step)));
                    }
                } else {
                    self.ends.push(End { position: child, step });
                }
            }
            self.stack[first..].sort_unstable();
        }
        Found::NoWin
    }

    /// Different ends of a turn without a win, fullest store first.
    pub(crate) fn ends(&self) -> Vec<End> {
        let mut ends = self.ends.clone();
        ends.sort_by_key(|End { position, .. }| {
            (Reverse(position.mover_store()), *position.mover(), *position.other())
        });
        ends.dedup_by_key(|end| end.position);
        ends
    }

    /// The moves to an end of the turn searched last.
    pub(crate) fn moves_to(&self, end: &End) -> Vec<Pit> {
        self.path(end.step)
    }

    /// The moves of the steps from the start of a turn to the `last`.
    fn path(&self, last: Step) -> Vec<Pit> {
        let steps = std::iter::successors(Some(last), |step| self.boards[step.from as usize].1);
        let mut path: Vec<Pit> = steps.map(|step| step.pit).collect();
        path.reverse();
        path
    }
}
