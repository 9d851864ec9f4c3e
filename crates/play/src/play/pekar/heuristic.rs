use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position};

use super::super::{Choice, PlayError, Player, PlayerName, Source, Worth};

/// Algorithm 1 (Pekař et al. 2020, section 4): the first of four functions that finds a move.
///
/// It chooses every move of a turn separately. Moves that store the last seed come first, so a turn plays all
/// of them before anything else, as the paper's loop does.
pub(in super::super) struct Heuristic;

/// A possible capture.
struct Target {
    /// The number of the pit to sow.
    from: usize,
    /// The number of the pit where the last seed falls.
    into: usize,
    /// The seeds of the opposite pit when it falls.
    value: usize,
}

/// The nearest pit whose last seed falls into the store.
pub(super) fn last_seed_to_kalaha(side: Side) -> Option<usize> {
    (1..=side.pits()).find(|&number| side.ends_in_store(number))
}

/// The largest capture; the first found of equal ones. The last seed falls straight into an empty pit, or all
/// around into the pit itself, or around into an empty pit farther from the store. Seeds that a way around adds
/// to the opposite pit count.
///
/// Considers only captures of pits for which `counts` is true, given the opposite seeds before the move.
fn most_valuable(side: Side, counts: impl Fn(usize) -> bool) -> Option<Target> {
    let mut best = Target { from: 1, into: 1, value: 0 };
    for number in 1..=side.pits() {
        let opposite = side.opposite(number);
        if side.seeds(number) == 0 {
            if opposite > best.value
                && let Some(from) = (number + 1..=side.pits()).find(|&from| side.ends_directly_in(from, number))
            {
                best = Target { from, into: number, value: opposite };
            }
        } else if side.comes_back(number) {
            if opposite + 1 > best.value && counts(opposite) {
                best = Target { from: number, into: number, value: opposite + 1 };
            }
        } else if let Some(into) = side.ends_around_in(number) {
            let opposite = side.opposite(into);
            if opposite + 1 > best.value && counts(opposite) {
                best = Target { from: number, into, value: opposite + 1 };
            }
        }
    }
    (best.value > 0).then_some(best)
}

/// The pit to sow for the largest capture.
fn last_seed_to_target(side: Side) -> Option<usize> {
    most_valuable(side, |_| true).map(|target| target.from)
}

/// Our pit that the opponent's largest capture would take, to be sown away. An empty pit cannot be sown. So
/// captures of only the seed that the way around adds do not count.
fn opponent_seed_to_stash(position: &Position) -> Option<usize> {
    let turned = position.turned();
    let threat = most_valuable(Side::of(&turned), |opposite| opposite > 0)?;
    // Our pit opposite to the opponent's pit n has the number pits + 1 - n.
    Some(position.pits() + 1 - threat.into)
}

/// The nearest pit that holds seeds.
fn first_non_empty_pit(side: Side) -> Option<usize> {
    (1..=side.pits()).find(|&number| side.seeds(number) > 0)
}

impl Player for Heuristic {
    fn name(&self) -> String {
        PlayerName::Heuristic.to_string()
    }

    fn choose(&mut self, position: &Position, _: &Cancel, _: &mut dyn FnMut(&Choice)) -> Result<Choice, PlayError> {
        if position.is_over() {
            return Err(PlayError::GameOver);
        }
        let side = Side::of(position);
        let found = last_seed_to_kalaha(side).map(|number| (number, "LastSeedToKalaha"));
        let found = found.or_else(|| Some((last_seed_to_target(side)?, "LastSeedToTarget")));
        let found = found.or_else(|| Some((opponent_seed_to_stash(position)?, "OpponentSeedToStash")));
        let found = found.or_else(|| Some((first_non_empty_pit(side)?, "FirstNonEmptyPit")));
        let (number, rule) = found.ok_or(PlayError::GameOver)?;
        Ok(Choice { pit: side.pit(number), worth: Worth::Unknown, source: Source::Rule(rule) })
    }
}

/// The mover's side of a position, with pits numbered as in the paper (Figure 3): 1 is next to the store, the
/// last is the farthest.
#[derive(Clone, Copy)]
pub(super) struct Side<'p> {
    position: &'p Position,
}

impl<'p> Side<'p> {
    pub(super) fn of(position: &'p Position) -> Side<'p> {
        Side { position }
    }

    /// The highest number of a pit.
    pub(super) fn pits(self) -> usize {
        self.position.pits()
    }

    /// Number of seeds that a sowing needs to come back to its start: 13 with 6 pits a side.
    fn ring(self) -> usize {
        2 * self.pits() + 1
    }

    /// The pit with this number.
    pub(super) fn pit(self, number: usize) -> Pit {
        Pit::from_index(self.pits() - number).expect("a number of the board")
    }

    /// The seeds of a pit.
    pub(super) fn seeds(self, number: usize) -> usize {
        self.position.mover().seeds_in(self.pit(number)) as usize
    }

    /// The seeds of the opponent's pit opposite to a pit.
    pub(super) fn opposite(self, number: usize) -> usize {
        self.position.other().seeds()[number - 1] as usize
    }

    /// Returns true if the last seed of a pit falls into the store, after any number of laps.
    pub(super) fn ends_in_store(self, number: usize) -> bool {
        self.seeds(number) % self.ring() == number
    }

    /// Returns true if the last seed of a pit falls straight into the empty own pit `target`, without passing
    /// the store.
    pub(super) fn ends_directly_in(self, number: usize, target: usize) -> bool {
        number > target && self.seeds(target) == 0 && self.seeds(number) == number - target
    }

    /// Returns true if the last seed of a pit goes all around and falls into that pit itself.
    pub(super) fn comes_back(self, number: usize) -> bool {
        self.seeds(number) == self.ring()
    }

    /// The empty own pit, farther from the store, where the last seed of a pit falls after passing the other
    /// side.
    pub(super) fn ends_around_in(self, number: usize) -> Option<usize> {
        let beyond = self.ring().checked_sub(self.seeds(number)).filter(|&beyond| beyond > 0)?;
        Some(number + beyond).filter(|&target| target <= self.pits() && self.seeds(target) == 0)
    }
}
