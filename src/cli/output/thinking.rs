//! Progress of a player's thinking on stderr, while a person waits for its move.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use kalah::play::Choice;
use kalah::watcher::watched;
use parking_lot::Mutex;

use crate::cli::output;

/// Interval of updates on a terminal.
const TICK: Duration = Duration::from_millis(200);

/// Time before the first line without a terminal, since quick answers need none.
const FIRST_LOG: Duration = Duration::from_secs(2);

/// Interval of later lines.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Progress of one player's thinking about one move.
pub struct Thinking {
    bar: ProgressBar,
    terminal: bool,
    /// Player and position.
    subject: String,
    start: Instant,
    time: Option<Duration>,
    best: Mutex<Option<Choice>>,
}

impl Thinking {
    /// Starts: the player has `time`, or no limit.
    pub fn new(subject: String, time: Option<Duration>) -> Thinking {
        let terminal = std::io::stderr().is_terminal() && !output::is_quiet();
        let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound"));
        Thinking { bar, terminal, subject, start: Instant::now(), time, best: Mutex::default() }
    }

    /// Records the best move so far.
    pub fn best(&self, choice: &Choice) {
        *self.best.lock() = Some(*choice);
    }

    /// Runs `work` and shows its findings meanwhile.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut next = FIRST_LOG;
        let poll = || {
            if self.terminal {
                self.bar.set_message(self.text());
                self.bar.tick();
            } else if self.start.elapsed() >= next {
                next = self.start.elapsed() + LOG_EVERY;
                output::note(self.text());
            }
            Some(TICK)
        };
        // If the system starts no thread, the work runs without progress.
        let result = watched(TICK, poll, |_| (), work);
        self.bar.finish_and_clear();
        result
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
