use std::ops::RangeInclusive;
use std::path::Path;

use kalah_base::diagnostic::{self, Commands, Diagnosis, Diagnostic};
use kalah_base::file::{Document, StateError, StateFile};
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Line, ParseError, Rules, StartPosition};
use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::outcome::{Limits, MAX_LINES, Outcome, Verdict, VerdictError, check};
use super::turn_tree::outcome;

/// Maximum games in a batch. Batches begin at multiples of it.
const BATCH: u32 = 4096;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn add(&mut self, other: &ScanTally) {
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

/// Start positions with the same pits a side and consecutive numbers of seeds, scanned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Pits a side.
    #[serde(rename = "houses")]
    pub pits: usize,
    /// The least seeds of a pit.
    pub from: u32,
    /// The most seeds of a pit.
    pub to: u32,
    /// Tally of all its games.
    pub tally: ScanTally,
    /// Games not won within the first turn; all games if wins are listed.
    pub games: Vec<ScannedStart>,
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
    #[error("{pits}x{seeds}: {source}")]
    Start {
        /// Pits a side.
        pits: usize,
        /// Seeds in each pit.
        seeds: u32,
        /// The reason.
        source: ParseError,
    },
    /// A result that contradicts the rules.
    #[error("the result {outcome:?} of {pits}x{seeds} is wrong: {source}")]
    Wrong {
        /// Pits a side.
        pits: usize,
        /// Seeds in each pit.
        seeds: u32,
        /// The outcome found.
        outcome: Option<Outcome>,
        /// The reason.
        source: VerdictError,
    },
    /// A batch that a scan with these limits does not produce.
    #[error("{0}")]
    Foreign(&'static str),
}

impl Diagnostic for ScanError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            ScanError::Stopped(error) => error.diagnosis(commands),
            ScanError::Wrong { .. } => diagnostic::Outcome::Wrong.into(),
            _ => diagnostic::Outcome::Failed.into(),
        }
    }
}

/// Splits ranges into batches without the `done` ones. The bounds of batches depend on the ranges alone.
pub fn split(ranges: &[StartRange], done: &[Batch]) -> Vec<StartRange> {
    let is_done = |pits: usize, from: u32, to: u32| {
        done.iter().any(|batch| (batch.pits, batch.from, batch.to) == (pits, from, to))
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

impl OpeningScan {
    /// A scan within `limits` that does not list wins within the first turn.
    #[must_use]
    pub const fn new(rules: Rules, limits: Limits) -> OpeningScan {
        OpeningScan { rules, limits, wins: false }
    }

    /// Verdict on one start position, checked by the rules.
    ///
    /// # Errors
    /// If the start is not a valid position, the scan is stopped, or the rules do not confirm the verdict.
    pub fn game(&self, pits: usize, seeds: u32, cancel: &Cancel) -> Result<Verdict, ScanError> {
        let start = StartPosition { pits, seeds }.position();
        let start = start.map_err(|source| ScanError::Start { pits, seeds, source })?;
        let verdict = outcome(self.rules, &start, self.limits, cancel)?;
        if !verdict.lines.is_empty()
            && let Err(source) = check(self.rules, &start, &verdict)
        {
            return Err(ScanError::Wrong { pits, seeds, outcome: verdict.outcome, source });
        }
        Ok(verdict)
    }

    /// Checks a batch of a saved scan: the proofs of its games by the rules, and its counts by its games.
    ///
    /// # Errors
    /// If this scan would not produce it.
    fn confirm(&self, batch: &Batch) -> Result<(), ScanError> {
        let &Batch { pits, from, to, tally, ref games } = batch;
        let foreign = |right: bool, why| if right { Ok(()) } else { Err(ScanError::Foreign(why)) };
        foreign(1 <= from && from <= to, "it has no games")?;
        let start = StartPosition { pits, seeds: to }.position();
        start.map_err(|source| ScanError::Start { pits, seeds: to, source })?;
        let mut listed = ScanTally::default();
        for game in games {
            let verdict = self.confirm_game(game)?;
            let is_listed = self.wins || (verdict.outcome, verdict.turns) != (Some(Outcome::Win), 1);
            let is_of_batch = game.pits == pits && (from..=to).contains(&game.seeds) && is_listed;
            foreign(is_of_batch, "it lists a game that does not belong to it")?;
            listed.count(&verdict);
        }
        foreign(games.is_sorted_by(|one, next| one.seeds < next.seeds), "its games are out of order")?;
        // All other games were won within the first turn.
        let others = (u64::from(to - from) + 1).saturating_sub(listed.games);
        foreign(!self.wins || others == 0, "a game is missing")?;
        let all = ScanTally {
            games: listed.games + others,
            won_in_first_turn: listed.won_in_first_turn + others,
            // At least one move each.
            positions: tally.positions.max(listed.positions.saturating_add(others)),
            ..listed
        };
        foreign(tally == all, "its counts are not those of its games")
    }

    /// Verdict on a game of a saved scan, whose proof is checked by the rules.
    fn confirm_game(&self, game: &ScannedStart) -> Result<Verdict, ScanError> {
        let &ScannedStart { pits, seeds, outcome: letter, turns, positions, ref lines } = game;
        let start = StartPosition { pits, seeds }.position();
        let start = start.map_err(|source| ScanError::Start { pits, seeds, source })?;
        let outcome = letter
            .map(|letter| Outcome::from_letter(letter).ok_or(ScanError::Foreign("a game has an unknown outcome")));
        let outcome = outcome.transpose()?;
        let lines = lines.iter().map(|line| Line::parse(pits, line)).collect::<Result<Vec<_>, _>>();
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
            return Err(ScanError::Wrong { pits, seeds, outcome, source });
        }
        // The lines of a draw prove that the mover does not win.
        let loss = Verdict { outcome: Some(Outcome::Loss), ..verdict.clone() };
        if outcome == Some(Outcome::Draw) && !loss.lines.is_empty() && check(self.rules, &start, &loss).is_ok() {
            return Err(ScanError::Foreign("a game that is lost is listed as drawn"));
        }
        Ok(verdict)
    }

    /// Scans one batch. Calls `on_game` after every game.
    fn batch(
        &self,
        (pits, seeds): StartRange,
        cancel: &Cancel,
        on_game: &(dyn Fn() + Sync),
    ) -> Result<Batch, ScanError> {
        let mut batch =
            Batch { pits, from: *seeds.start(), to: *seeds.end(), tally: ScanTally::default(), games: Vec::new() };
        for seeds in seeds {
            let verdict = self.game(pits, seeds, cancel)?;
            batch.tally.count(&verdict);
            if self.wins || (verdict.outcome, verdict.turns) != (Some(Outcome::Win), 1) {
                batch.games.push(ScannedStart {
                    pits,
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

    /// Scans `ranges` on all threads except the batches in `done`. Returns all batches in the order of the
    /// ranges. Calls `on_batch` with every finished batch, in any order.
    ///
    /// # Errors
    /// As [`OpeningScan::game`], or an error of `on_batch`.
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
        // In order from the front, so that a stop leaves few gaps.
        left.into_iter().par_bridge().try_for_each(|range| -> Result<(), E> {
            let batch = self.batch(range, cancel, on_game)?;
            on_batch(&batch)?;
            batches.lock().push(batch);
            Ok(())
        })?;
        let mut batches = batches.into_inner();
        batches.retain(|batch| asked.contains(&(batch.pits, batch.from..=batch.to)));
        batches.sort_by_key(|batch| (batch.pits, batch.from));
        batches.dedup_by_key(|batch| (batch.pits, batch.from));
        Ok(batches)
    }
}

/// The file: a record for each finished batch.
const DOCUMENT: Document = Document { format: "kalah opening scan", version: 3 };

/// Identity of a scan.
#[derive(Serialize)]
struct Work {
    rules: &'static str,
    limits: Limits,
    wins: bool,
}

/// Opens or creates the state of a scan. Returns the finished batches, whose proofs are checked by the rules on the
/// threads of the current pool.
///
/// # Errors
/// As [`StateFile::open`]; also if the rules do not confirm a batch.
pub fn open_state(path: &Path, scan: &OpeningScan) -> Result<(StateFile, Vec<Batch>), StateError> {
    let work = Work { rules: scan.rules.name(), limits: scan.limits, wins: scan.wins };
    let (file, batches) = StateFile::open::<Batch>(path, DOCUMENT, &work)?;
    batches.par_iter().enumerate().try_for_each(|(index, batch)| {
        scan.confirm(batch).map_err(|error| StateError::damaged_record(file.path(), index, error))
    })?;
    Ok((file, batches))
}
