use std::cmp::Ordering;
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
    pub(crate) fn outcome(&self, seeds: u32) -> Outcome {
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
///
/// Generic code is compiled for 16 sizes of boards, so the functions below serve all sizes.
pub(super) struct TurnSearch<const PLACES: usize> {
    rules: Rules,
    boards: Vec<Ring<PLACES>>,
    /// Steps to the boards.
    steps: Vec<Step>,
    /// Boards to search, each behind the seeds in its store.
    stack: Vec<(u32, u32)>,
    seen: HashSet<Ring<PLACES>, FixedState>,
    ends: Vec<End<PLACES>>,
    /// Moves played in all turns.
    pub moves: u64,
}

impl<const PLACES: usize> TurnSearch<PLACES> {
    pub(crate) fn new(rules: Rules) -> TurnSearch<PLACES> {
        let (boards, steps, stack, ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        TurnSearch { rules, boards, steps, stack, seen: HashSet::default(), ends, moves: 0 }
    }

    /// Searches the turn of the mover of `start` with at most about `limit` moves. The game has `seeds` seeds
    /// and is not over.
    pub(crate) fn run(&mut self, start: Ring<PLACES>, seeds: u32, limit: u64) -> Found {
        let (enough, most) = (seeds / 2 + 1, self.moves.saturating_add(limit));
        self.boards.clear();
        self.steps.clear();
        self.stack.clear();
        self.seen.clear();
        self.ends.clear();
        self.boards.push(start);
        self.steps.push(NO_STEP);
        self.stack.push((0, 0));
        self.seen.insert(start);
        while let Some((_, from)) = self.stack.pop() {
            let board = self.boards[from as usize];
            let pushed = self.stack.len();
            for pit in (0..Ring::<PLACES>::PITS).rev().filter(|&pit| board.seeds_in(pit) > 0) {
                let mut child = board;
                let sown = child.sow(self.rules, pit, enough);
                let step = Step { from, pit: pit as u8 };
                self.moves += 1;
                let over = sown != RingEnd::Enough && child.is_over();
                if child.store() >= enough || over && child.collected() >= enough {
                    return Found::Win(path(&self.steps, step));
                }
                if sown == RingEnd::Again && !over {
                    if self.seen.insert(child) {
                        if self.moves >= most {
                            return Found::Limit;
                        }
                        self.stack.push((child.store(), self.boards.len() as u32));
                        self.boards.push(child);
                        self.steps.push(step);
                    }
                } else {
                    self.ends.push(End { board: child, over, step });
                }
            }
            sort_boards(&mut self.stack[pushed..]);
        }
        Found::NoWin
    }

    /// Different ends of a turn without a win, fullest store first.
    pub(crate) fn ends(&self) -> Vec<End<PLACES>> {
        let order = sorted_indices(self.ends.len(), &|a, b| {
            let (a, b) = (&self.ends[a].board, &self.ends[b].board);
            b.store().cmp(&a.store()).then_with(|| a.cmp(b))
        });
        let mut ends: Vec<_> = order.into_iter().map(|index| self.ends[index]).collect();
        ends.dedup_by_key(|end| end.board);
        ends
    }

    /// The moves to an end of the turn searched last.
    pub(crate) fn moves_to(&self, end: &End<PLACES>) -> Vec<Pit> {
        path(&self.steps, end.step)
    }
}

/// Sorts boards by the seeds in their stores, equal ones by their order.
#[inline(never)]
fn sort_boards(boards: &mut [(u32, u32)]) {
    boards.sort_unstable();
}

/// Returns the indices below `len` in the order of `compare`, equal ones by their order.
fn sorted_indices(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<_> = (0..len).collect();
    indices.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    indices
}

/// The moves of the steps from the start of a turn to the `last`.
fn path(steps: &[Step], last: Step) -> Vec<Pit> {
    let mut path = Vec::new();
    let mut step = last;
    loop {
        path.push(Pit::from_index(step.pit.into()).expect("a ring has 1 to 16 pits a side"));
        if step.from == 0 {
            break;
        }
        step = steps[step.from as usize];
    }
    path.reverse();
    path
}
