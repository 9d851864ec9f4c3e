use std::ops::RangeInclusive;

use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Line, ParseError, Rules, StartPosition};
use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::check::{CheckError, check};
use super::outcome::{Limits, MAX_LINES, Outcome, Verdict};
use super::turn_tree::outcome;

/// Games of a batch at most; batches begin at multiples of it.
const BATCH: u32 = 4096;

/// What a scan looks for, and how long in each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The rule set.
    pub rules: Rules,
    /// How far each game is searched.
    pub limits: Limits,
    /// Whether wins within the first turn are listed one by one too.
    pub wins: bool,
}

/// One start position and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedStart {
    /// Pits a side.
    pub houses: usize,
    /// Seeds in each pit.
    pub seeds: u32,
    /// W, D or L for the first player; `None` if it was not decided within the limits.
    pub outcome: Option<char>,
    /// Depth in turns, as in [`Verdict::turns`].
    pub turns: u32,
    /// Positions visited.
    pub positions: u64,
    /// The proof, as in [`Verdict::lines`].
    pub lines: Vec<String>,
}

/// How many games ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tally {
    /// All of them.
    pub games: u64,
    /// Won by the first player within the first turn.
    pub won_in_first_turn: u64,
    /// Won by the first player later.
    pub won_later: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost by the first player.
    pub losses: u64,
    /// Not decided within the limits.
    pub undecided: u64,
    /// Moves played to decide them.
    pub positions: u64,
    /// Decided with proofs too long to list and check.
    pub unproved: u64,
}

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        self.games += 1;
        self.positions = self.positions.saturating_add(verdict.positions);
        *match (verdict.outcome, verdict.turns) {
            (Some(Outcome::Win), 1) => &mut self.won_in_first_turn,
            (Some(Outcome::Win), _) => &mut self.won_later,
            (Some(Outcome::Draw), _) => &mut self.draws,
            (Some(Outcome::Loss), _) => &mut self.losses,
            (None, _) => &mut self.undecided,
        } += 1;
        self.unproved += u64::from(verdict.outcome.is_some() && verdict.lines.is_empty());
    }

    /// Both together.
    pub fn add(&mut self, other: &Tally) {
        self.games += other.games;
        self.won_in_first_turn += other.won_in_first_turn;
        self.won_later += other.won_later;
        self.draws += other.draws;
        self.losses += other.losses;
        self.undecided += other.undecided;
        self.positions = self.positions.saturating_add(other.positions);
        self.unproved += other.unproved;
    }
}

/// Start positions with the same pits a side and neighbouring numbers of seeds, scanned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Pits a side.
    pub houses: usize,
    /// The least seeds of a pit.
    pub from: u32,
    /// The most seeds of a pit.
    pub to: u32,
    /// All games of it.
    pub tally: Tally,
    /// The games not won within the first turn; all if the wins are asked for.
    pub games: Vec<ScannedStart>,
}

/// A range of start positions: pits a side, and the seeds of each pit.
pub type StartRange = (usize, RangeInclusive<u32>);

/// Why a scan has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A start position that is none.
    #[error("{houses}x{seeds}: {source}")]
    Start {
        /// Pits a side.
        houses: usize,
        /// Seeds in each pit.
        seeds: u32,
        /// Why.
        source: ParseError,
    },
    /// A result that the rules do not confirm.
    #[error("{houses}x{seeds} was found to be {outcome:?}, which is wrong: {source}")]
    Wrong {
        /// Pits a side.
        houses: usize,
        /// Seeds in each pit.
        seeds: u32,
        /// What was found.
        outcome: Option<Outcome>,
        /// Why it is wrong.
        source: CheckError,
    },
    /// A batch that no scan with these limits finds.
    #[error("{0}")]
    Foreign(&'static str),
}

/// Splits ranges into batches, leaving out those that are done. Where a batch ends depends on nothing but the ranges.
pub fn split(ranges: &[StartRange], done: &[Batch]) -> Vec<StartRange> {
    let is_done = |pits: usize, from: u32, to: u32| {
        done.iter().any(|batch| (batch.houses, batch.from, batch.to) == (pits, from, to))
    };
    let mut batches = Vec::new();
    for (pits, seeds) in ranges {
        let (mut from, last) = (*seeds.start(), *seeds.end());
        while from <= last {
            let to = last.min(from | (BATCH - 1));
            if !is_done(*pits, from, to) {
                batches.push((*pits, from..=to));
            }
            match to.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
    }
    batches
}

impl Scan {
    /// A scan within `limits` that does not list wins within the first turn.
    #[must_use]
    pub const fn new(rules: Rules, limits: Limits) -> Scan {
        Scan { rules, limits, wins: false }
    }

    /// Whether wins within the first turn are listed too.
    #[must_use]
    pub const fn wins(self, wins: bool) -> Scan {
        Scan { wins, ..self }
    }

    /// What is known of one start position, confirmed by the rules.
    ///
    /// # Errors
    /// When it is none, when stopped, and when the rules do not confirm it.
    pub fn game(&self, houses: usize, seeds: u32, cancel: &Cancel) -> Result<Verdict, ScanError> {
        let start = StartPosition { pits: houses, seeds }.position();
        let start = start.map_err(|source| ScanError::Start { houses, seeds, source })?;
        let verdict = outcome(self.rules, &start, self.limits, cancel)?;
        if !verdict.lines.is_empty()
            && let Err(source) = check(self.rules, &start, &verdict)
        {
            return Err(ScanError::Wrong { houses, seeds, outcome: verdict.outcome, source });
        }
        Ok(verdict)
    }

    /// Checks what an earlier run found of a batch: the proofs of its games by the rules, and its counts by its games.
    ///
    /// # Errors
    /// When it is not what this scan finds.
    pub(super) fn confirm(&self, batch: &Batch) -> Result<(), ScanError> {
        let &Batch { houses, from, to, tally, ref games } = batch;
        let foreign = |right: bool, why| if right { Ok(()) } else { Err(ScanError::Foreign(why)) };
        foreign(1 <= from && from <= to, "it holds no games")?;
        let start = StartPosition { pits: houses, seeds: to }.position();
        start.map_err(|source| ScanError::Start { houses, seeds: to, source })?;
        let mut told = Tally::default();
        for game in games {
            let verdict = self.confirm_game(game)?;
            let is_told = self.wins || (verdict.outcome, verdict.turns) != (Some(Outcome::Win), 1);
            let is_of_batch = game.houses == houses && (from..=to).contains(&game.seeds) && is_told;
            foreign(is_of_batch, "it lists a game that does not belong to it")?;
            told.count(&verdict);
        }
        foreign(games.is_sorted_by(|one, next| one.seeds < next.seeds), "its games are out of order")?;
        // All others were won within the first turn.
        let others = (u64::from(to - from) + 1).saturating_sub(told.games);
        foreign(!self.wins || others == 0, "a game is missing")?;
        let all = Tally {
            games: told.games + others,
            won_in_first_turn: told.won_in_first_turn + others,
            // At least a move each.
            positions: tally.positions.max(told.positions.saturating_add(others)),
            ..told
        };
        foreign(tally == all, "its counts are not those of its games")
    }

    /// What an earlier run found of a game, its proof checked by the rules.
    fn confirm_game(&self, game: &ScannedStart) -> Result<Verdict, ScanError> {
        let &ScannedStart { houses, seeds, outcome: letter, turns, positions, ref lines } = game;
        let start = StartPosition { pits: houses, seeds }.position();
        let start = start.map_err(|source| ScanError::Start { houses, seeds, source })?;
        let outcome = letter
            .map(|letter| Outcome::from_letter(letter).ok_or(ScanError::Foreign("a game has an unknown outcome")));
        let outcome = outcome.transpose()?;
        let lines = lines.iter().map(|line| Line::parse(houses, line)).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|_| ScanError::Foreign("a line of a proof cannot be read"))?;
        let verdict = Verdict { outcome, turns, lines, positions };
        let is_limited = turns <= self.limits.turns
            && verdict.lines.len() <= MAX_LINES
            && verdict.lines.iter().all(|line| line.turns().len() as u64 <= u64::from(turns));
        if !is_limited || outcome.is_none() && !verdict.lines.is_empty() {
            return Err(ScanError::Foreign("a game goes beyond the limits of the scan"));
        }
        if !verdict.lines.is_empty()
            && let Err(source) = check(self.rules, &start, &verdict)
        {
            return Err(ScanError::Wrong { houses, seeds, outcome, source });
        }
        // The lines of a draw prove that the mover does not win.
        let loss = Verdict { outcome: Some(Outcome::Loss), ..verdict.clone() };
        if outcome == Some(Outcome::Draw) && !loss.lines.is_empty() && check(self.rules, &start, &loss).is_ok() {
            return Err(ScanError::Foreign("a game that is lost is listed as drawn"));
        }
        Ok(verdict)
    }

    /// Scans one batch; `on_game` is called after every game.
    fn batch(
        &self,
        (houses, seeds): StartRange,
        cancel: &Cancel,
        on_game: &(dyn Fn() + Sync),
    ) -> Result<Batch, ScanError> {
        let mut batch =
            Batch { houses, from: *seeds.start(), to: *seeds.end(), tally: Tally::default(), games: Vec::new() };
        for seeds in seeds {
            let verdict = self.game(houses, seeds, cancel)?;
            batch.tally.count(&verdict);
            if self.wins || (verdict.outcome, verdict.turns) != (Some(Outcome::Win), 1) {
                batch.games.push(ScannedStart {
                    houses,
                    seeds,
                    outcome: verdict.outcome.map(Outcome::letter),
                    turns: verdict.turns,
                    positions: verdict.positions,
                    lines: verdict.lines.iter().map(ToString::to_string).collect(),
                });
            }
            on_game();
        }
        Ok(batch)
    }

    /// Scans `ranges` on all threads, leaving out the batches among `done`, and returns all batches in the order of
    /// the ranges. `on_batch` is called with every finished batch, in any order.
    ///
    /// # Errors
    /// As [`Scan::game`], and what `on_batch` returns.
    pub fn run<E: From<ScanError> + Send>(
        &self,
        ranges: &[StartRange],
        done: Vec<Batch>,
        cancel: &Cancel,
        on_game: &(dyn Fn() + Sync),
        on_batch: &(dyn Fn(&Batch) -> Result<(), E> + Sync),
    ) -> Result<Vec<Batch>, E> {
        let left = split(ranges, &done);
        let asked: std::collections::HashSet<_> = split(ranges, &[]).into_iter().collect();
        let batches = Mutex::new(done);
        // One after the other from the front, so that a stop leaves few gaps.
        left.into_iter().par_bridge().try_for_each(|range| -> Result<(), E> {
            let batch = self.batch(range, cancel, on_game)?;
            on_batch(&batch)?;
            batches.lock().push(batch);
            Ok(())
        })?;
        let mut batches = batches.into_inner();
        batches.retain(|batch| asked.contains(&(batch.houses, batch.from..=batch.to)));
        batches.sort_by_key(|batch| (batch.houses, batch.from));
        batches.dedup_by_key(|batch| (batch.houses, batch.from));
        Ok(batches)
    }
}
