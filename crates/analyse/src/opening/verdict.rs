use std::collections::{HashMap, HashSet};

use kalah_core::game::{Line, Pit, Position, Rules};
use serde::Serialize;

/// Result of a game with best play, for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The other player wins.
    Loss,
    /// Both collect as many seeds.
    Draw,
    /// The player to move wins.
    Win,
}

impl Outcome {
    /// The letter in tables: W, D or L.
    pub fn letter(self) -> char {
        match self {
            Outcome::Win => 'W',
            Outcome::Draw => 'D',
            Outcome::Loss => 'L',
        }
    }

    /// The outcome for the other player.
    #[must_use]
    pub(crate) fn turned(self) -> Outcome {
        match self {
            Outcome::Win => Outcome::Loss,
            Outcome::Draw => Outcome::Draw,
            Outcome::Loss => Outcome::Win,
        }
    }

    /// The outcome of a final store difference.
    pub fn of(value: i64) -> Outcome {
        match value.signum() {
            1 => Outcome::Win,
            0 => Outcome::Draw,
            _ => Outcome::Loss,
        }
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Maximum number of turns; with 1 only wins within the first turn are found.
    pub turns: u32,
    /// Maximum number of positions to visit, counted by moves played.
    pub positions: u64,
}

impl Default for Limits {
    /// A hundred turns, four million positions.
    fn default() -> Limits {
        Limits { turns: 100, positions: 4_000_000 }
    }
}

/// Maximum number of lines in the proof of a verdict.
pub const MAX_LINES: usize = 10_000;

/// Result of a search turn by turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome for the mover; `None` if it was not decided within the limits.
    pub outcome: Option<Outcome>,
    /// Number of turns after which it was decided, or the largest number searched in full.
    pub turns: u32,
    /// Proof that the mover wins, if the outcome is a win, and otherwise that the mover does not win. One side
    /// has one turn in each of its positions, the other side all its different turns. Every line ends when the
    /// game is over, or when the side with one turn holds more than half of the seeds. Empty if nothing is
    /// decided or there are more than [`MAX_LINES`] lines. [`check`](check()) checks the lines by the
    /// rules alone.
    pub lines: Vec<Line>,
    /// Positions visited: moves played.
    pub positions: u64,
}

fn wrong(position: &Position, why: &str) -> String {
    format!("the lines do not prove the verdict: at {position}, {why}")
}

/// Checks that the lines of a verdict prove it for `position`. The check uses only [`Position::play`] and
/// shares nothing with the search that found the lines.
///
/// # Errors
/// If something is missing or wrong, or if there are no lines although the game is not over: the position where the
/// proof fails, seen by the player to move, and the reason.
pub fn check(rules: Rules, position: &Position, verdict: &Verdict) -> Result<(), String> {
    let Some(outcome) = verdict.outcome else { return Ok(()) };
    if position.final_value().map(Outcome::of) == Some(outcome) {
        return Ok(());
    }
    let lines: Vec<&[Vec<Pit>]> = verdict.lines.iter().map(|line| line.turns()).collect();
    let check = Check { rules, outcome };
    if outcome == Outcome::Win { check.one(position, &lines) } else { check.all(position, &lines) }
}

/// The check of a proof that one side, the *prover*, wins, or does not lose if the outcome is a draw.
struct Check {
    rules: Rules,
    outcome: Outcome,
}

/// Returns true if the store of the player to move holds more than half of the seeds.
fn has_won(position: &Position) -> bool {
    let seeds = u64::from(position.seeds()) + u64::from(position.mover_store()) + u64::from(position.other_store());
    2 * u64::from(position.mover_store()) > seeds
}

impl Check {
    /// Returns true if the game is over with the claimed outcome; `position` is seen by the prover.
    fn reached(&self, position: &Position) -> bool {
        let least = if self.outcome == Outcome::Draw { Outcome::Draw } else { Outcome::Win };
        position.final_value().is_some_and(|value| Outcome::of(value) >= least)
    }

    /// The prover is to move: there is exactly one turn, after which the claim holds.
    fn one(&self, position: &Position, lines: &[&[Vec<Pit>]]) -> Result<(), String> {
        let turn = lines.first().and_then(|line| line.first()).ok_or_else(|| wrong(position, "there is no turn"))?;
        if lines.iter().any(|line| line.first() != Some(turn)) {
            return Err(wrong(position, "there are several turns where there should be one"));
        }
        let (mut prover, mut again) = (*position, true);
        for &pit in turn {
            let played = prover.play(self.rules, pit).ok().filter(|_| again);
            let played = played.ok_or_else(|| wrong(&prover, "a move is illegal"))?;
            again = played.again;
            prover = if again { played.position } else { played.position.turned() };
        }
        if lines.iter().any(|line| line.len() == 1) {
            let proved = has_won(&prover) || self.reached(&prover);
            return if proved { Ok(()) } else { Err(wrong(&prover, "a line ends before the outcome is decided")) };
        }
        if again {
            return Err(wrong(&prover, "a turn stops although its last move is an again-move"));
        }
        let rest: Vec<_> = lines.iter().map(|line| &line[1..]).collect();
        self.all(&prover.turned(), &rest)
    }

    /// The other player is to move: the claim holds after every turn.
    fn all(&self, position: &Position, lines: &[&[Vec<Pit>]]) -> Result<(), String> {
        let missing = || wrong(position, "a turn has no reply");
        let ends = self.ends(position)?;
        let mut lines_to: HashMap<Position, Vec<&[Vec<Pit>]>> = HashMap::new();
        for line in lines {
            let turn = line.first().ok_or_else(missing)?;
            let mut place = *position;
            for &pit in turn {
                let played = place.play(self.rules, pit);
                place = played.map_err(|_| wrong(&place, "a move is illegal"))?.position;
            }
            lines_to.entry(place).or_default().push(&line[1..]);
        }
        if lines_to.len() != ends.len() {
            return Err(missing());
        }
        for prover in ends {
            let lines = lines_to.get(&prover).ok_or_else(missing)?;
            if !prover.is_over() {
                self.one(&prover, lines)?;
            } else if !self.reached(&prover) {
                return Err(wrong(&prover, "the game is over with another outcome"));
            }
        }
        Ok(())
    }

    /// Returns the positions at the ends of all turns of the mover, seen by the other player. The mover must
    /// not win within the turn.
    fn ends(&self, position: &Position) -> Result<HashSet<Position>, String> {
        let (mut ends, mut met, mut open) = (HashSet::new(), HashSet::from([*position]), vec![*position]);
        while let Some(place) = open.pop() {
            if has_won(&place) {
                return Err(wrong(&place, "the other side wins"));
            }
            for pit in place.moves() {
                let played = place.play(self.rules, pit).expect("it is a legal move");
                if !played.again {
                    ends.insert(played.position);
                } else if met.insert(played.position) {
                    open.push(played.position);
                }
            }
        }
        Ok(ends)
    }
}
