//! Progress of long work on stderr: a line that changes on a terminal, otherwise a note from time to time.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use crate::cli::output;

/// Share of the work before the rest is estimated: the first steps of a build are small, and slow for their size.
const ESTIMATED_FROM: f64 = 0.001;

/// Minimum seconds of a reported step.
const REPORTED_FROM: f64 = 0.5;

/// Progress of counted work, by default in positions.
pub(crate) struct Progress {
    line: Spinner,
    things: &'static str,
    /// Name of the current stage, and number of all things.
    state: Mutex<(String, u64)>,
    start: Instant,
}

impl Progress {
    /// Starts progress towards `positions`.
    pub(crate) fn new(positions: u64) -> Progress {
        Progress::of(positions, "positions")
    }

    /// Starts progress towards `total` things with this name.
    pub(crate) fn of(total: u64, things: &'static str) -> Progress {
        let state = Mutex::new((String::new(), total));
        Progress { line: Spinner::of_hours(), things, state, start: Instant::now() }
    }

    /// Returns the progress with the name of its only stage.
    pub(crate) fn at(self, stage: impl Into<String>) -> Progress {
        self.stage(stage.into());
        self
    }

    /// Sets the name of the current stage.
    pub(crate) fn stage(&self, stage: String) {
        self.state.lock().0 = stage;
    }

    /// Takes work off the total that need not be done.
    pub(crate) fn skip(&self, positions: u64) {
        let total = &mut self.state.lock().1;
        *total = total.saturating_sub(positions);
    }

    /// Reports a finished step, unless it was quick; quick steps are part of the summary at the end.
    pub(crate) fn step(&self, seconds: f64, text: &str) {
        if seconds > REPORTED_FROM {
            self.note(text);
        }
    }

    /// Prints a note above the line, unless --quiet was given.
    pub(crate) fn note(&self, text: &str) {
        self.line.above(|| output::note(text));
    }

    /// Prints an error above the line.
    pub(crate) fn line(&self, text: &str) {
        self.line.above(|| output::message(text));
    }

    /// Runs `work` and shows the progress of `counter` meanwhile.
    pub(crate) fn watch<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        self.line.watch(|| self.text(counter.load(Ordering::Relaxed)), work)
    }

    /// Runs `work` as [`watch`](Self::watch) does, then removes the line.
    pub(crate) fn complete<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let result = self.watch(counter, work);
        self.finish();
        result
    }

    fn text(&self, done: u64) -> String {
        let (stage, total) = self.state.lock().clone();
        let seconds = self.start.elapsed().as_secs_f64();
        let left = match time_left(done, total, seconds) {
            Some(left) => format!("{} left", HumanDuration(left)),
            None => "time left unknown".to_owned(),
        };
        format!(
            "{stage}: {:.1} % of {} {}, {} a second, {left}",
            100.0 * done as f64 / total.max(1) as f64,
            HumanCount(total),
            self.things,
            HumanCount((done as f64 / seconds) as u64),
        )
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.line.finish();
    }
}

/// Estimates the remaining time from the rate so far; `None` if too little is done.
fn time_left(done: u64, total: u64, seconds: f64) -> Option<Duration> {
    let is_enough = done as f64 >= ESTIMATED_FROM * total as f64 && done > 0;
    is_enough.then(|| Duration::from_secs_f64(seconds * total.saturating_sub(done) as f64 / done as f64))
}

/// Interval of updates on a terminal.
const TICK: Duration = Duration::from_millis(200);

/// Time before the first note, since quick answers need none.
const FIRST_NOTE: Duration = Duration::from_secs(1);

/// Interval of later notes.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Interval of the notes of work that may take hours.
const LOG_EVERY: Duration = Duration::from_secs(30);

/// Runs `work` and shows its elapsed time meanwhile.
pub(crate) fn watch<T>(subject: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    watch_text(|| format!("{subject}: {:.0} s", start.elapsed().as_secs_f64()), work)
}

/// Runs `work` and shows `text` meanwhile.
pub(crate) fn watch_text<T>(text: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
    let spinner = Spinner::new(FIRST_NOTE, NOTE_EVERY);
    let result = spinner.watch(text, work);
    spinner.finish();
    result
}

/// Runs `work` while another thread calls `poll` at intervals.
pub(crate) fn watched<T>(every: Duration, mut poll: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        // The end of the work, even by a panic, drops the sender and so ends the thread.
        let (_working, done) = channel::<()>();
        scope.spawn(move || {
            while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                poll();
            }
        });
        work()
    })
}

/// Progress of work of unknown length: a line that changes on a terminal, otherwise notes.
pub(crate) struct Spinner {
    bar: ProgressBar,
    terminal: bool,
    /// Time before the first note, and between later ones.
    notes: (Duration, Duration),
}

impl Spinner {
    /// Returns a spinner of work that may take hours, with few notes.
    pub(crate) fn of_hours() -> Spinner {
        Spinner::new(LOG_EVERY, LOG_EVERY)
    }

    /// Returns a spinner that makes notes after the time `first`, and then at intervals.
    fn new(first: Duration, every: Duration) -> Spinner {
        let terminal = std::io::stderr().is_terminal() && !output::is_quiet();
        let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound"));
        Spinner { bar, terminal, notes: (first, every) }
    }

    /// Runs `work` and shows `text` meanwhile.
    pub(crate) fn watch<T>(&self, text: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
        let ((mut next, every), start) = (self.notes, Instant::now());
        let poll = || {
            if self.terminal {
                self.bar.set_message(text());
                self.bar.tick();
            } else if start.elapsed() >= next {
                next = start.elapsed() + every;
                output::note(text());
            }
        };
        watched(TICK, poll, work)
    }

    /// Prints something above the line.
    pub(crate) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_estimated_from_next_to_nothing() {
        // Without the minimum share, a build of 38 seeds estimated 27,795 years after half a minute.
        assert_eq!(time_left(1_000, 29_133_991_068, 30.0), None);
        assert_eq!(time_left(0, 0, 30.0), None);
        assert_eq!(time_left(250, 1_000, 30.0), Some(Duration::from_secs(90)));
        assert_eq!(time_left(1_000, 1_000, 30.0), Some(Duration::ZERO));
    }
}
