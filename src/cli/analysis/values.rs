use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use kalah::analyse::{GameValue, GameValues};
use kalah::answer::Value;
use kalah::cancel::Cancel;
use kalah::file::{self, FileContent, LockError, StateError};
use kalah::game::StartPosition;
use kalah::solve::{Checkpoint, SolveError, SolveEvent};
use serde::Serialize;

use crate::cli::{
    Context, Format, Grid, Outcome, Range, SearchProgress, SolverFlags, args, cancelled_by_signal, examples, failure,
    line, note, output,
};

/// Interval at which the transposition table of a long search is saved.
const SAVE_EVERY: Duration = Duration::from_secs(600);

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
    /// Save proved values in FILE, and the running search beside it, and continue from them
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    #[command(flatten)]
    with: SolverFlags,
    #[command(flatten)]
    format: Format,
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
        let boards: Vec<StartPosition> =
            self.pits.iter().flat_map(|pits| self.seeds.iter().map(move |seeds| (pits, seeds))).map(start).collect();
        let (begin, mut is_stopped) = (Instant::now(), false);
        for (index, &board) in boards.iter().enumerate() {
            let known = values.get(board).copied();
            if known.is_some_and(|known| known.value().is_some()) {
                self.remove_search(board)?;
                continue;
            }
            let left = self.within.as_secs_f64() - known.map_or(0.0, |known| known.seconds);
            if known.is_some() && left <= 0.0 {
                continue;
            }
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
            let stage = format!("{board} ({} of {})", index + 1, boards.len());
            let (value, search, stopped) = self.solve(board, known, left, stage, &cancel)?;
            values.put(value)?;
            is_stopped = stopped;
            if is_stopped {
                break;
            }
            if let Some(search) = search.filter(|_| value.value().is_some()) {
                search.remove().context("cannot remove the files of the finished search")?;
            }
        }
        if is_stopped {
            output::message(match self.state {
                Some(_) => "stopped and saved; run the same command again to continue",
                None => "stopped, and nothing is saved; --state FILE saves proved values",
            });
        } else {
            note!("{} in {:.1} s", output::count(boards.len(), "board"), begin.elapsed().as_secs_f64());
        }
        let known: Vec<GameValue> = boards.iter().filter_map(|&board| values.get(board).copied()).collect();
        self.print(&known)?;
        Ok(if is_stopped { Outcome::Failed } else { Outcome::Done })
    }

    /// Removes the search of a solved game, which a process leaves if it is killed before removing it.
    fn remove_search(&self, board: StartPosition) -> failure::Result<()> {
        let Some(path) = self.state.as_deref().map(|state| beside(state, board)) else { return Ok(()) };
        let files = [("", FileContent::State), (".lock", FileContent::Lock)];
        let is_left = |(added, content)| {
            let path = file::beside(&path, added);
            path.exists() && file::require_own(&path, content).is_ok()
        };
        if files.into_iter().any(is_left) {
            Checkpoint::open(&path)?.remove()?;
        }
        // Writes may have failed until the end. Only the process that has the state writes these files.
        file::remove_leftovers(&path)
            .with_context(|| format!("cannot remove the files of the search of {}", path.display()))
    }

    /// Proves the value of one game, or bounds of it. Returns also the file of its search, if there is one, and true if
    /// a signal stopped it.
    fn solve(
        &self,
        board: StartPosition,
        known: Option<GameValue>,
        within: Duration,
        stage: String,
        cancel: &Cancel,
    ) -> failure::Result<(GameValue, Option<Checkpoint>, bool)> {
        let position = board.position()?;
        let tables = self.with.open_tables(&position, cancel)?;
        let progress = SearchProgress::new(position);
        progress.stage(stage);
        let solver = self.with.solver(&position, &tables, cancel)?;
        let mut solver = solver.with_events(|_, event: SolveEvent| progress.event(event));
        let open = |path: PathBuf| {
            file::require_own(&path, FileContent::State).map_err(StateError::io(&path))?;
            Checkpoint::open(path)
        };
        let checkpoint = match self.state.as_deref().map(|state| open(beside(state, board))).transpose() {
            // Its bounds are kept, and the other boards are still solved.
            Err(error @ (StateError::Io { .. } | StateError::Lock(LockError::Io { .. }))) => {
                progress.line(&format!("kalah: cannot save the search: {error}"));
                None
            }
            opened => opened?,
        };
        if let Some(checkpoint) = &checkpoint {
            checkpoint.load(&mut solver, &position)?;
        }
        let save = || match &checkpoint {
            Some(checkpoint) => checkpoint.save(&solver, &position),
            None => Ok(()),
        };
        // The proved bounds are kept.
        let save_or_report = || {
            if let Err(error) = save() {
                progress.line(&format!("kalah: cannot save the search: {error}"));
            }
        };
        let start = Instant::now();
        let narrowed = progress.watch(&solver, Some(SAVE_EVERY), save_or_report, || {
            // The first guess takes a part of the time.
            let guess = solver.within(within).first_guess(&position)?;
            solver.narrow(&position, guess, within.saturating_sub(start.elapsed()))
        });
        progress.finish();
        let stopped = matches!(narrowed, Err(SolveError::Stopped));
        let bounds = match narrowed {
            Err(SolveError::Stopped) => solver.value_bounds(&position)?,
            narrowed => narrowed?,
        };
        let both = known.map_or(Some(bounds), |known| known.bounds_with(bounds));
        let bounds = both.ok_or_else(|| SolveError::Contradiction(Box::new(position)))?;
        let value = GameValue {
            pits: board.pits,
            seeds: board.seeds,
            at_least: bounds.lower,
            at_most: bounds.upper,
            nodes: known.map_or(0, |known| known.nodes).saturating_add(solver.nodes()),
            seconds: start.elapsed().as_secs_f64() + known.map_or(0.0, |known| known.seconds),
        };
        if value.value().is_none() {
            save_or_report();
        }
        if value.seconds > 1.0 {
            note!(
                "{board}: {} after {:.1} s and {}",
                value_text(&value),
                value.seconds,
                output::many(value.nodes, "node")
            );
        }
        Ok((value, checkpoint, stopped))
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
        let find = |pits, seeds| known.iter().find(|known| known.start() == start((pits, seeds)));
        let text = || {
            line!("{}: values for the first player, pits a side down, seeds a pit across", report.rules)?;
            let mut grid =
                Grid::new(std::iter::once("pits".to_owned()).chain(self.seeds.iter().map(|n| n.to_string())));
            for pits in self.pits.iter() {
                let cells = self.seeds.iter().map(|seeds| find(pits, seeds).map_or("-".to_owned(), value_text));
                grid.row(std::iter::once(pits.to_string()).chain(cells));
            }
            grid.print()
        };
        let columns = "rules pits seeds value lower upper outcome nodes seconds";
        Ok(self.format.print(&report, ("values", columns), text)?)
    }
}

fn start((pits, seeds): (u32, u32)) -> StartPosition {
    StartPosition { pits: pits as usize, seeds }
}

/// Returns the file of the running search, beside that of the values.
fn beside(state: &Path, board: StartPosition) -> PathBuf {
    file::beside(state, &format!(".{board}"))
}

/// Formats a value, or its bounds; `?` if nothing is proved.
fn value_text(known: &GameValue) -> String {
    let (value, start) = (Value::new(known.bounds()), known.start().position());
    start.map_or(value, |start| value.beyond_stores(&start)).symbols("?")
}
