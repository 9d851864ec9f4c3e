use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use kalah::analyse::{Level, Puzzle, PuzzleMiner};
use kalah::answer::PuzzleAnswer;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::table::{TableError, Tables};
use serde::Serialize;

use crate::cli::{Grid, Outcome, Progress, args, bail, cancelled_by_signal, examples, failure, output, usage};

/// Find positions where only one move keeps the win or the draw
///
/// Use this for teaching and training. Games with random and shallow moves are played from the start. A position
/// within the tables is a puzzle if exactly one move keeps the win or the draw. Its level is the smallest depth at
/// which a depth-limited search finds that move and stays with it: easy up to 2 moves, medium up to 5, hard above.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Find ten puzzles", "kalah puzzles"),
    ("Find hard puzzles under the rules that most people play", "kalah puzzles --level hard --rules standard --json"),
]))]
pub(crate) struct Puzzles {
    /// Start position of the games
    #[arg(long, value_name = "POSITION", default_value = "6x4")]
    start: Position,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    #[command(flatten)]
    tables: args::Directory,
    /// Find only puzzles of this level: easy, medium or hard
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// Find only puzzles with at least N seeds in play
    #[arg(long, value_name = "N", default_value_t = 0)]
    in_play: u32,
    /// Find only puzzles in which a search of one move chooses another move
    #[arg(long)]
    tempting: bool,
    /// Find N puzzles
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Give up after N games
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Seed of the random moves
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PuzzlesReport {
    rules: &'static str,
    start: String,
    seed: u64,
    games: u64,
    puzzles: Vec<PuzzleAnswer>,
}

impl Puzzles {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (rules, pits) = (self.rules, self.start.pits());
        if pits > MAX_TABLE_PITS {
            return Err(usage(format_args!("puzzles need tables, which have at most {MAX_TABLE_PITS} pits a side")));
        }
        let tables = Tables::open(self.tables.directory(), rules, pits, MAX_TABLE_SEEDS)?;
        if tables.max_seeds().is_none() {
            bail!("{}", args::no_tables(self.tables.directory(), rules, pits));
        }
        let cancel = cancelled_by_signal();
        let progress = Progress::of(u64::from(self.count), "puzzles").at("games");
        let (done, mut games, mut found) = (AtomicU64::new(0), 0, Vec::new());
        let mut miner = PuzzleMiner::new(&tables, self.start, self.seed)?.within(self.in_play..=u32::MAX);
        let wants = |puzzle: &Puzzle| {
            self.level.is_none_or(|level| puzzle.level() == level) && (!self.tempting || puzzle.is_tempting())
        };
        progress.complete(&done, || {
            while found.len() < self.count as usize && games < self.games && !cancel.is_cancelled() {
                found.extend(miner.game()?.into_iter().filter(wants));
                games += 1;
                done.store(found.len() as u64, Ordering::Relaxed);
            }
            Ok::<_, TableError>(())
        })?;
        found.truncate(self.count as usize);
        let report = PuzzlesReport {
            rules: rules.name(),
            start: self.start.to_string(),
            seed: self.seed,
            games,
            puzzles: found.iter().map(PuzzleAnswer::from).collect(),
        };
        if !report.puzzles.is_empty() {
            output::answer(self.json, &report, || report.print())?;
        }
        if report.puzzles.len() < self.count as usize {
            let (found, games) = (output::count(report.puzzles.len(), "puzzle"), output::many(games, "game"));
            let why = if cancel.is_cancelled() { "stopped" } else { "use larger tables, or more --games" };
            bail!("found only {found} in {games}: {why}");
        }
        Ok(Outcome::Done)
    }
}

impl PuzzlesReport {
    fn print(&self) -> std::io::Result<()> {
        let mut grid = Grid::new(["position", "move", "keeps", "value", "second", "turns", "depth", "level"]);
        for puzzle in &self.puzzles {
            grid.row([
                puzzle.position.clone(),
                puzzle.r#move.to_string(),
                puzzle.outcome.to_owned(),
                output::value(puzzle.value),
                output::value(puzzle.second),
                puzzle.turns.to_string(),
                puzzle.depth.to_string(),
                puzzle.level.to_owned(),
            ]);
        }
        grid.print()
    }
}
