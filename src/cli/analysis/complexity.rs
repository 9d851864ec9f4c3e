use std::io;
use std::time::Instant;

use clap::Args;
use kalah::analyse::complexity::{Estimate, Players, Sampling};
use kalah::analyse::graph::Convention;
use kalah::game::{Rules, StartPosition};
use serde::Serialize;

use crate::cli::{Boards, Grid, Outcome, args, examples, failure, line, output, progress, usage};

/// Estimate the size of game trees
///
/// Use this to compare the complexity of boards. From sampled games it estimates their length d, their branching
/// factor w, and w^d. By default two alpha-beta players play, as in Irving et al. (2000, Table 1); `--players random`
/// is as in Kvitberg (2026, Table 3). Each move is a ply, even if the same player moves again. Intervals are of 95 %
/// confidence.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Estimate the game tree of one board", "kalah analyse complexity 6x4 --games 100"),
    ("Compare boards by random games", "kalah analyse complexity --pits 2..6 --seeds-per-pit 1..6 --players random"),
]))]
pub(crate) struct Complexity {
    #[command(flatten)]
    boards: Boards,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    /// Play N games on each board
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: u32,
    /// Players: alpha-beta, which chooses evenly among the best moves, or random
    #[arg(long, value_name = "PLAYERS", default_value = "alpha-beta", value_parser = ["alpha-beta", "random"])]
    players: String,
    /// Let alpha-beta search N moves deep
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=30))]
    depth: u32,
    /// End of games. plain: when a row is empty; irving: also when a store has more than half of all seeds
    #[arg(long, default_value = "plain", value_name = "CONVENTION")]
    convention: Convention,
    /// Seed of the random choices; the same seed repeats the games
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BoardReport {
    pits: usize,
    seeds: u32,
    length: Estimate,
    branching: Estimate,
    /// Decimal logarithm of w^d.
    tree_log10: Estimate,
}

#[derive(Serialize)]
struct ComplexityReport {
    rules: &'static str,
    players: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    convention: &'static str,
    games: u32,
    seed: u64,
    boards: Vec<BoardReport>,
    seconds: f64,
    threads: usize,
}

impl Complexity {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let Self { rules, depth, .. } = self;
        let is_random = self.players == "random";
        let players = if is_random { Players::Random } else { Players::AlphaBeta { depth } };
        let until_decided = self.convention == Convention::Irving;
        let sampling = Sampling { rules, players, until_decided, games: self.games as usize, seed: self.seed };
        let (began, mut boards) = (Instant::now(), Vec::new());
        for start in self.boards.list() {
            boards.push(progress::watch(&format!("playing {start}"), || sample(&sampling, start))?);
        }
        let report = ComplexityReport {
            rules: rules.name(),
            players: self.players,
            depth: (!is_random).then_some(depth),
            convention: self.convention.name(),
            games: self.games,
            seed: self.seed,
            boards,
            seconds: began.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
        };
        output::answer(self.json, &report, || report.text())?;
        Ok(Outcome::Done)
    }
}

fn sample(sampling: &Sampling, start: StartPosition) -> failure::Result<BoardReport> {
    let found = sampling.run(start).map_err(|error| usage(format_args!("{start}: {error}")))?;
    Ok(BoardReport {
        pits: start.pits,
        seeds: start.seeds,
        length: found.length,
        branching: found.branching,
        tree_log10: found.tree,
    })
}

/// Formats a number given by its decimal logarithm, such as 6.00e18.
fn power(log10: f64) -> String {
    let mut exponent = log10.floor();
    let mut mantissa = 10f64.powf(log10 - exponent);
    if mantissa >= 9.995 {
        (mantissa, exponent) = (1.0, exponent + 1.0);
    }
    format!("{mantissa:.2}e{exponent:.0}")
}

impl ComplexityReport {
    fn text(&self) -> io::Result<()> {
        let mut grid = Grid::new(["board", "length d", "branching w", "w^d"]);
        for BoardReport { pits, seeds, length, branching, tree_log10 } in &self.boards {
            let text = |i: &Estimate, number: fn(f64) -> String| {
                format!("{} [{}, {}]", number(i.mean), number(i.low), number(i.high))
            };
            let plain = |number| format!("{number:.2}");
            grid.row([format!("{pits}x{seeds}"), text(length, plain), text(branching, plain), text(tree_log10, power)]);
        }
        grid.print()?;
        let depth = self.depth.map_or(String::new(), |depth| format!(" to depth {depth}"));
        line!(
            "{}: {} between {}{depth} players on each board, seed {}, 95 % confidence in brackets, {:.1} s",
            self.rules,
            output::count(self.games as usize, "game"),
            self.players,
            self.seed,
            self.seconds,
        )
    }
}
