use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::HumanCount;
use kalah::answer::{OpeningAnswer, SolveAnswer, Source, Value};
use kalah::book::{Book, BookError, Books};
use kalah::game::{Position, Rules, mover_value};
use kalah::solve::{Checkpoint, Opening, SolveError, SolveEvent, Solver};

use crate::cli::{
    Context, Outcome, SearchProgress, SolverFlags, args, cancelled_by_signal, examples, failure, line, message, note,
    output, progress,
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

impl Solve {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let position = self.position;
        self.with.threads.start()?;
        // A saved search proves its results from the tables alone.
        let books = match self.state {
            Some(_) => Books::none(),
            None => self.book.find(self.with.directory(), &[self.with.rules]),
        };
        let book = books.require(self.with.rules, position.pits())?;
        if let Some(answer) = book.map(|book| self.recalled(book, &position)).transpose()?.flatten() {
            output::answer(self.json, &answer, || {
                answer.openings.iter().flatten().try_for_each(|opening| output::line(opening_row(opening)))?;
                text(self.with.rules, &answer)
            })?;
            return Ok(Outcome::Done);
        }
        if book.and_then(Book::seeds).is_some_and(|layers| *layers.start() <= position.seeds()) {
            note!("the search takes the bounds of the book as proved; --no-book ignores the book");
        }
        // An unusable checkpoint is an error before any long work.
        let checkpoint = self.state.as_deref().map(Checkpoint::open).transpose()?;
        if let Some(checkpoint) = &checkpoint {
            checkpoint.check(self.with.rules, &position)?;
        }
        // Before building tables, which may take long.
        let cancel = cancelled_by_signal();
        let tables = self.with.open_tables(&position, &cancel)?;
        let start = Instant::now();
        let progress = SearchProgress::new();
        let solver = self.with.solver_that_makes(&position, &tables, &cancel, |options| options.book(book))?;
        let mut solver = solver.with_events(|_, event: SolveEvent| progress.event(event));
        if let Some(checkpoint) = &checkpoint
            && let Some(resumed) = checkpoint.load(&mut solver, &position)?
        {
            let (proofs, found) =
                (output::count(resumed.proofs, "proved position"), HumanCount(resumed.transpositions));
            note!("resumed: {proofs} and {found} transpositions");
        }

        let save = || checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.save(&solver, &position));
        let save_or_report = || {
            if let Err(error) = save() {
                progress.line(&format!("kalah: cannot save the search: {error}"));
            }
        };
        let recalled = book.map(|book| book.recall(&position, None)).transpose()?;
        let from_book = recalled.is_some_and(|recalled| recalled.from_book && recalled.score().is_some());
        let asked = Asked { solve: &self, solver: &solver, progress: &progress, position, from_book, start };
        let work = || progress.watch(&solver, || asked.answer());
        let answer = if checkpoint.is_some() { saving(self.save_every, save_or_report, work) } else { work() };
        progress.finish();
        match answer {
            Ok(()) => {
                save_or_report();
                Ok(Outcome::Done)
            }
            Err(error) if error.outcome() == Outcome::Stopped => {
                match save() {
                    Ok(()) if checkpoint.is_some() => {
                        message!("stopped and saved; run the same command again to continue")
                    }
                    Ok(()) => message!("stopped, and nothing is saved; --state FILE saves a search"),
                    Err(error) => return Err(error).context("stopped, but the search could not be saved"),
                }
                Ok(Outcome::Failed)
            }
            Err(error) => Err(error),
        }
    }
}

impl Solve {
    /// Returns the book's answer; `None` if it lacks anything that the flags ask for, except the end of the line.
    fn recalled(&self, book: &Book, position: &Position) -> Result<Option<SolveAnswer>, BookError> {
        let begin = Instant::now();
        let rules = self.with.rules;
        let recalled = book.recall(position, None)?;
        let known = recalled.bounds;
        if !recalled.from_book {
            return Ok(None);
        }
        let mut answer = SolveAnswer::new(rules, position);
        answer.source = Source::Book;
        let [lower, upper] = [known.lower, known.upper].map(|score| position.value(score));
        match (self.at_least, self.at_most) {
            (Some(value), _) if lower >= value || upper < value => answer.proved = Some(lower >= value),
            (_, Some(value)) if upper <= value || lower > value => answer.proved = Some(upper <= value),
            (None, None) if lower == upper => answer.value = Value::exact(lower),
            _ => return Ok(None),
        }
        (answer.at_least, answer.at_most) = (self.at_least, self.at_most);
        if self.openings {
            let mut openings = Vec::new();
            for opening in Opening::all(rules, position) {
                let Some(score) = book.recall(&opening.position, None)?.score() else { return Ok(None) };
                let value = mover_value(opening.again, opening.position.value(score));
                let r#move = opening.to_string();
                let row = OpeningAnswer { r#move, value, nodes: 0, seconds: begin.elapsed().as_secs_f64() };
                openings.push(row);
            }
            answer.openings = Some(openings);
        }
        if answer.value.value().is_some() && !self.value_only {
            if !recalled.is_decided() {
                return Ok(None);
            }
            answer.add_recalled(book, position, &recalled)?;
        }
        answer.threads = rayon::current_num_threads();
        answer.seconds = begin.elapsed().as_secs_f64();
        Ok(Some(answer))
    }
}

/// Minimum time between two saves.
const LEAST_PAUSE: Duration = Duration::from_millis(200);

/// Does `work`, and calls `save` at intervals meanwhile.
fn saving<T>(every: Duration, save: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    progress::watched(every.max(LEAST_PAUSE), &save, work)
}

/// Question for a solver.
struct Asked<'s, 'a> {
    solve: &'s Solve,
    solver: &'s Solver<'a>,
    progress: &'s SearchProgress,
    position: Position,
    /// True if the value is from the book.
    from_book: bool,
    start: Instant,
}

impl Asked<'_, '_> {
    fn answer(&self) -> failure::Result<()> {
        let Asked { solve, solver, ref position, .. } = *self;
        let mut answer = SolveAnswer::new(solve.with.rules, position);
        if solve.at_least.is_some() || solve.at_most.is_some() {
            let proved = match (solve.at_least, solve.at_most) {
                (Some(value), _) => solver.at_least(position, value)?,
                (_, value) => !solver.at_least(position, value.unwrap_or_default().saturating_add(1))?,
            };
            (answer.at_least, answer.at_most, answer.proved) = (solve.at_least, solve.at_most, Some(proved));
        } else if solve.openings {
            let openings = self.openings()?;
            let value = openings.iter().map(|opening| opening.1).max();
            let (score, value) = match value {
                // The best opening has the value of the position.
                Some(value) => solver.value(position, value)?,
                None => solver.value(position, self.guess(position)?)?,
            };
            let mut best: Vec<usize> = openings
                .iter()
                .filter(|opening| opening.1 == value)
                .map(|opening| opening.0.moves[0].number())
                .collect();
            best.dedup();
            let line = solver.line(position, score)?;
            answer.value = Value::exact(value);
            (answer.best, answer.line) = (Some(best), Some(line.to_string()));
            answer.openings = Some(openings.into_iter().map(|opening| opening.2).collect());
        } else if solve.value_only {
            answer.value = Value::exact(solver.value(position, self.guess(position)?)?.1);
        } else {
            let (_, value) = solver.value(position, self.guess(position)?)?;
            self.progress.note(&format!(
                "value {} proved in {:.2} s",
                output::value(value),
                self.start.elapsed().as_secs_f64()
            ));
            answer.add_solution(&solver.solve(position, value)?);
        }
        answer.source = if self.from_book { Source::Book } else { Source::Solver };
        answer.add_effort(solver, rayon::current_num_threads(), self.start.elapsed());
        self.progress.print(|| output::answer(solve.json, &answer, || text(solve.with.rules, &answer)))
    }

    /// Returns the value to test first.
    fn guess(&self, position: &Position) -> Result<i64, SolveError> {
        self.solve.first_guess.map_or_else(|| self.solver.first_guess(position), Ok)
    }

    /// Solves the openings one after the other, and prints each as soon as it is proved.
    fn openings(&self) -> failure::Result<Vec<(Opening, i64, OpeningAnswer)>> {
        let openings = Opening::all(self.solver.rules(), &self.position);
        let mut solved = Vec::new();
        for (index, opening) in openings.iter().enumerate() {
            self.progress.stage(format!("opening {opening} ({} of {})", index + 1, openings.len()));
            let (start, nodes) = (Instant::now(), self.solver.nodes());
            let guess = match self.solve.first_guess {
                Some(guess) => guess,
                None if opening.again => self.solver.first_guess(&opening.position)?,
                None => -self.solver.first_guess(&opening.position)?,
            };
            let value = self.solver.opening_value(opening, guess)?;
            let answer = OpeningAnswer {
                r#move: opening.to_string(),
                value,
                nodes: self.solver.nodes() - nodes,
                seconds: start.elapsed().as_secs_f64(),
            };
            let text = opening_row(&answer);
            if self.solve.json {
                self.progress.note(&text);
            } else {
                self.progress.print(|| output::line(&text))?;
            }
            solved.push((opening.clone(), value, answer));
        }
        Ok(solved)
    }
}

/// Returns an opening as a line of text.
fn opening_row(answer: &OpeningAnswer) -> String {
    let OpeningAnswer { r#move, value, nodes, seconds } = answer;
    format!("{move:>7}  {:>4}  {:>15} nodes  {seconds:>9.2} s", output::value(*value), HumanCount(*nodes))
}

fn text(rules: Rules, answer: &SolveAnswer) -> std::io::Result<()> {
    output::line(&answer.position)?;
    let from = if answer.source == Source::Book { ", from the book" } else { "" };
    if let Some(proved) = answer.proved {
        let yes = if proved { "yes" } else { "no" };
        let (how, value) = match (answer.at_least, answer.at_most) {
            (Some(value), _) => ("at least", value),
            (_, value) => ("at most", value.unwrap_or_default()),
        };
        line!("  value {how} {}: {yes}{from}", output::value(value))?;
    }
    if let Some(value) = answer.value.value() {
        line!("  value  {}{from}", output::value(value))?;
    }
    if let Some(best) = answer.best.as_ref().filter(|best| !best.is_empty()) {
        let best: Vec<String> = best.iter().map(usize::to_string).collect();
        line!("  best   {}", best.join(" "))?;
    }
    if let Some(line) = answer.line.as_ref().filter(|line| !line.is_empty()) {
        let open = if answer.line_open { " ... (the book ends here; --no-book finds the rest)" } else { "" };
        line!("  line   {line}{open}")?;
    }
    line!(
        "  {}, {}, {:.2} s, {} nodes/s",
        output::many(answer.nodes, "node"),
        output::many(answer.table_hits, "table hit"),
        answer.seconds,
        HumanCount((answer.nodes as f64 / answer.seconds.max(1e-9)) as u64),
    )?;
    output::default_rules(rules, false)
}
