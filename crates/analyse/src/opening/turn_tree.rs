use std::collections::HashMap;

use foldhash::fast::FixedState;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Line, Pit, Position, Rules};

use super::turn::{End, Found, TurnSearch};
use super::verdict::{Limits, MAX_LINES, Outcome, Verdict};

/// Decides a position by a search turn by turn (Kvitberg 2026, section 5: the turn game tree). It tests whether the
/// mover can win within the turn, then whether the other player can after every end of it, and so on, deeper each
/// time.
///
/// The result depends on the arguments alone.
///
/// # Errors
/// If `cancel` is cancelled.
pub fn outcome(rules: Rules, position: &Position, limits: Limits, cancel: &Cancel) -> Result<Verdict, Stopped> {
    let verdict = verdict(rules, position, limits, cancel);
    // A search cut short has no verdict.
    cancel.check().map(|()| verdict)
}

fn verdict(rules: Rules, position: &Position, limits: Limits, cancel: &Cancel) -> Verdict {
    let mut verdict = Verdict { outcome: None, turns: 0, lines: Vec::new(), positions: 0 };
    if let Some(value) = position.final_value() {
        verdict.outcome = Some(Outcome::of(value));
        return verdict;
    }
    let seeds = position.seeds() + position.mover_store() + position.other_store();
    let search = TurnSearch::new(rules);
    let mut tree = TurnTree { seeds, search, limit: limits.positions, cancel, searched: HashMap::default() };
    // Most starts are won in the first turn.
    if let Ok(Found::Win(moves)) = tree.turn(position) {
        let mut lines = Lines::default();
        (verdict.outcome, verdict.turns, verdict.positions) = (Some(Outcome::Win), 1, tree.search.moves);
        let _ = lines.end(position.pits(), moves);
        verdict.lines = lines.done;
        return verdict;
    }
    for turns in 1..=limits.turns {
        match tree.outcome(position, turns) {
            Ok(None) => verdict.turns = turns,
            Ok(Some(outcome)) => {
                (verdict.outcome, verdict.turns, verdict.positions) = (Some(outcome), turns, tree.search.moves);
                // A verdict found within the limits is proved in full.
                tree.limit = u64::MAX;
                let mut lines = Lines::default();
                if tree.prove(position, outcome == Outcome::Win, &mut lines).is_ok() {
                    verdict.lines = lines.done;
                }
                return verdict;
            }
            Err(OutOfLimit) => break,
        }
    }
    verdict.positions = tree.search.moves;
    verdict
}

/// The lines of a proof, and the turns that lead to the current position.
#[derive(Default)]
struct Lines {
    done: Vec<Line>,
    turns: Vec<Vec<Pit>>,
}

impl Lines {
    /// Adds the current line, followed by these moves.
    fn end(&mut self, pits: usize, moves: Vec<Pit>) -> Result<(), OutOfLimit> {
        if self.done.len() >= MAX_LINES {
            return Err(OutOfLimit);
        }
        let mut line = Line::new(pits);
        self.turns.iter().cloned().for_each(|turn| line.push(turn));
        line.push(moves);
        self.done.push(line);
        Ok(())
    }
}

/// The limit of positions or lines was reached, or the search was stopped.
struct OutOfLimit;

/// Result so far of the search of a position.
#[derive(Clone, Copy)]
enum Searched {
    Proved(Outcome),
    /// Undecided by a search of this number of turns.
    Undecided(u32),
}

/// The turn game tree of a game with `seeds` seeds.
struct TurnTree<'a> {
    seeds: u32,
    search: TurnSearch,
    limit: u64,
    cancel: &'a Cancel,
    searched: HashMap<Position, Searched, FixedState>,
}

impl TurnTree<'_> {
    /// The outcome for the mover, if `turns` turns decide it.
    fn outcome(&mut self, position: &Position, turns: u32) -> Result<Option<Outcome>, OutOfLimit> {
        match self.searched.get(position) {
            Some(Searched::Proved(outcome)) => return Ok(Some(*outcome)),
            Some(Searched::Undecided(searched)) if *searched >= turns => return Ok(None),
            _ => {}
        }
        let outcome = self.search_turn(position, turns)?;
        self.searched.insert(*position, outcome.map_or(Searched::Undecided(turns), Searched::Proved));
        Ok(outcome)
    }

    fn search_turn(&mut self, position: &Position, turns: u32) -> Result<Option<Outcome>, OutOfLimit> {
        // A player whose store and all seeds in play are together less than half can neither win nor draw.
        if 2 * u64::from(position.mover_store() + position.seeds()) < u64::from(self.seeds) {
            return Ok(Some(Outcome::Loss));
        }
        if let Found::Win(_) = self.turn(position)? {
            return Ok(Some(Outcome::Win));
        }
        let mut best = Some(Outcome::Loss);
        for end in self.search.ends() {
            let outcome = match end.outcome() {
                None if turns > 1 => self.outcome(&end.position.turned(), turns - 1)?.map(Outcome::turned),
                over => over,
            };
            best = match (best, outcome) {
                (_, Some(Outcome::Win)) => return Ok(outcome),
                (Some(best), Some(outcome)) => Some(best.max(outcome)),
                _ => None,
            };
        }
        Ok(best)
    }

    /// Searches a turn.
    fn turn(&mut self, position: &Position) -> Result<Found, OutOfLimit> {
        let left = self.limit.saturating_sub(self.search.moves);
        if left == 0 || self.cancel.is_cancelled() {
            return Err(OutOfLimit);
        }
        match self.search.run(*position, self.seeds, left) {
            Found::Limit => Err(OutOfLimit),
            found => Ok(found),
        }
    }

    /// Adds the lines that prove a bound: with `one`, that the mover does at least that well (one turn in every
    /// position), else that the mover does no better (all turns).
    fn prove(&mut self, position: &Position, one: bool, lines: &mut Lines) -> Result<(), OutOfLimit> {
        if let Found::Win(moves) = self.turn(position)? {
            return lines.end(position.pits(), moves);
        }
        let ends = self.search.ends();
        let ends: Vec<_> = ends.into_iter().map(|end| (end, self.search.moves_to(&end))).collect();
        let outcome = |tree: &Self, end: &End| {
            end.outcome().or_else(|| match tree.searched.get(&end.position.turned()) {
                Some(Searched::Proved(outcome)) => Some(outcome.turned()),
                _ => None,
            })
        };
        let best = if one { ends.iter().map(|(end, _)| outcome(self, end)).max().flatten() } else { None };
        for (end, moves) in ends {
            if one && outcome(self, &end) != best {
                continue;
            }
            if end.position.is_over() {
                lines.end(position.pits(), moves)?;
            } else {
                lines.turns.push(moves);
                self.prove(&end.position.turned(), !one, lines)?;
                lines.turns.pop();
            }
            if one {
                break;
            }
        }
        Ok(())
    }
}
