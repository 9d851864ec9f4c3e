use std::ops::RangeInclusive;

use kalah_base::diagnostic::{self, Diagnosis, Diagnostic};
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{ParseError, Rules, StartPosition};
use rayon::prelude::*;
use serde::Serialize;

use super::turn_tree::outcome;
use super::verdict::{Limits, Outcome, Verdict, check};

/// Settings of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningScan {
    /// The rule set.
    pub rules: Rules,
    /// Limits of the search of each game.
    pub limits: Limits,
    /// True if wins within the first turn are listed too.
    pub wins: bool,
}

/// A start position and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScannedStart {
    /// Pits a side.
    #[serde(rename = "houses")]
    pub pits: usize,
    /// Seeds in each pit.
    pub seeds: u32,
    /// W, D or L for the first player; `None` if it was not decided within the limits.
    pub outcome: Option<char>,
    /// Number of turns, as in [`Verdict::turns`].
    pub turns: u32,
    /// Positions visited.
    pub positions: u64,
    /// The proof, as in [`Verdict::lines`].
    pub lines: Vec<String>,
}

/// Numbers of games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ScanTally {
    /// All games.
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
    /// Moves played to decide the games.
    pub positions: u64,
    /// Games decided with proofs too long to list and check.
    pub unproved: u64,
}

impl ScanTally {
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

    /// Adds another tally.
    fn add(&mut self, other: &ScanTally) {
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

/// Results of start positions with the same pits a side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ScannedBoard {
    /// Pits a side.
    #[serde(rename = "houses")]
    pub pits: usize,
    /// Tally of all its games.
    #[serde(flatten)]
    pub tally: ScanTally,
}

/// Results of a scan, in the order of its ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Scan {
    /// Tallies by pits a side.
    #[serde(rename = "houses")]
    pub boards: Vec<ScannedBoard>,
    /// Games not won within the first turn; all games if wins are listed.
    pub games: Vec<ScannedStart>,
}

impl Scan {
    /// Adds the results of later start positions.
    fn and(mut self, more: Scan) -> Scan {
        for board in more.boards {
            match self.boards.last_mut().filter(|last| last.pits == board.pits) {
                Some(last) => last.tally.add(&board.tally),
                None => self.boards.push(board),
            }
        }
        self.games.extend(more.games);
        self
    }
}

/// A range of start positions: pits a side, and the seeds of each pit.
pub type StartRange = (usize, RangeInclusive<u32>);

/// Error of a scan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// An invalid start position.
    #[error("{0}: {1}")]
    Start(StartPosition, #[source] ParseError),
    /// A result that contradicts the rules.
    #[error("the result of {0} is wrong: {1}")]
    Wrong(StartPosition, String),
}

impl Diagnostic for ScanError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            ScanError::Stopped(error) => error.diagnosis(),
            ScanError::Wrong(..) => diagnostic::Outcome::Wrong.into(),
            _ => diagnostic::Outcome::Failed.into(),
        }
    }
}

impl OpeningScan {
    /// Verdict on one start position, checked by the rules.
    ///
    /// # Errors
    /// If the start is not a valid position, the scan is stopped, or the rules do not confirm the verdict.
    pub fn game(&self, pits: usize, seeds: u32, cancel: &Cancel) -> Result<Verdict, ScanError> {
        let start = StartPosition { pits, seeds };
        let position = start.position().map_err(|source| ScanError::Start(start, source))?;
        let verdict = outcome(self.rules, &position, self.limits, cancel)?;
        if !verdict.lines.is_empty() {
            check(self.rules, &position, &verdict).map_err(|why| ScanError::Wrong(start, why))?;
        }
        Ok(verdict)
    }

    /// Results of one start position.
    fn one(&self, pits: usize, seeds: u32, cancel: &Cancel) -> Result<Scan, ScanError> {
        let (verdict, mut tally) = (self.game(pits, seeds, cancel)?, ScanTally::default());
        tally.count(&verdict);
        let is_listed = self.wins || (verdict.outcome, verdict.turns) != (Some(Outcome::Win), 1);
        let listed = is_listed.then(|| ScannedStart {
            pits,
            seeds,
            outcome: verdict.outcome.map(Outcome::letter),
            turns: verdict.turns,
            positions: verdict.positions,
            lines: verdict.lines.iter().map(ToString::to_string).collect(),
        });
        Ok(Scan { boards: vec![ScannedBoard { pits, tally }], games: listed.into_iter().collect() })
    }

    /// Scans `ranges` on the threads of the current pool. Calls `on_game` after every game.
    ///
    /// # Errors
    /// As [`OpeningScan::game`].
    pub fn run(&self, ranges: &[StartRange], cancel: &Cancel, on_game: &(dyn Fn() + Sync)) -> Result<Scan, ScanError> {
        let starts =
            ranges.par_iter().flat_map(|(pits, seeds)| seeds.clone().into_par_iter().map(|seeds| (*pits, seeds)));
        let scans = starts.map(|(pits, seeds)| self.one(pits, seeds, cancel).inspect(|_| on_game()));
        scans.try_reduce(Scan::default, |scan, more| Ok(scan.and(more)))
    }
}
