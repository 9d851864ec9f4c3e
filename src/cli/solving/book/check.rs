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
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, in_use};
use crate::cli::{
    Context, Outcome, Progress, SolverFlags, Stoppable, args, cancelled_by_signal, ensure, failure, line, output,
};

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
    /// Number of searched positions.
    searched: usize,
    nodes: u64,
    seconds: f64,
}

impl Check {
    pub(super) fn run(mut self) -> failure::Result<Outcome> {
        self.with.threads.start()?;
        let (book, name) = in_use(self.book.as_deref(), self.with.directory(), self.with.rules, self.pits)?;
        let (rules, pits) = (book.rules(), book.pits());
        ensure!(!book.is_empty() || self.book.is_some(), "there is no book for {rules} with {pits} pits a side");
        // A file contains its rule set.
        self.with.rules = book.rules();
        let cancel = cancelled_by_signal();
        let begin = Instant::now();
        check_neighbours(&book, None, &mut |_| !cancel.is_cancelled()).with_context(|| &name)?;
        let (searched, nodes) = self.search(&book, &name, &cancel)?;
        let (book, seconds) = (BookAnswer::new(name, &book), begin.elapsed().as_secs_f64());
        let report = BookCheckReport { book, searched, nodes, seconds };
        output::answer(self.json, &report, || {
            line!(
                "{}\n  all compared with those after their moves, {searched} searched, {seconds:.1} s: ok",
                report.book
            )
        })?;
        Ok(Outcome::Done)
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

    /// Searches positions of the book without using the book. Returns their number, and the nodes of the searches.
    fn search(&self, book: &Book, name: &str, cancel: &Cancel) -> failure::Result<(usize, u64)> {
        let chosen = self.chosen(book);
        let stopped = "stopped: not all positions were searched; --sample N searches fewer";
        cancel.check().if_stopped(stopped)?;
        let Some((largest, _)) = chosen.last() else { return Ok((0, 0)) };
        let tables = self.with.open_tables(largest, cancel)?;
        let solver = self.with.solver(largest, &tables, cancel, |options| options)?;
        let progress = Progress::of(chosen.len() as u64, "positions").at("searching");
        let done = AtomicU64::new(0);
        let check = |&(position, bounds): &(Position, Bounds)| -> failure::Result<()> {
            let proved = check_by_search(&solver, &position, bounds).if_stopped(stopped)?;
            done.fetch_add(1, Ordering::Relaxed);
            let Some(other) = proved else { return Ok(()) };
            let position = Box::new(position.without_stores());
            let error = ClaimError::Contradiction { position, known: bounds, other, by: "a search" };
            Err(BookError::from(error)).with_context(|| name)
        };
        progress.complete(&done, || chosen.iter().try_for_each(check))?;
        Ok((chosen.len(), solver.nodes()))
    }
}
