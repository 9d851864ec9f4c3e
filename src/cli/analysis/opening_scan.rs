use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use kalah::analyse::opening::{self, Limits, Scan, ScanTally, ScannedStart, StartRange};
use kalah::game::{MAX_PITS, Rules, StartPosition};
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
    /// Returns the numbers of seeds with which the first player does not win, with a mark unless the game is lost.
    fn not_won(&self, pits: usize) -> Vec<(u32, &'static str)> {
        let games = self.scan.games.iter().filter(|game| game.pits == pits && game.outcome != Some('W'));
        let mark = |game: &ScannedStart| match game.outcome {
            Some('L') => "",
            Some(_) => " D",
            None => " ?",
        };
        games.map(|game| (game.seeds, mark(game))).collect()
    }

    fn text(&self) -> std::io::Result<()> {
        line!("{}: seeds with which the first player does not win (lost; D drawn, ? not decided)", self.rules)?;
        let columns: Vec<_> = self.scan.boards.iter().map(|board| self.not_won(board.pits)).collect();
        let heading = |name: &str| {
            let houses = self.scan.boards.iter().map(|board| board.pits.to_string());
            Grid::new(std::iter::once(name.to_owned()).chain(houses))
        };
        let mut grid = heading("houses");
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cell = |column: &Vec<(u32, &str)>| {
                column.get(row).map_or(String::new(), |(seeds, mark)| format!("{}{mark}", HumanCount((*seeds).into())))
            };
            let name = if row == 0 { "seeds" } else { "" };
            grid.row(std::iter::once(name.to_owned()).chain(columns.iter().map(cell)));
        }
        grid.print()?;
        line!("")?;
        let mut grid = heading("houses");
        type Figure = fn(&ScanTally) -> u64;
        let figures: [(&str, Figure); 8] = [
            ("games", |tally| tally.games),
            ("won in the first turn", |tally| tally.won_in_first_turn),
            ("won later", |tally| tally.won_later),
            ("drawn", |tally| tally.draws),
            ("lost", |tally| tally.losses),
            ("not decided", |tally| tally.undecided),
            ("proofs too long to check", |tally| tally.unproved),
            ("positions", |tally| tally.positions),
        ];
        for (name, figure) in figures {
            let figures = self.scan.boards.iter().map(|board| HumanCount(figure(&board.tally)).to_string());
            grid.row(std::iter::once(name.to_owned()).chain(figures));
        }
        grid.print()?;
        let games: u64 = self.scan.boards.iter().map(|board| board.tally.games).sum();
        let threads = output::count(self.threads, "thread");
        line!("{} scanned in {:.1} s, {threads}", output::count(games as usize, "game"), self.seconds)
    }
}
