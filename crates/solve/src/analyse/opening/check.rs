use std::collections::{HashMap, HashSet};

use kalah_core::game::{Pit, Position, Rules};

use super::outcome::{Outcome, Verdict};

/// Why lines are no proof of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lines are no proof: at {position} {why}")]
pub struct CheckError {
    /// Where, seen by the player to move.
    pub position: Box<Position>,
    /// What is wrong there.
    pub why: &'static str,
}

fn wrong(position: &Position, why: &'static str) -> CheckError {
    CheckError { position: Box::new(*position), why }
}

/// Whether the lines of a verdict on `position` prove it, found by the rules' own [`Position::play`] alone; nothing is
/// shared with the search that found them.
///
/// # Errors
/// When something is missing or wrong; also when there are no lines though the game is not over.
pub fn check(rules: Rules, position: &Position, verdict: &Verdict) -> Result<(), CheckError> {
    let Some(outcome) = verdict.outcome else { return Ok(()) };
    if position.final_value().map(Outcome::of) == Some(outcome) {
        return Ok(());
    }
    let lines: Vec<&[Vec<Pit>]> = verdict.lines.iter().map(|line| line.turns()).collect();
    let check = Check { rules, outcome };
    if outcome == Outcome::Win { check.one(position, &lines) } else { check.all(position, &lines) }
}

/// The proof that one side, the *prover*, wins, or does not lose if the outcome is a draw.
struct Check {
    rules: Rules,
    outcome: Outcome,
}

/// The store of the player to move holds more than half of the seeds.
fn has_won(position: &Position) -> bool {
    let seeds = u64::from(position.seeds()) + u64::from(position.mover_store()) + u64::from(position.other_store());
    2 * u64::from(position.mover_store()) > seeds
}

impl Check {
    /// Whether the game is over and the prover has what was claimed; `position` is seen by the prover.
    fn reached(&self, position: &Position) -> bool {
        let least = if self.outcome == Outcome::Draw { Outcome::Draw } else { Outcome::Win };
        position.final_value().is_some_and(|value| Outcome::of(value) >= least)
    }

    /// The prover is to move: has one turn, and what is claimed follows.
    fn one(&self, position: &Position, lines: &[&[Vec<Pit>]]) -> Result<(), CheckError> {
        let turn = lines.first().and_then(|line| line.first()).ok_or_else(|| wrong(position, "there is no turn"))?;
        if lines.iter().any(|line| line.first() != Some(turn)) {
            return Err(wrong(position, "there are several turns, where one is to be enough"));
        }
        let (mut prover, mut again) = (*position, true);
        for &pit in turn {
            let played = prover.play(self.rules, pit).ok().filter(|_| again);
            let played = played.ok_or_else(|| wrong(&prover, "there is a move that cannot be played"))?;
            again = played.again;
            prover = if again { played.position } else { played.position.turned() };
        }
        if lines.iter().any(|line| line.len() == 1) {
            let proved = has_won(&prover) || self.reached(&prover);
            return if proved { Ok(()) } else { Err(wrong(&prover, "a line ends before anything is decided")) };
        }
        if again {
            return Err(wrong(&prover, "a turn stops although its last move moves again"));
        }
        let rest: Vec<_> = lines.iter().map(|line| &line[1..]).collect();
        self.all(&prover.turned(), &rest)
    }

    /// The other player is to move: whatever the turn, what is claimed follows.
    fn all(&self, position: &Position, lines: &[&[Vec<Pit>]]) -> Result<(), CheckError> {
        let missing = || wrong(position, "not every turn is answered");
        let ends = self.ends(position)?;
        let mut lines_to: HashMap<Position, Vec<&[Vec<Pit>]>> = HashMap::new();
        for line in lines {
            let turn = line.first().ok_or_else(missing)?;
            let mut place = *position;
            for &pit in turn {
                let played = place.play(self.rules, pit);
                place = played.map_err(|_| wrong(&place, "there is a move that cannot be played"))?.position;
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

    /// The positions at the ends of all turns of the mover, who must not win in one; seen by the other player.
    fn ends(&self, position: &Position) -> Result<HashSet<Position>, CheckError> {
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
