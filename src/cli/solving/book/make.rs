use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::book::{Made, MakeOptions, Step, make};
use kalah::cancel::Cancel;
use kalah::game::Position;
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, Extended};
use crate::cli::{Outcome, Progress, SolverFlags, Stoppable, args, cancel_on_signal, failure, line, output, usage};

/// Interval at which the book is saved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// Solve the positions of the first turns, and add them to a book
///
/// Use this to answer openings at once later on. Positions after one turn are solved first, then those after two, and
/// so on. Positions already in the book are not searched, so run the same command again to continue after an
/// interruption.
#[derive(Args)]
pub(crate) struct Make {
    /// Start position, such as 6x4
    position: Position,
    /// Solve the positions after T turns; the values of those between follow
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=20))]
    turns: u32,
    /// Do not follow moves that lose more than this many seeds [default: follow all]
    #[arg(long, value_name = "SEEDS")]
    loss: Option<u32>,
    /// Search each position for at most this time, such as 30s, and add bounds if that is too short [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>)]
    within: Option<Duration>,
    /// Book to extend [default: the one beside the tables]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    with: SolverFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BookMakeReport {
    #[serde(flatten)]
    book: BookAnswer,
    start: Position,
    turns: u32,
    searched: usize,
    derived: usize,
    open: usize,
    nodes: u64,
    seconds: f64,
}

impl Make {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        if self.position.is_over() {
            return Err(usage(format_args!("the game is over at {}: there is nothing to solve", self.position)));
        }
        self.with.threads.start()?;
        let mut extended =
            Extended::open(self.output.as_deref(), self.with.directory(), self.with.rules, self.position.pits())?;
        let cancel = Cancel::new();
        let tables = self.with.open_tables(&self.position, &cancel)?;
        let solver = self.with.solver(&self.position, &tables, &cancel, |options| options)?;
        cancel_on_signal(&cancel);
        let begin = Instant::now();
        let progress = Progress::open();
        let solver = solver.with_events(|_, event| progress.event(event));
        let options = MakeOptions { turns: self.turns, loss: self.loss, within: self.within };

        let (path, mut searched, mut saved) = (extended.path.clone(), 0, Instant::now());
        let made = progress.search(&solver, || {
            make(&solver, &self.position, &options, &mut extended.book, &mut |book, step| {
                let &Step { turn, done, positions, .. } = step;
                searched += usize::from(step.searched);
                let turns = output::count(turn as usize, "turn");
                progress.stage(format!("after {turns}: {done} of {positions} positions"));
                if step.searched && saved.elapsed() > SAVE_EVERY {
                    book.write(&path)?;
                    saved = Instant::now();
                }
                Ok(())
            })
        });
        let book = extended.save()?;
        let Made { derived, open, .. } =
            made.if_stopped("stopped and saved; run the same command again to continue")?;
        let report = BookMakeReport {
            book,
            start: self.position,
            turns: self.turns,
            searched,
            derived,
            open,
            nodes: solver.nodes(),
            seconds: begin.elapsed().as_secs_f64(),
        };
        output::answer(self.json, &report, || {
            line!(
                "{}\n  {} searched, {} derived from others, {} of the first turns not exact, {:.1} s",
                report.book,
                searched,
                derived,
                open,
                report.seconds
            )
        })?;
        Ok(Outcome::Done)
    }
}
