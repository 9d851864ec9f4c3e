//! Progress of a search on stderr: a changing line on a terminal, otherwise a line from time to time.

use std::time::Instant;

use indicatif::HumanCount;
use kalah::solve::{SolveEvent, Solver};
use parking_lot::Mutex;

use crate::cli::output::progress::Spinner;
use crate::cli::{failure, output};

/// Progress of a search.
pub(crate) struct SearchProgress {
    spinner: Spinner,
    /// Current opening or turn, and current test.
    stage: Mutex<(String, String)>,
    start: Instant,
}

impl SearchProgress {
    /// Starts progress of a search.
    pub(crate) fn new() -> SearchProgress {
        SearchProgress { spinner: Spinner::of_hours(), stage: Mutex::default(), start: Instant::now() }
    }

    /// Sets the name of the current stage.
    pub(crate) fn stage(&self, stage: String) {
        self.stage.lock().0 = stage;
    }

    /// Records an event of the search.
    pub(crate) fn event(&self, event: SolveEvent) {
        if let SolveEvent::Begin { score, known, position } = event {
            let seeds = position.seeds();
            self.stage.lock().1 = format!("{score} of {seeds} seeds? {}..{} proved", known.lower, known.upper);
        }
    }

    /// Prints a note above the progress, unless --quiet was given.
    pub(crate) fn note(&self, text: &str) {
        self.spinner.above(|| output::note(text));
    }

    /// Prints an error above the progress.
    pub(crate) fn line(&self, text: &str) {
        self.spinner.above(|| output::message(text));
    }

    /// Prints an answer.
    pub(crate) fn print(&self, print: impl FnOnce() -> std::io::Result<()>) -> failure::Result<()> {
        Ok(self.spinner.above(print)?)
    }

    /// Runs `work` and shows the progress of `solver` meanwhile.
    pub(crate) fn watch<T>(&self, solver: &Solver, work: impl FnOnce() -> T) -> T {
        self.spinner.watch(|| self.text(solver), work)
    }

    fn text(&self, solver: &Solver) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let (stage, test) = self.stage.lock().clone();
        let separator = if stage.is_empty() { "" } else { ": " };
        format!(
            "{stage}{separator}{test} | {} nodes, {} a second, {} table hits, {:.0} % full | {:.0} s",
            HumanCount(solver.nodes()),
            HumanCount((solver.nodes() as f64 / seconds.max(1e-9)) as u64),
            HumanCount(solver.table_hits()),
            100.0 * solver.fill(),
            seconds,
        )
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.spinner.finish();
    }
}
