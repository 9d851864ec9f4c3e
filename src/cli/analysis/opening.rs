use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use kalah::analyse::opening::{Limits, Outcome as GameOutcome, ScanError, check, winning_opening};
use kalah::game::{Rules, StartPosition};
use serde::Serialize;

use crate::cli::failure::{self, bail, usage};
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::cancelled_by_signal;

/// Test if the first player can win in the first turn
///
/// Use this for rules with relays, where turns are long. The first player wins by holding more than half of the seeds
/// at any time in the turn. Ending the game with more seeds is a win too (Kvitberg 2026, section 5). With one pit a
/// side, nobody has a choice, so any win counts.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Test the first turn of S-Kalaha(6,4)", "kalah analyse opening 6x4 --rules s-kalaha"),
    ("Search further before giving up", "kalah analyse opening 6x10 --rules s-kalaha --positions 100000000"),
]))]
pub(super) struct Opening {
    /// Start position: pits a side and seeds in each, such as 6x4
    start: StartPosition,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    /// Give up after visiting N positions
    #[arg(long, value_name = "N", default_value_t = Limits::default().positions)]
    positions: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct OpeningReport {
    houses: usize,
    seeds: u32,
    rules: &'static str,
    winning_opening: bool,
    /// Moves of the opening.
    moves: Option<String>,
    /// Seeds in the first player's store after them.
    store: Option<u32>,
    /// Final store difference, if the game ends with them.
    value: Option<i64>,
    positions: u64,
    seconds: f64,
}

impl Opening {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let StartPosition { pits, seeds } = self.start;
        let start = self.start.position().map_err(usage)?;
        let cancel = cancelled_by_signal();
        let clock = Instant::now();
        let Ok(verdict) = winning_opening(self.rules, &start, self.positions, &cancel) else {
            output::message("stopped");
            return Ok(Outcome::Failed);
        };
        let seconds = clock.elapsed().as_secs_f64();
        if !verdict.lines.is_empty() {
            check(self.rules, &start, &verdict).map_err(|source| ScanError::Wrong {
                pits,
                seeds,
                outcome: verdict.outcome,
                source,
            })?;
        }
        if verdict.outcome.is_none() && verdict.turns == 0 {
            let positions = output::many(verdict.positions, "position");
            bail!("{}: not decided after {positions}; raise --positions to search further", self.start);
        }
        let mut report = OpeningReport {
            houses: pits,
            seeds,
            rules: self.rules.name(),
            winning_opening: verdict.outcome == Some(GameOutcome::Win),
            moves: None,
            store: None,
            value: None,
            positions: verdict.positions,
            seconds,
        };
        if report.winning_opening {
            let place = verdict.lines[0].follow(self.rules, &start)?[1];
            let end = if place.first { place.position } else { place.position.turned() };
            let moves = verdict.lines[0].to_string();
            report.moves = moves.split(' ').next().map(str::to_owned);
            (report.store, report.value) = (Some(end.mover_store()), end.final_value());
        }
        output::answer(self.json, &report, || report.text(self.start))?;
        Ok(Outcome::Done)
    }
}

impl OpeningReport {
    fn text(&self, start: StartPosition) -> std::io::Result<()> {
        let answer = if self.winning_opening { "a winning opening" } else { "no winning opening" };
        let (positions, seconds) = (output::many(self.positions, "position"), self.seconds);
        output::line(format_args!("{start} {}: {answer} ({positions}, {seconds:.2} s)", self.rules))?;
        if let (Some(moves), Some(store)) = (&self.moves, self.store) {
            output::line(format_args!("  moves  {moves}"))?;
            let all = HumanCount(2 * self.houses as u64 * u64::from(self.seeds));
            output::line(format_args!("  store  {} of {all} seeds", HumanCount(store.into())))?;
        }
        if let Some(value) = self.value {
            output::line(format_args!("  value  {}, the game is over", output::value(value)))?;
        }
        Ok(())
    }
}
