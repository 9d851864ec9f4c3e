use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use kalah::analyse::opening::{self, Limits, Scan, ScanTally, ScannedStart, StartRange};
use kalah::game::{MAX_PITS, Rules, StartPosition};
use kalah::printable::commas;
use serde::Serialize;

use crate::cli::{
    Grid, Outcome, Progress, Range, Stoppable, args, cancelled_by_signal, examples, failure, line, output, usage,
};

/// Find the starts that the first player does not win
///
/// Use this to reproduce or extend the scan of Kvitberg (2026, section 5). Every start position is decided turn by
/// turn, and every decision is confirmed by playing its lines by the rules alone.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Scan all starts with up to 1000 seeds in each pit", "kalah analyse opening-scan --seeds-per-pit ..1000"),
    ("Find a win within the first turn", "kalah analyse opening-scan --pits 6 --seeds-per-pit 5 --wins --json"),
]))]
pub(crate) struct OpeningScan {
    /// Numbers of pits a side, both ends included
    #[arg(long, value_name = "A..B", default_value = "2..6", value_parser = args::range::<1, { MAX_PITS as u32 }>)]
    pits: Range,
    /// Numbers of seeds in each pit, both ends included; ..B begins with twice the number of pits, as the paper does
    #[arg(long = "seeds-per-pit", value_name = "A..B", default_value = "..1000", value_parser = args::range::<0, MOST>)]
    seeds: Range,
    /// Rule set
    #[arg(long, default_value_t = Rules::SKalaha, value_name = "RULES")]
    rules: Rules,
    /// Search each game N turns deep
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().turns,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    turns: u32,
    /// Visit at most N positions in each game
    #[arg(long, value_name = "N", default_value_t = Limits::default().positions)]
    positions: u64,
    /// Also list wins within the first turn
    #[arg(long)]
    wins: bool,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Maximum seeds in each pit; a start position may have fewer.
const MOST: u32 = u32::MAX;

#[derive(Serialize)]
struct ScanReport {
    rules: &'static str,
    limits: Limits,
    #[serde(flatten)]
    scan: Scan,
    threads: usize,
    seconds: f64,
}

impl OpeningScan {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let ranges = self.ranges()?;
        let clock = Instant::now();
        let limits = Limits { turns: self.turns, positions: self.positions };
        let scan = opening::OpeningScan { rules: self.rules, limits, wins: self.wins };
        let games = ranges.iter().map(|(_, seeds)| u64::from(seeds.end() - seeds.start()) + 1).sum();
        let cancel = cancelled_by_signal();
        let (progress, scanned) = (Progress::of(games, "games").at("openings"), AtomicU64::new(0));
        let on_game = || _ = scanned.fetch_add(1, Ordering::Relaxed);
        let scanned = progress.complete(&scanned, || scan.run(&ranges, &cancel, &on_game));
        let scan = scanned.if_stopped("stopped, and nothing is saved; a part of --seeds-per-pit takes less time")?;
        let (threads, seconds) = (rayon::current_num_threads(), clock.elapsed().as_secs_f64());
        let report = ScanReport { rules: self.rules.name(), limits, scan, threads, seconds };
        output::answer(self.json, &report, || report.text())?;
        Ok(Outcome::Done)
    }

    /// Returns the start positions to scan.
    fn ranges(&self) -> failure::Result<Vec<StartRange>> {
        let (begin, last) = (*self.seeds.start(), *self.seeds.end());
        let mut ranges = Vec::new();
        for houses in self.pits.clone() {
            let (pits, first) = (houses as usize, if begin == 0 { 2 * houses } else { begin });
            let largest = StartPosition { pits, seeds: last }.position();
            largest.map_err(|error| usage(format_args!("{houses}x{last}: {error}")))?;
            if first <= last {
                ranges.push((pits, first..=last));
            }
        }
        if ranges.is_empty() {
            return Err(usage("there is no start position to scan: --seeds-per-pit begins with two a pit"));
        }
        Ok(ranges)
    }
}

impl ScanReport {
    fn text(&self) -> std::io::Result<()> {
        line!("{}: seeds with which the first player does not win (lost; D drawn, ? not decided)", self.rules)?;
        for board in &self.scan.boards {
            let games = self.scan.games.iter().filter(|game| game.pits == board.pits && game.outcome != Some('W'));
            let not_won = games.map(|&ScannedStart { seeds, outcome, .. }| match outcome {
                Some('L') => seeds.to_string(),
                Some(_) => format!("{seeds} D"),
                None => format!("{seeds} ?"),
            });
            line!("  {} houses: {}", board.pits, output::joined(not_won, ", "))?;
        }
        let mut grid = Grid::new([
            "houses",
            "games",
            "won in the first turn",
            "won later",
            "drawn",
            "lost",
            "not decided",
            "proofs too long to check",
            "positions",
        ]);
        for board in &self.scan.boards {
            let ScanTally {
                games, won_in_first_turn, won_later, draws, losses, undecided, unproved, positions, ..
            } = board.tally;
            let counts = [games, won_in_first_turn, won_later, draws, losses, undecided, unproved, positions];
            let counts = counts.map(commas);
            grid.row(std::iter::once(board.pits.to_string()).chain(counts));
        }
        grid.print()?;
        let games: u64 = self.scan.boards.iter().map(|board| board.tally.games).sum();
        let threads = output::count(self.threads, "thread");
        line!("{} scanned in {:.1} s, {threads}", output::count(games as usize, "game"), self.seconds)
    }
}
