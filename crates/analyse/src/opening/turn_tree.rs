use std::collections::HashMap;

use foldhash::fast::FixedState;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Line, Pit, Position, Rules};

use super::outcome::{Limits, MAX_LINES, Outcome, Verdict};
use super::ring::Ring;
use super::turn::{End, Found, TurnSearch};

/// Searches for a winning opening of the mover of `position` (Kvitberg 2026, definition 5.1): moves of the
/// first turn that win. The mover wins within the turn by holding more than half of the seeds at any time, or
/// by an end of the game that counts the rest. On boards with one pit a side, where there is never a choice,
/// any win counts.
///
/// In this reading all 36 cells of Kvitberg's Table 4 hold. Without the second condition 35 hold; the exception
/// is one pit a side with two seeds. A [`Verdict`] undecided after one turn means that there is no winning
/// opening.
///
/// # Errors
/// If `cancel` is cancelled.
pub fn winning_opening(rules: Rules, position: &Position, positions: u64, cancel: &Cancel) -> Result<Verdict, Stopped> {
    let turns = if position.pits() == 1 { u32::MAX } else { 1 };
    outcome(rules, position, Limits { turns, positions }, cancel)
}

/// Calls a function of the ring for this number of pits a side.
macro_rules! on_ring {
    ($pits:expr, $function:ident($($argument:expr),*)) => {
        match $pits {
            1 => $function::<3>($($argument),*),
            2 => $function::<5>($($argument),*),
            3 => $function::<7>($($argument),*),
            4 => $function::<9>($($argument),*),
            5 => $function::<11>($($argument),*),
            6 => $function::<13>($($argument),*),
            7 => $function::<15>($($argument),*),
            8 => $function::<17>($($argument),*),
            9 => $function::<19>($($argument),*),
            10 => $function::<21>($($argument),*),
            11 => $function::<23>($($argument),*),
            12 => $function::<25>($($argument),*),
            13 => $function::<27>($($argument),*),
            14 => $function::<29>($($argument),*),
            15 => $function::<31>($($argument),*),
            16 => $function::<33>($($argument),*),
            pits => unreachable!("positions have 1 to 16 pits a side, not {pits}"),
        }
    };
}

/// Decides a position by a search turn by turn (Kvitberg 2026, section 5: the turn game tree). It tests whether the
/// mover can win within the turn, then whether the other player can after every end of it, and so on, deeper each
/// time.
///
/// The result depends on the arguments alone.
///
/// # Errors
/// If `cancel` is cancelled.
pub fn outcome(rules: Rules, position: &Position, limits: Limits, cancel: &Cancel) -> Result<Verdict, Stopped> {
    let verdict = on_ring!(position.pits(), outcome_on_ring(rules, position, limits, cancel));
    // A search cut short has no verdict.
    cancel.check().map(|()| verdict)
}

fn outcome_on_ring<const PLACES: usize>(rules: Rules, position: &Position, limits: Limits, cancel: &Cancel) -> Verdict {
    let mut verdict = Verdict { outcome: None, turns: 0, lines: Vec::new(), positions: 0 };
    if let Some(value) = position.final_value() {
        verdict.outcome = Some(Outcome::of(value));
        return verdict;
    }
    let board = Ring::<PLACES>::new(position).expect("the caller chose the ring");
    let seeds = board.total() + position.other_store();
    let search = TurnSearch::new(rules);
    let mut tree = TurnTree { seeds, search, limit: limits.positions, cancel, searched: HashMap::default() };
    // Most starts are won in the first turn.
    if let Ok(Found::Win(moves)) = tree.turn(board) {
        let mut lines = Lines::default();
        (verdict.outcome, verdict.turns, verdict.positions) = (Some(Outcome::Win), 1, tree.search.moves);
        let _ = lines.end(Ring::<PLACES>::PITS, moves);
        verdict.lines = lines.done;
        return verdict;
    }
    for turns in 1..=limits.turns {
        match tree.outcome(board, turns) {
            Ok(None) => verdict.turns = turns,
            Ok(Some(outcome)) => {
                (verdict.outcome, verdict.turns, verdict.positions) = (Some(outcome), turns, tree.search.moves);
                // A verdict found within the limits is proved in full.
                tree.limit = u64::MAX;
                let mut lines = Lines::default();
                if tree.prove(board, outcome == Outcome::Win, &mut lines).is_ok() {
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
struct TurnTree<'a, const PLACES: usize> {
    seeds: u32,
    search: TurnSearch<PLACES>,
    limit: u64,
    cancel: &'a Cancel,
    searched: HashMap<Ring<PLACES>, Searched, FixedState>,
}

impl<const PLACES: usize> TurnTree<'_, PLACES> {
    /// The outcome for the mover, if `turns` turns decide it.
    fn outcome(&mut self, board: Ring<PLACES>, turns: u32) -> Result<Option<Outcome>, OutOfLimit> {
        match self.searched.get(&board) {
            Some(Searched::Proved(outcome)) => return Ok(Some(*outcome)),
            Some(Searched::Undecided(searched)) if *searched >= turns => return Ok(None),
            _ => {}
        }
        let outcome = self.search_turn(board, turns)?;
        self.searched.insert(board, outcome.map_or(Searched::Undecided(turns), Searched::Proved));
        Ok(outcome)
    }

    fn search_turn(&mut self, board: Ring<PLACES>, turns: u32) -> Result<Option<Outcome>, OutOfLimit> {
        // A player whose store and all seeds in play are together less than half can neither win nor draw.
        if 2 * u64::from(board.total()) < u64::from(self.seeds) {
            return Ok(Some(Outcome::Loss));
        }
        if let Found::Win(_) = self.turn(board)? {
            return Ok(Some(Outcome::Win));
        }
        let mut best = Some(Outcome::Loss);
        for end in self.search.ends() {
            let outcome = if end.over {
                Some(end.outcome(self.seeds))
            } else if turns > 1 {
                self.outcome(end.board.turned(self.seeds), turns - 1)?.map(Outcome::turned)
            } else {
                None
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
    fn turn(&mut self, board: Ring<PLACES>) -> Result<Found, OutOfLimit> {
        let left = self.limit.saturating_sub(self.search.moves);
        if left == 0 || self.cancel.is_cancelled() {
            return Err(OutOfLimit);
        }
        match self.search.run(board, self.seeds, left) {
            Found::Limit => Err(OutOfLimit),
            found => Ok(found),
        }
    }

    /// Adds the lines that prove a bound: with `one`, that the mover does at least that well (one turn in every
    /// position), else that the mover does no better (all turns).
    fn prove(&mut self, board: Ring<PLACES>, one: bool, lines: &mut Lines) -> Result<(), OutOfLimit> {
        let (pits, seeds) = (Ring::<PLACES>::PITS, self.seeds);
        if let Found::Win(moves) = self.turn(board)? {
            return lines.end(pits, moves);
        }
        let ends = self.search.ends();
        let ends: Vec<_> = ends.into_iter().map(|end| (end, self.search.moves_to(&end))).collect();
        let outcome = |tree: &Self, end: &End<PLACES>| match tree.searched.get(&end.board.turned(seeds)) {
            _ if end.over => Some(end.outcome(seeds)),
            Some(Searched::Proved(outcome)) => Some(outcome.turned()),
            _ => None,
        };
        let best = if one { ends.iter().map(|(end, _)| outcome(self, end)).max().flatten() } else { None };
        for (end, moves) in ends {
            if one && outcome(self, &end) != best {
                continue;
            }
            if end.over {
                lines.end(pits, moves)?;
            } else {
                lines.turns.push(moves);
                self.prove(end.board.turned(seeds), !one, lines)?;
                lines.turns.pop();
            }
            if one {
                break;
            }
        }
        Ok(())
    }
}
