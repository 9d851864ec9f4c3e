use clap::Args;
use indicatif::HumanCount;
use kalah::table::{Table, TableKey, score_counts};
use serde::Serialize;

use crate::cli::{Outcome, args, examples, failure, line, output};

/// Count how often each score occurs in a layer
///
/// Use this for the distribution of scores, and the shares of wins, draws and losses.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Count the scores with 12 seeds in play", "kalah stats --seeds 12"),
    ("Print them for another program", "kalah stats --seeds 12 --json"),
]))]
pub(crate) struct Stats {
    /// Count the layer with this many seeds
    #[arg(long, value_parser = args::seeds)]
    seeds: usize,
    #[command(flatten)]
    board: args::BoardFlags,
    #[command(flatten)]
    tables: args::Directories,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StatsReport {
    #[serde(flatten)]
    key: TableKey,
    positions: u64,
    /// Number of positions with each score, by score.
    scores: Vec<u64>,
    wins: u64,
    draws: u64,
    losses: u64,
}

impl Stats {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let args::BoardFlags { rules, pits } = self.board;
        let key = TableKey { rules, pits, seeds: self.seeds };
        let table = Table::open_key(&self.tables.paths, key)?;
        let scores = score_counts(&table)?;
        let part = |wanted: std::cmp::Ordering| {
            let scores = scores.iter().enumerate();
            scores.filter(|&(score, _)| (2 * score).cmp(&self.seeds) == wanted).map(|(_, count)| count).sum::<u64>()
        };
        let report = StatsReport {
            key,
            positions: scores.iter().sum(),
            wins: part(std::cmp::Ordering::Greater),
            draws: part(std::cmp::Ordering::Equal),
            losses: part(std::cmp::Ordering::Less),
            scores: scores.clone(),
        };
        let share = |count: u64| 100.0 * count as f64 / report.positions as f64;
        let text = || {
            line!("{key}: {}", output::many(report.positions, "position"))?;
            line!(
                "the mover wins {:.2} %, draws {:.2} %, loses {:.2} %",
                share(report.wins),
                share(report.draws),
                share(report.losses)
            )?;
            line!("score       positions  share")?;
            let most = scores.iter().max().copied().unwrap_or(1).max(1);
            for (score, &count) in scores.iter().enumerate() {
                let bar = "#".repeat((count as f64 / most as f64 * 50.0).round() as usize);
                let count_text = HumanCount(count).to_string();
                line!("{score:>5} {count_text:>15} {:>6.2} % {bar}", share(count))?;
            }
            Ok::<_, failure::Failure>(())
        };
        output::answer(self.json, &report, text)?;
        Ok(Outcome::Done)
    }
}
