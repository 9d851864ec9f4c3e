//! Progress of long work: a line on a terminal that changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, Scope};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kalah::printable::commas;
use kalah::solve::{SolveEvent, Solver};
use parking_lot::Mutex;

use crate::cli::{failure, output};

/// Interval of updates.
const TICK: Duration = Duration::from_millis(200);

/// Minimum seconds of a reported step.
const REPORTED_FROM: f64 = 0.5;

/// Progress of work on stderr, and notes above its line. Without a terminal there are only the notes.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Current test of a search.
    test: Mutex<String>,
}

impl Progress {
    /// Starts progress towards `positions`.
    pub(crate) fn new(positions: u64) -> Progress {
        Progress::of(positions, "positions")
    }

    /// Starts progress towards `total` things with this name.
    pub(crate) fn of(total: u64, things: &str) -> Progress {
        let counts = format!("{{percent_precise}} % of {{human_len}} {things}, {{per_sec}}, {{eta}} left");
        Progress::styled(Some(total), &format!("{{spinner}} {{prefix}}: {counts}"))
    }

    /// Starts progress of work of unknown length, such as a search.
    pub(crate) fn open() -> Progress {
        Progress::styled(None, "{spinner} {prefix} {wide_msg} {elapsed_precise}")
    }

    fn styled(total: Option<u64>, template: &str) -> Progress {
        let target = if output::is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template(template).expect("the template is sound");
        Progress { bar: ProgressBar::with_draw_target(total, target).with_style(style), test: Mutex::default() }
    }

    /// Returns the progress with the name of its only stage.
    pub(crate) fn at(self, stage: impl Into<String>) -> Progress {
        self.stage(stage.into());
        self
    }

    /// Sets the name of the current stage.
    pub(crate) fn stage(&self, stage: String) {
        self.bar.set_prefix(stage);
    }

    /// Takes work off the total that need not be done.
    pub(crate) fn skip(&self, positions: u64) {
        self.bar.dec_length(positions);
    }

    /// Records an event of a search.
    pub(crate) fn event(&self, event: SolveEvent) {
        if let SolveEvent::Begin { score, known, position } = event {
            let seeds = position.seeds();
            *self.test.lock() = format!("{score} of {seeds} seeds? {}..{} proved", known.lower, known.upper);
        }
    }

    /// Reports a finished step, unless it was quick; quick steps are part of the summary at the end.
    pub(crate) fn step(&self, seconds: f64, text: &str) {
        if seconds > REPORTED_FROM {
            self.note(text);
        }
    }

    /// Prints a note above the line, unless --quiet was given.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    /// Prints an error above the line.
    pub(crate) fn line(&self, text: &str) {
        self.bar.suspend(|| output::message(text));
    }

    /// Prints an answer above the line.
    pub(crate) fn print(&self, print: impl FnOnce() -> std::io::Result<()>) -> failure::Result<()> {
        Ok(self.bar.suspend(print)?)
    }

    /// Runs `work` and shows the time that it takes.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        self.polled(|| (), work)
    }

    /// Runs `work` and shows the progress of `counter` meanwhile.
    pub(crate) fn watch<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        self.polled(|| self.bar.set_position(counter.load(Ordering::Relaxed)), work)
    }

    /// Runs `work` as [`watch`](Self::watch) does, then removes the line.
    pub(crate) fn complete<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let result = self.watch(counter, work);
        self.finish();
        result
    }

    /// Runs `work`, shows the progress of `solver` meanwhile, then removes the line.
    pub(crate) fn search<T>(&self, solver: &Solver, work: impl FnOnce() -> T) -> T {
        let counts = || {
            let [nodes, hits] = [solver.nodes(), solver.table_hits()].map(commas);
            let (test, full) = (self.test.lock(), 100.0 * solver.fill());
            self.bar.set_message(format!("{test} | {nodes} nodes, {hits} table hits, {full:.0} % full"));
        };
        let result = self.polled(counts, work);
        self.finish();
        result
    }

    /// Runs `work` and calls `update` before the line is drawn.
    fn polled<T>(&self, update: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
        if self.bar.is_hidden() {
            return work();
        }
        let poll = || {
            update();
            self.bar.tick();
        };
        watched(TICK, poll, work)
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Runs `work` and shows `subject` meanwhile.
pub(crate) fn watch<T>(subject: &str, work: impl FnOnce() -> T) -> T {
    let progress = Progress::open().at(subject);
    let result = progress.run(work);
    progress.finish();
    result
}

/// Runs `work` while another thread calls `poll` at intervals.
pub(crate) fn watched<T>(every: Duration, poll: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let _working = polling(scope, every, Box::new(poll));
        work()
    })
}

/// Calls `poll` at intervals on another thread. The sender ends this when it is dropped, even by a panic.
fn polling<'s>(scope: &'s Scope<'s, '_>, every: Duration, mut poll: Box<dyn FnMut() + Send + 's>) -> Sender<()> {
    let (working, done) = channel();
    scope.spawn(move || {
        while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            poll();
        }
    });
    working
}
