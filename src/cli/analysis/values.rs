use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::analyse::{GameValue, GameValues};
use kalah::answer::Value;
use kalah::cancel::Cancel;
use kalah::game::StartPosition;
use kalah::solve::{SolveError, SolveEvent};
use serde::Serialize;

use crate::cli::{
    Grid, Outcome, Progress, Range, SolverFlags, Stoppable, args, cancelled_by_signal, examples, failure, line, output,
};

/// Solve the starts of many boards
///
/// Use this for tables as in the papers: pits a side down, seeds in each pit across. A value is the final store
/// difference for the first player. If it is not proved in time, bounds are printed.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Print the values of small boards", "kalah analyse values --pits 1..4 --seeds-per-pit 1..4"),
    ("Solve all boards to 6x6, and keep the values in a file", "kalah analyse values --build --state values.json"),
]))]
pub(crate) struct Values {
    /// Numbers of pits a side, such as 6 or 1..6
    #[arg(long, value_name = "A..B", default_value = "1..6", value_parser = args::range::<1, 16>)]
    pits: Range,
    /// Numbers of seeds in each pit, such as 4 or 1..6
    #[arg(
        long = "seeds-per-pit",
        value_name = "A..B",
        default_value = "1..6",
        value_parser = args::range::<1, 63>
    )]
    seeds: Range,
    /// Limit the time for each board: 90s, 15m, 2h, or a number of minutes
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = args::time::<60>)]
    within: Duration,
    /// Save the values and bounds of finished searches in FILE, and continue from them
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    #[command(flatten)]
    with: SolverFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ValueAnswer {
    pits: usize,
    seeds: u32,
    #[serde(flatten)]
    proved: Value,
    /// W, L or D; absent if it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<char>,
    nodes: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct ValuesReport {
    rules: &'static str,
    values: Vec<ValueAnswer>,
}

impl Values {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        self.with.threads.start()?;
        let cancel = cancelled_by_signal();
        let mut values = GameValues::open(self.with.rules, self.state.as_deref())?;
        let boards = args::boards(&self.pits, &self.seeds);
        for (index, &board) in boards.iter().enumerate() {
            let known = values.get(board).copied();
            // A search that had all this time would not prove more now.
            let had_time = |known: GameValue| known.seconds >= self.within.as_secs_f64();
            if known.is_some_and(|known| known.value().is_some() || had_time(known)) {
                continue;
            }
            let stage = format!("{board} ({} of {})", index + 1, boards.len());
            let value = self.solve(board, known, stage, &cancel).if_stopped(match self.state {
                Some(_) => "stopped; run the same command again to continue with this board",
                None => "stopped, and nothing is saved; --state FILE saves proved values",
            });
            values.put(value?)?;
        }
        let known: Vec<GameValue> = boards.iter().filter_map(|&board| values.get(board).copied()).collect();
        self.print(&known)?;
        Ok(Outcome::Done)
    }

    /// Proves the value of one game, or bounds of it.
    fn solve(
        &self,
        board: StartPosition,
        known: Option<GameValue>,
        stage: String,
        cancel: &Cancel,
    ) -> failure::Result<GameValue> {
        let position = board.position()?;
        let tables = self.with.open_tables(&position, cancel)?;
        let progress = Progress::open().at(stage);
        let solver = self.with.solver(&position, &tables, cancel, |options| options)?;
        let solver = solver.with_events(|_, event: SolveEvent| progress.event(event));
        let start = Instant::now();
        let bounds = progress.search(&solver, || {
            // The first guess takes a part of the time.
            let guess = solver.within(self.within).first_guess(&position)?;
            solver.narrow(&position, guess, self.within.saturating_sub(start.elapsed()))
        })?;
        let both = known.map_or(Some(bounds), |known| known.bounds_with(bounds));
        let bounds = both.ok_or_else(|| SolveError::Contradiction(Box::new(position)))?;
        let (nodes, seconds) = (solver.nodes(), start.elapsed().as_secs_f64());
        let StartPosition { pits, seeds } = board;
        let value = GameValue { pits, seeds, at_least: bounds.lower, at_most: bounds.upper, nodes, seconds };
        let text = format!("{board}: {} after {seconds:.1} s and {}", value_text(&value), output::many(nodes, "node"));
        progress.step(seconds, &text);
        Ok(value)
    }

    fn print(&self, known: &[GameValue]) -> failure::Result<()> {
        let report = ValuesReport {
            rules: self.with.rules.name(),
            values: known
                .iter()
                .map(|known| ValueAnswer {
                    pits: known.pits,
                    seeds: known.seeds,
                    proved: Value::new(known.bounds()),
                    outcome: known.outcome(),
                    nodes: known.nodes,
                    seconds: known.seconds,
                })
                .collect(),
        };
        let find = |pits, seeds| known.iter().find(|known| (known.pits as u32, known.seeds) == (pits, seeds));
        let text = || {
            line!("{}: values for the first player, pits a side down, seeds a pit across", report.rules)?;
            let mut grid =
                Grid::new(std::iter::once("pits".to_owned()).chain(self.seeds.clone().map(|n| n.to_string())));
            for pits in self.pits.clone() {
                let cells = self.seeds.clone().map(|seeds| find(pits, seeds).map_or("-".to_owned(), value_text));
                grid.row(std::iter::once(pits.to_string()).chain(cells));
            }
            grid.print()
        };
        Ok(output::answer(self.json, &report, text)?)
    }
}

/// Formats a value, or its bounds; `?` if nothing is proved.
fn value_text(known: &GameValue) -> String {
    let (value, start) = (Value::new(known.bounds()), known.start().position());
    start.map_or(value, |start| value.beyond_stores(&start)).symbols("?")
}
