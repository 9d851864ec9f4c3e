//! Progress of a search on stderr: a changing line on a terminal, otherwise a line from time to time.

use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar};
use kalah::answer::Value;
use kalah::game::{Position, ValueBounds};
use kalah::play::Choice;
use kalah::solve::{SolveEvent, Solver};
use kalah::watcher::watched;
use parking_lot::Mutex;

use crate::cli::output::progress::{spinner, watch_text};
use crate::cli::{failure, message, output};

/// Interval of updates of the line.
const TICK: Duration = Duration::from_millis(200);

/// Interval of lines without a terminal.
const LOG_EVERY: Duration = Duration::from_secs(30);

/// Progress of a search of one position.
pub(crate) struct SearchProgress {
    bar: ProgressBar,
    terminal: bool,
    position: Mutex<Position>,
    /// Current opening or turn, and current test.
    stage: Mutex<(String, String)>,
    start: Instant,
}

impl SearchProgress {
    /// Starts progress of a search of `position`.
    pub(crate) fn new(position: Position) -> SearchProgress {
        let (bar, terminal) = spinner();
        SearchProgress { bar, terminal, position: Mutex::new(position), stage: Mutex::default(), start: Instant::now() }
    }

    /// Sets the name of the current stage.
    pub(crate) fn stage(&self, stage: String) {
        self.stage.lock().0 = stage;
    }

    /// Shows the first turns of another position.
    pub(crate) fn position(&self, position: Position) {
        *self.position.lock() = position;
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
        self.bar.suspend(|| output::note(text));
    }

    /// Prints an error above the progress.
    pub(crate) fn line(&self, text: &str) {
        self.bar.suspend(|| output::message(text));
    }

    /// Prints an answer.
    pub(crate) fn print(&self, print: impl FnOnce() -> std::io::Result<()>) -> failure::Result<()> {
        Ok(self.bar.suspend(print)?)
    }

    /// Runs `work`, shows the progress of `solver` meanwhile, and calls `call` at intervals.
    pub(crate) fn watch<T>(
        &self,
        solver: &Solver,
        every: Option<Duration>,
        call: impl Fn() + Sync,
        work: impl FnOnce() -> T,
    ) -> T {
        let (mut logged, mut called) = (Instant::now(), Instant::now());
        let poll = || {
            if self.terminal {
                self.bar.set_message(self.text(solver));
                self.bar.tick();
            } else if logged.elapsed() > LOG_EVERY {
                logged = Instant::now();
                output::note(self.text(solver));
            }
            if every.is_some_and(|every| called.elapsed() > every) {
                call();
                called = Instant::now();
            }
            Some(TICK)
        };
        // If the system starts no thread, the work runs without progress.
        let alone = |error: &std::io::Error| message!("cannot show progress or save the search: {error}");
        watched(TICK, poll, alone, work)
    }

    fn text(&self, solver: &Solver) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let (stage, test) = self.stage.lock().clone();
        let separator = if stage.is_empty() { "" } else { ": " };
        format!(
            "{stage}{separator}{test} | {} nodes, {} a second, {} table hits, {:.0} % full | first turns \
             {} | {:.0} s",
            HumanCount(solver.nodes()),
            HumanCount((solver.nodes() as f64 / seconds.max(1e-9)) as u64),
            HumanCount(solver.table_hits()),
            100.0 * solver.fill(),
            self.turns(solver),
            seconds,
        )
    }

    /// Returns the values of all first moves, or their bounds.
    fn turns(&self, solver: &Solver) -> String {
        let position = *self.position.lock();
        let turn = |pit| {
            let played = position.play(solver.rules(), pit).ok()?;
            let known = solver.known(&played.position).ok()?;
            let value = |score| played.position.value(score);
            let known = ValueBounds { lower: value(known.lower), upper: value(known.upper) }.for_mover(&played);
            Some(format!("{pit}:{}", Value::new(known).symbols("")))
        };
        position.moves().filter_map(turn).collect::<Vec<_>>().join(" ")
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Time before the first note, since quick answers need none.
const FIRST_NOTE: Duration = Duration::from_secs(2);

/// Progress of one player's thinking about one move.
pub(crate) struct Thinking {
    /// Player and position.
    subject: String,
    start: Instant,
    time: Option<Duration>,
    best: Mutex<Option<Choice>>,
}

impl Thinking {
    /// Starts: the player has `time`, or no limit.
    pub(crate) fn new(subject: String, time: Option<Duration>) -> Thinking {
        Thinking { subject, start: Instant::now(), time, best: Mutex::default() }
    }

    /// Records the best move so far.
    pub(crate) fn best(&self, choice: &Choice) {
        *self.best.lock() = Some(*choice);
    }

    /// Runs `work` and shows its findings meanwhile.
    pub(crate) fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        watch_text(FIRST_NOTE, || self.text(), work)
    }

    fn text(&self) -> String {
        let elapsed = self.start.elapsed();
        let left = match self.time {
            Some(time) => format!("{:.0} s left", time.saturating_sub(elapsed).as_secs_f64()),
            None => "no time limit (set one with --time)".to_owned(),
        };
        let best = match *self.best.lock() {
            Some(Choice { pit, worth, source }) => format!("move {pit} so far, {worth}, {source}"),
            None => "no move yet".to_owned(),
        };
        // A terminal cuts off the end of the line.
        format!("{:.0} s, {left}: {best} | {}", elapsed.as_secs_f64(), self.subject)
    }
}
