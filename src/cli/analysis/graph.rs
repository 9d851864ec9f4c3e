use std::io;
use std::time::Instant;

use clap::Args;
use indicatif::HumanBytes;
use kalah::analyse::graph::{
    Convention, Explorer, GameGraph, GraphError, GraphLayer, Need, Outcomes, Subgraph, state_space,
};
use kalah::cancel::Cancel;
use kalah::game::{Rules, StartPosition};
use kalah::printable::commas;
use kalah::system::available_memory;
use kalah::table::{TableKey, Tables};
use serde::Serialize;
use tempfile::TempDir;

use crate::cli::{
    Boards, Context, Grid, Outcome, Progress, Stoppable, args, cancelled_by_signal, examples, failure, output,
    solve_tables,
};

/// Count all positions that can be reached from a start
///
/// Use this for the size of a game's state space, and the shares of wins and draws. A position is both rows, both
/// stores, and the side to move. Outcomes are those of best play. They come from the tables if these reach far
/// enough, and otherwise from tables built in a temporary directory.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Count the positions of one game", "kalah analyse graph 4x3"),
    ("Count those of many boards", "kalah analyse graph --pits 1..3 --seeds-per-pit 1..6"),
]))]
pub(crate) struct Graph {
    #[command(flatten)]
    boards: Boards,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    /// Counting convention. irving: games also end when a store has more than half of all seeds, and final positions
    /// differ by the side to move (Irving et al. 2000); plain: games end only when a row is empty, and final
    /// positions are the same for both sides (Kvitberg 2026)
    #[arg(long, default_value_t, value_name = "CONVENTION")]
    convention: Convention,
    /// Count positions without their outcomes, which needs no tables
    #[arg(long)]
    no_values: bool,
    /// Limit the memory, such as 4GiB [default: three quarters of the available memory, at most 12 GiB]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Default limit of the memory, in bytes.
const MOST_BY_DEFAULT: u64 = 12 << 30;

/// Report on one board.
#[derive(Serialize)]
struct BoardReport {
    pits: usize,
    seeds: u32,
    rules: &'static str,
    convention: &'static str,
    positions: u64,
    /// Number of all arrangements of the seeds, twice for the side to move; absent if it is 2^64 or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    state_space: Option<u64>,
    /// Share of the state space, from 0 to 1.
    share: f64,
    /// Positions won, lost and drawn for the first player.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<Outcomes>,
    /// Positions in which the game is over.
    finals: u64,
    /// Other positions, by the number of their moves.
    moves: Vec<u64>,
    branching: Mean,
    branching_without_finals: Mean,
    /// Positions for every pair of stores.
    layers: Vec<LayerReport>,
    memory: u64,
    seconds: f64,
    threads: usize,
}

#[derive(Serialize)]
struct Mean {
    mean: f64,
    deviation: f64,
}

#[derive(Serialize)]
struct LayerReport {
    /// Seeds in both stores.
    layer: usize,
    seeds_in_play: usize,
    positions: u64,
    subgraphs: Vec<Subgraph>,
}

#[derive(Serialize)]
struct Graphs<'a> {
    graphs: &'a [BoardReport],
}

impl Graph {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let cancel = cancelled_by_signal();
        let reports = self.boards.list().into_iter().map(|start| self.explore(start, &cancel));
        let reports = reports.collect::<failure::Result<Vec<BoardReport>>>()?;
        match &*reports {
            [one] => output::answer(self.json, one, || text(&reports))?,
            graphs => output::answer(self.json, &Graphs { graphs }, || text(graphs))?,
        }
        Ok(Outcome::Done)
    }

    /// Opens the tables of a start, or builds them in `temporary`.
    fn open_tables(&self, start: StartPosition, temporary: &TempDir, cancel: &Cancel) -> failure::Result<Tables> {
        let last = TableKey { rules: self.rules, pits: start.pits, seeds: 2 * start.pits * start.seeds as usize };
        let tables = Tables::open(self.tables.directory(), last.rules, last.pits, last.seeds)?;
        if tables.max_seeds() == Some(last.seeds) {
            return Ok(tables);
        }
        solve_tables::build(temporary.path(), last, self.memory, None, cancel)
            .if_stopped("stopped while building tables for the outcomes; `kalah build` keeps them")?;
        Ok(Tables::open(temporary.path(), last.rules, last.pits, last.seeds)?)
    }

    fn explore(&self, start: StartPosition, cancel: &Cancel) -> failure::Result<BoardReport> {
        let Self { rules, convention, .. } = *self;
        let memory = self.memory.unwrap_or_else(|| {
            available_memory().map_or(MOST_BY_DEFAULT, |available| MOST_BY_DEFAULT.min(available / 4 * 3))
        });
        // An error here comes before tables are built.
        let need = Need::of(start).ok_or(GraphError::Board(start))?;
        if need.expected > memory {
            return Err(GraphError::Memory { start, need, limit: memory }.into());
        }
        let began = Instant::now();
        let temporary = tempfile::tempdir().context("cannot create a temporary directory for tables")?;
        let tables = (!self.no_values).then(|| self.open_tables(start, &temporary, cancel)).transpose()?;
        let explorer = Explorer { rules, start, convention, memory, tables: tables.as_ref() };
        let (progress, mut counted) = (Progress::open(), 0);
        let on_layer = &mut |layer: &GraphLayer| {
            counted += layer.positions();
            progress.stage(format!("{start}: {} positions so far", commas(counted)));
        };
        let graph = progress.run(|| explorer.run(cancel, on_layer))?;
        progress.finish();
        Ok(self.report(start, &graph, began.elapsed().as_secs_f64()))
    }

    fn report(&self, start: StartPosition, graph: &GameGraph, seconds: f64) -> BoardReport {
        let mean = |with_finals| {
            let (mean, deviation) = graph.branching.mean(with_finals);
            Mean { mean, deviation }
        };
        let layer = |layer: &GraphLayer| LayerReport {
            layer: 2 * start.pits * start.seeds as usize - layer.seeds,
            seeds_in_play: layer.seeds,
            positions: layer.positions(),
            subgraphs: layer.subgraphs.clone(),
        };
        BoardReport {
            pits: start.pits,
            seeds: start.seeds,
            rules: self.rules.name(),
            convention: self.convention.name(),
            positions: graph.positions(),
            state_space: state_space(start).try_into().ok(),
            share: graph.positions() as f64 / state_space(start) as f64,
            outcomes: graph.outcomes(),
            finals: graph.branching.finals,
            moves: graph.branching.moves[..=start.pits].to_vec(),
            branching: mean(true),
            branching_without_finals: mean(false),
            layers: graph.layers.iter().map(layer).collect(),
            memory: graph.memory,
            seconds,
            threads: rayon::current_num_threads(),
        }
    }
}

/// Formats the percentages of positions won, lost and drawn.
fn percent(outcomes: Outcomes) -> String {
    let all = outcomes.positions().max(1);
    <[u64; 3]>::from(outcomes).map(|count| format!("{:.1}", 100.0 * count as f64 / all as f64)).join("/")
}

fn text(reports: &[BoardReport]) -> io::Result<()> {
    let heading = ["board", "positions", "state space", "share", "won/lost/drawn %", "branching", "memory", "seconds"];
    let mut grid = Grid::new(heading);
    for report in reports {
        grid.row([
            format!("{}x{}", report.pits, report.seeds),
            commas(report.positions),
            report.state_space.map_or("-".to_owned(), commas),
            format!("{:.2} %", 100.0 * report.share),
            report.outcomes.map_or("-".to_owned(), percent),
            format!("{:.2} ± {:.2}", report.branching.mean, report.branching.deviation),
            HumanBytes(report.memory).to_string(),
            format!("{:.2}", report.seconds),
        ]);
    }
    grid.print()
}
