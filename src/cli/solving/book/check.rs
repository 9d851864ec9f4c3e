use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use kalah::book::{Book, BookError, check_by_search, check_neighbours};
use kalah::cancel::Cancel;
use kalah::certificate::ClaimError;
use kalah::game::{Bounds, Position};
use kalah::random::generator;
use kalah::solve::SolveError;
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, in_use, no_book};
use crate::cli::{Outcome, Progress, SolverFlags, args, cancelled_by_signal, failure, line, message, output};

/// Check the book against its own positions and by searches
///
/// Use this before you rely on a book from elsewhere. Every position is compared with those after its moves, and
/// solved again without the book. The first wrong position ends the check with exit code 3.
#[derive(Args)]
pub(crate) struct Check {
    /// Book to check [default: the one beside the tables, otherwise the program's]
    #[arg(value_name = "FILE")]
    book: Option<PathBuf>,
    /// Search only N positions, drawn at random; 0 for none [default: all]
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the random choice
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Pits a side, without FILE
    #[arg(long, default_value_t = 6, value_parser = args::pits)]
    pits: usize,
    #[command(flatten)]
    with: SolverFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BookCheckReport {
    #[serde(flatten)]
    book: BookAnswer,
    #[serde(flatten)]
    found: Found,
    seconds: f64,
}

/// Findings of the check.
#[derive(Default, Serialize)]
struct Found {
    /// Number of searched positions.
    searched: usize,
    nodes: u64,
    /// Fault of the first wrong position.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
    /// True if it was stopped before the end.
    stopped: bool,
}

impl Check {
    pub(super) fn run(mut self) -> failure::Result<Outcome> {
        self.with.threads.start()?;
        let (book, name) = in_use(self.book.as_deref(), self.with.directory(), self.with.rules, self.pits)?;
        if book.is_empty() && self.book.is_none() {
            return Err(no_book(book.rules(), book.pits()));
        }
        // A file contains its rule set.
        self.with.rules = book.rules();
        let cancel = cancelled_by_signal();
        let begin = Instant::now();
        let found = match check_neighbours(&book, None, &mut |_| !cancel.is_cancelled()) {
            Ok(()) => self.search(&book, &cancel)?,
            Err(error @ BookError::Claim(ClaimError::Contradiction { .. })) => {
                Found { wrong: Some(error.to_string()), ..Found::default() }
            }
            Err(error) => return Err(error.into()),
        };
        let (book, seconds) = (BookAnswer::new(name, &book), begin.elapsed().as_secs_f64());
        let report = BookCheckReport { book, found, seconds };
        let Found { searched, wrong, stopped, .. } = &report.found;
        output::answer(self.json, &report, || {
            let state = match (wrong, stopped) {
                (Some(_), _) => "WRONG",
                (None, true) => "stopped",
                (None, false) => "ok",
            };
            line!(
                "{}\n  all compared with those after their moves, {searched} searched, {seconds:.1} s: {state}",
                report.book,
            )
        })?;
        if let Some(wrong) = wrong {
            message!("WRONG: {wrong}");
            return Ok(Outcome::Wrong);
        }
        Ok(if *stopped { Outcome::Failed } else { Outcome::Done })
    }

    /// Returns the positions to search, fewest seeds first, since their results help with later ones.
    fn chosen(&self, book: &Book) -> Vec<(Position, Bounds)> {
        let Some(sample) = self.sample else { return book.iter().collect() };
        let mut numbers: Vec<usize> = (0..book.len()).collect();
        generator(self.seed).shuffle(&mut numbers);
        numbers.truncate(sample);
        let chosen: HashSet<usize> = numbers.into_iter().collect();
        (0..).zip(book.iter()).filter(|(number, _)| chosen.contains(number)).map(|(_, entry)| entry).collect()
    }

    /// Searches positions of the book without using the book.
    fn search(&self, book: &Book, cancel: &Cancel) -> failure::Result<Found> {
        let chosen = self.chosen(book);
        let mut found = Found { stopped: cancel.is_cancelled(), ..Found::default() };
        let Some((largest, _)) = chosen.last().filter(|_| !found.stopped) else { return Ok(found) };
        let tables = self.with.open_tables(largest, cancel)?;
        let solver = self.with.solver(largest, &tables, cancel, |options| options)?;
        let progress = Progress::of(chosen.len() as u64, "positions").at("searching");
        let done = AtomicU64::new(0);
        let result = progress.complete(&done, || -> Result<(), SolveError> {
            for (position, bounds) in &chosen {
                if let Some(proved) = check_by_search(&solver, position, *bounds)? {
                    found.wrong = Some(format!(
                        "the book has a score from {} to {} for {position}, but a search proves {} to {}",
                        bounds.lower, bounds.upper, proved.lower, proved.upper
                    ));
                    return Ok(());
                }
                found.searched += 1;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        found.nodes = solver.nodes();
        match result {
            Ok(()) => {}
            Err(SolveError::Stopped) => found.stopped = true,
            Err(error) => return Err(error.into()),
        }
        Ok(found)
    }
}
