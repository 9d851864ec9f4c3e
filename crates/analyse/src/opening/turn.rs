use std::cmp::Ordering;
use std::collections::HashSet;

use foldhash::fast::FixedState;
use kalah_core::game::{Pit, Position, Row, Rules};

use super::verdict::Outcome;

/// A board as a ring of `PLACES = 2 * pits + 1` places, for fast sowing of many seeds: the mover's row, the
/// mover's store, the other row, each in sowing order. The other store follows from the seeds of the game.
///
/// A sowing costs one pass over the ring, however many seeds it has. Its whole laps and the rest of a lap, read
/// from a table, are added in the same pass. Tests compare the result with [`kalah_core::game::sow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ring<const PLACES: usize> {
    seeds: [u32; PLACES],
}

/// End of a move on a [`Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingEnd {
    /// The last seed fell into the mover's store. The mover moves again unless a row is empty.
    Again,
    /// The turn is over.
    Over,
    /// The store holds enough seeds. The relay was stopped there, with seeds left to sow.
    Enough,
}

/// A window of two laps for each remainder. `LAP[rest][i + PLACES - 1 - start]` is 1 at the places `i` that
/// `rest` seeds sown from `start` reach, else 0.
struct Lap<const PLACES: usize>;

impl<const PLACES: usize> Lap<PLACES> {
    const ONES: [[[u32; PLACES]; 2]; PLACES] = {
        let mut ones = [[[0; PLACES]; 2]; PLACES];
        let mut rest = 0;
        while rest < PLACES {
            let mut place = 0;
            while place < rest {
                ones[rest][0][place] = 1;
                ones[rest][1][place] = 1;
                place += 1;
            }
            rest += 1;
        }
        ones
    };
}

impl<const PLACES: usize> Ring<PLACES> {
    /// Pits a side.
    pub(crate) const PITS: usize = PLACES / 2;

    /// The ring of a position; `None` for another number of pits.
    pub fn new(position: &Position) -> Option<Ring<PLACES>> {
        if 2 * position.pits() + 1 != PLACES {
            return None;
        }
        let mut seeds = [0; PLACES];
        seeds[..Self::PITS].copy_from_slice(position.mover().seeds());
        seeds[Self::PITS] = position.mover_store();
        seeds[Self::PITS + 1..].copy_from_slice(position.other().seeds());
        Some(Ring { seeds })
    }

    /// The seeds of the mover's row, of the mover's store, and of the other row.
    #[inline]
    pub fn parts(&self) -> (&[u32], u32, &[u32]) {
        (&self.seeds[..Self::PITS], self.store(), &self.seeds[Self::PITS + 1..])
    }

    /// Seeds in the mover's store.
    #[inline]
    pub fn store(&self) -> u32 {
        self.seeds[Self::PITS]
    }

    /// Seeds in both rows and the mover's store: those of the game without the other store.
    #[inline]
    pub fn total(&self) -> u32 {
        self.seeds.iter().sum()
    }

    /// Returns true if a row is empty, which ends the game.
    #[inline]
    pub fn is_over(&self) -> bool {
        let (mover, _, other) = self.parts();
        mover.iter().all(|&seeds| seeds == 0) || other.iter().all(|&seeds| seeds == 0)
    }

    /// Seeds of the mover at the end of a finished game: the store and the rest of the mover's row.
    #[inline]
    pub fn collected(&self) -> u32 {
        self.seeds[..=Self::PITS].iter().sum()
    }

    /// Seeds in the pit with this index of the mover's row.
    #[inline]
    pub(crate) fn seeds_in(&self, pit: usize) -> u32 {
        self.seeds[pit]
    }

    /// The board seen by the other player, in a game with `seeds` seeds.
    pub fn turned(&self, seeds: u32) -> Ring<PLACES> {
        let (mover, _, other) = self.parts();
        let mut turned = [0; PLACES];
        turned[..Self::PITS].copy_from_slice(other);
        turned[Self::PITS] = seeds - self.total();
        turned[Self::PITS + 1..].copy_from_slice(mover);
        Ring { seeds: turned }
    }

    /// The position, in a game with `seeds` seeds.
    pub fn position(&self, seeds: u32) -> Position {
        let (mover, store, other) = self.parts();
        let row = |seeds: &[u32]| Row::new(seeds).expect("a ring has 1 to 16 pits a side");
        Position::new(row(mover), row(other), store, seeds - self.total()).expect("it has the seeds of a position")
    }

    /// Sows the seeds of the pit with index `pit` of the mover's row, as [`kalah_core::game::sow`] does. A
    /// relay stops as soon as the store holds `enough` seeds.
    ///
    /// The pit must not be empty.
    #[inline]
    pub fn sow(&mut self, rules: Rules, pit: usize, enough: u32) -> RingEnd {
        let lap = const { PLACES as u32 };
        let mut place = pit;
        loop {
            let hand = std::mem::take(&mut self.seeds[place]);
            debug_assert!(hand > 0, "no seeds to sow at {place} of {self:?}");
            let (laps, rest) = (hand / lap, (hand % lap) as usize);
            let ones = &Lap::<PLACES>::ONES[rest].as_flattened()[PLACES - 1 - place..][..PLACES];
            for (seeds, one) in self.seeds.iter_mut().zip(ones) {
                *seeds += laps + one;
            }
            place += rest;
            if place >= PLACES {
                place -= PLACES;
            }
            if place == Self::PITS {
                return if rules.moves_again() { RingEnd::Again } else { RingEnd::Over };
            }
            // A pit that was empty before the last seed fell holds exactly that seed.
            let last = self.seeds[place];
            if last > 1 && rules.relays() {
                if self.store() >= enough {
                    return RingEnd::Enough;
                }
                continue;
            }
            if last == 1 && place < Self::PITS {
                let captured = self.seeds[2 * Self::PITS - place];
                if rules.captures(captured) {
                    self.seeds[Self::PITS] += 1 + captured;
                    self.seeds[place] = 0;
                    self.seeds[2 * Self::PITS - place] = 0;
                }
            }
            return RingEnd::Over;
        }
    }
}

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
