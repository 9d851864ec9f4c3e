use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use kalah::analyse::book::{check_by_search, check_neighbours};
use kalah::book::{Book, BookError};
use kalah::cancel::Cancel;
use kalah::game::{Bounds, Position};
use kalah::random::generator;
use kalah::solve::SolveError;
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::flags::solver_flags::SolverFlags;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::cancel_on_signal;
use crate::cli::solving::book::file::{in_use, no_book};

/// Check the book: every position by those after its moves, and by a search
///
/// The first wrong one is reported, and ends it with exit code 3.
#[derive(Args)]
pub struct Check {
    /// The book's file [default: the one beside the tables, else that of the program]
    #[arg(value_name = "FILE")]
    book: Option<PathBuf>,
    /// Search only so many positions, drawn at random; 0 for none [default: all]
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the random choice
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Pits a side, where no FILE is given
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
    book: String,
    rules: &'static str,
    pits: usize,
    positions: usize,
    digest: String,
    /// Positions that were searched.
    searched: usize,
    nodes: u64,
    seconds: f64,
    /// What is wrong with the first wrong position.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
    /// Whether it was stopped before the end.
    stopped: bool,
}

/// How the searches ended.
#[derive(Default)]
struct Searched {
    positions: usize,
    nodes: u64,
    wrong: Option<String>,
    stopped: bool,
}

impl Check {
    pub fn run(mut self) -> anyhow::Result<Outcome> {
        self.with.threads.start()?;
        let (book, name) = in_use(self.book.as_deref(), self.with.directory(), self.with.rules, self.pits)?;
        if book.is_empty() && self.book.is_none() {
            return Err(no_book(book.rules(), book.pits()));
        }
        // A file says for which rule set it is.
        self.with.rules = book.rules();
        let cancel = Cancel::new();
        cancel_on_signal(&cancel);
        let begin = Instant::now();
        let wrong = match check_neighbours(&book, None, &mut |_| !cancel.is_cancelled()) {
            Ok(()) => None,
            Err(error @ BookError::Contradiction { .. }) => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let searched = match wrong {
            Some(wrong) => Searched { wrong: Some(wrong), ..Searched::default() },
            None => self.search(&book, &cancel)?,
        };
        let report = BookCheckReport {
            book: name,
            rules: book.rules().name(),
            pits: book.pits(),
            positions: book.len(),
            digest: output::hex(&book.digest()),
            searched: searched.positions,
            nodes: searched.nodes,
            seconds: begin.elapsed().as_secs_f64(),
            stopped: searched.stopped,
            wrong: searched.wrong,
        };
        if self.json {
            output::json(&report)?;
        } else {
            let state = match (&report.wrong, report.stopped) {
                (Some(_), _) => "WRONG",
                (None, true) => "stopped",
                (None, false) => "ok",
            };
            output::line(format_args!(
                "{}: {} compared with those after their moves, {} searched, {:.1} s: {state}",
                report.book,
                output::count(report.positions, "position"),
                report.searched,
                report.seconds
            ))?;
        }
        if let Some(wrong) = &report.wrong {
            output::tell(format_args!("WRONG: {wrong}"));
            return Ok(Outcome::Wrong);
        }
        Ok(if report.stopped { Outcome::Failed } else { Outcome::Done })
    }

    /// The positions to search: those with the fewest seeds first, each helps with the next.
    fn chosen(&self, book: &Book) -> Vec<(Position, Bounds)> {
        let mut numbers: Vec<usize> = (0..book.len()).collect();
        if let Some(sample) = self.sample {
            generator(self.seed).shuffle(&mut numbers);
            numbers.truncate(sample);
            numbers.sort_unstable();
        }
        numbers.into_iter().filter_map(|number| book.nth(number)).collect()
    }

    /// Searches positions of the book without it.
    fn search(&self, book: &Book, cancel: &Cancel) -> anyhow::Result<Searched> {
        let chosen = self.chosen(book);
        let mut searched = Searched { stopped: cancel.is_cancelled(), ..Searched::default() };
        let Some((largest, _)) = chosen.last().filter(|_| !searched.stopped) else { return Ok(searched) };
        let tables = self.with.open_tables(largest, cancel)?;
        let solver = self.with.solver(largest, &tables, cancel)?;
        let progress = Progress::of(chosen.len() as u64, "positions");
        progress.stage("searching".to_owned());
        let done = AtomicU64::new(0);
        let found = progress.watch(&done, || -> Result<(), SolveError> {
            for (position, bounds) in &chosen {
                if let Some(found) = check_by_search(&solver, position, *bounds)? {
                    searched.wrong = Some(format!(
                        "its bounds of the score of {position}, {} to {}, contradict {} to {} by a search",
                        bounds.lower, bounds.upper, found.lower, found.upper
                    ));
                    return Ok(());
                }
                searched.positions += 1;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        progress.finish();
        searched.nodes = solver.nodes();
        match found {
            Ok(()) => {}
            Err(SolveError::Stopped) => searched.stopped = true,
            Err(error) => return Err(error.into()),
        }
        Ok(searched)
    }
}
