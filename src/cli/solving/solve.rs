use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::answer::{OpeningAnswer, SolveAnswer, Value};
use kalah::book::{Book, BookError, Books};
use kalah::game::{Position, mover_value};
use kalah::printable::commas;
use kalah::solve::{Checkpoint, Opening, SolveError, SolveEvent, Solver};

use crate::cli::output::progress::watched;
use crate::cli::{
    Context, Outcome, Progress, SolverFlags, Stoppable, args, cancelled_by_signal, examples, failure, note, output,
};

/// Solve a position: exact value, best moves, line of best play
///
/// Use this for positions beyond the tables. It searches until the value is proved, and uses the book and all tables
/// that exist. `kalah plan search` estimates which tables to build first. Write a position as 6x4 (6 pits a side, 4
/// seeds in each), or as two rows (0,0,1,0,2,1/1,0,0,3,0,0). With stores, write <m,S,N,s1..sm,n1..nm>: pits a side,
/// both stores, both rows. The mover is South, whose store and row come first. Each row begins with its owner's pit 1.
/// A value is the final store difference for the mover. See docs/solving.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Solve Kalah(6,4): six pits a side, four seeds in each", "kalah solve 6x4"),
    ("Solve every first turn, and build the tables for it first", "kalah solve 6x4 --openings --build"),
    ("Only test a bound, which is faster", "kalah solve 6x4 --at-least 2"),
]))]
#[command(group = clap::ArgGroup::new("test").args(["at_least", "at_most"]))]
pub(crate) struct Solve {
    /// Position
    position: Position,
    /// Solve every first turn, including those of several moves
    #[arg(long, conflicts_with = "test")]
    openings: bool,
    /// Test only if the value is at least V
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    at_least: Option<i64>,
    /// Test only if the value is at most V
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    at_most: Option<i64>,
    /// Find only the value, without best moves and line
    #[arg(long, conflicts_with_all = ["test", "openings"])]
    value_only: bool,
    /// Test this value first [default: the result of a search up to nine turns deep]
    #[arg(long, value_name = "V", allow_negative_numbers = true, conflicts_with = "test")]
    first_guess: Option<i64>,
    /// Save the search in FILE, and continue from it. Such searches never use the book
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Save the search this often: 90s, 15m, 2h, or a number of minutes
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "state", value_parser = args::time::<60>)]
    save_every: Duration,
    #[command(flatten)]
    with: SolverFlags,
    #[command(flatten)]
    book: args::BookFlag,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Minimum time between two saves.
const LEAST_PAUSE: Duration = Duration::from_millis(200);

impl Solve {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (position, rules, start) = (self.position, self.with.rules, Instant::now());
        self.with.threads.start()?;
        // A saved search proves its results from the tables alone.
        let books = match self.state {
            Some(_) => Books::none(),
            None => self.book.find(self.with.directory(), &[rules])?,
        };
        let book = books.get(rules, position.pits());
        let recalled = SolveAnswer::new(rules, &position, book)?;
        let (source, is_test) = (recalled.source, self.at_least.is_some() || self.at_most.is_some());
        if let Some(book) = book
            && recalled.best.is_some()
            && !is_test
            && let Some(openings) = self.recalled_openings(book, start)?
        {
            let mut answer = recalled;
            answer.threads = rayon::current_num_threads();
            if self.value_only {
                (answer.best, answer.line, answer.line_open) = (None, None, false);
            }
            answer.openings = self.openings.then_some(openings);
            answer.seconds = start.elapsed().as_secs_f64();
            output::answer(self.json, &answer, || {
                answer.openings.iter().flatten().try_for_each(|opening| output::line(opening_row(opening)))?;
                self.text(&answer)
            })?;
            return Ok(Outcome::Done);
        }
        // An unusable checkpoint is an error before any long work.
        let checkpoint = self.state.as_deref().map(Checkpoint::open).transpose()?;
        if let Some(checkpoint) = &checkpoint {
            checkpoint.check(rules, &position)?;
        }
        let cancel = cancelled_by_signal();
        let tables = self.with.open_tables(&position, &cancel)?;
        let progress = Progress::open();
        let solver = self.with.solver_that_makes(&position, &tables, &cancel, |options| options.book(book))?;
        let mut solver = solver.with_events(|_, event: SolveEvent| progress.event(event));
        if let Some(checkpoint) = &checkpoint
            && let Some(resumed) = checkpoint.load(&mut solver, &position)?
        {
            note!("resumed: {} transpositions", commas(resumed));
        }
        let save = || checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.save(&solver, &position));
        let poll = || {
            if let Err(error) = save() {
                progress.line(&format!("kalah: cannot save the search: {error}"));
            }
        };
        let every = self.save_every.max(LEAST_PAUSE);
        let answer = progress.search(&solver, || watched(every, poll, || self.answer(&solver, &progress)));
        if answer.as_ref().err().is_none_or(|error| error.outcome == Outcome::Stopped) {
            save().context("cannot save the search")?;
        }
        let mut answer = answer.if_stopped(match checkpoint {
            Some(_) => "stopped and saved; run the same command again to continue",
            None => "stopped, and nothing is saved; --state FILE saves a search",
        })?;
        answer.source = source;
        output::answer(self.json, &answer, || self.text(&answer))?;
        Ok(Outcome::Done)
    }

    /// Returns the openings that the flags ask for; `None` if the book lacks the score of one.
    fn recalled_openings(&self, book: &Book, start: Instant) -> Result<Option<Vec<OpeningAnswer>>, BookError> {
        if !self.openings {
            return Ok(Some(Vec::new()));
        }
        let answer = |opening: &Opening| {
            let score = book.recall(&opening.position, None)?.score();
            Ok(score.map(|score| OpeningAnswer {
                r#move: opening.to_string(),
                value: Value::exact(mover_value(opening.again, opening.position.value(score))),
                nodes: Some(0),
                seconds: Some(start.elapsed().as_secs_f64()),
            }))
        };
        Opening::all(self.with.rules, &self.position).iter().map(answer).collect()
    }

    /// Solves the position, or tests its value.
    fn answer(&self, solver: &Solver, progress: &Progress) -> failure::Result<SolveAnswer> {
        let (position, start) = (&self.position, Instant::now());
        let mut answer = SolveAnswer::new(self.with.rules, position, None)?;
        (answer.at_least, answer.at_most) = (self.at_least, self.at_most);
        match (self.at_least, self.at_most) {
            (Some(value), _) => answer.proved = Some(solver.at_least(position, value)?),
            (_, Some(value)) => answer.proved = Some(!solver.at_least(position, value.saturating_add(1))?),
            _ if self.openings => self.add_openings(solver, progress, &mut answer)?,
            _ => {
                let (_, value) = solver.value(position, self.guess(solver, position, true)?)?;
                if self.value_only {
                    answer.value = Value::exact(value);
                } else {
                    let seconds = start.elapsed().as_secs_f64();
                    progress.note(&format!("value {} proved in {seconds:.2} s", output::value(value)));
                    answer.add_solution(&solver.solve(position, value)?);
                }
            }
        }
        answer.add_effort(solver, rayon::current_num_threads(), start.elapsed());
        Ok(answer)
    }

    /// Returns the value to test first, for the mover of the start; `again` if it moves in `position`, too.
    fn guess(&self, solver: &Solver, position: &Position, again: bool) -> Result<i64, SolveError> {
        self.first_guess.map_or_else(|| Ok(mover_value(again, solver.first_guess(position)?)), Ok)
    }

    /// Solves the openings one after the other, and prints each as soon as it is proved.
    fn add_openings(&self, solver: &Solver, progress: &Progress, answer: &mut SolveAnswer) -> failure::Result<()> {
        let openings = Opening::all(self.with.rules, &self.position);
        let mut solved = Vec::new();
        for opening in &openings {
            progress.stage(format!("opening {opening} ({} of {})", solved.len() + 1, openings.len()));
            let (start, nodes) = (Instant::now(), solver.nodes());
            let guess = self.guess(solver, &opening.position, opening.again)?;
            let value = solver.opening_value(opening, guess)?;
            let (nodes, seconds) = (Some(solver.nodes() - nodes), Some(start.elapsed().as_secs_f64()));
            let answer = OpeningAnswer { r#move: opening.to_string(), value: Value::exact(value), nodes, seconds };
            match self.json {
                true => progress.note(&opening_row(&answer)),
                false => progress.print(|| output::line(opening_row(&answer)))?,
            }
            solved.push(answer);
        }
        // The best opening has the value of the position.
        let best = solved.iter().filter_map(|opening| opening.value.value()).max();
        let guess = best.map_or_else(|| self.guess(solver, &self.position, true), Ok)?;
        let (score, value) = solver.value(&self.position, guess)?;
        let mut best: Vec<usize> = (openings.iter().zip(&solved))
            .filter(|(_, solved)| solved.value.value() == Some(value))
            .map(|(opening, _)| opening.moves[0].number())
            .collect();
        best.dedup();
        answer.value = Value::exact(value);
        (answer.best, answer.line) = (Some(best), Some(solver.line(&self.position, score)?.to_string()));
        answer.openings = Some(solved);
        Ok(())
    }

    fn text(&self, answer: &SolveAnswer) -> std::io::Result<()> {
        output::line(answer)?;
        output::default_rules(self.with.rules)
    }
}

/// Writes an opening as a row of a table.
fn opening_row(opening: &OpeningAnswer) -> String {
    let (name, value) = (&opening.r#move, opening.value.symbols("?"));
    let (nodes, seconds) = (commas(opening.nodes.unwrap_or(0)), opening.seconds.unwrap_or(0.0));
    format!("{name:>7}  {value:>4}  {nodes} nodes  {seconds:>9.2} s")
}
