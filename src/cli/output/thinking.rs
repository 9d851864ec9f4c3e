//! Progress of a player's thinking on stderr, while a person waits for its move.

use std::time::{Duration, Instant};

use kalah::play::Choice;
use parking_lot::Mutex;

use crate::cli::output::waiting::watch_text;

/// Time before the first note, since quick answers need none.
const FIRST_NOTE: Duration = Duration::from_secs(2);

/// Progress of one player's thinking about one move.
pub struct Thinking {
    /// Player and position.
    subject: String,
    start: Instant,
    time: Option<Duration>,
    best: Mutex<Option<Choice>>,
}

impl Thinking {
    /// Starts: the player has `time`, or no limit.
    pub fn new(subject: String, time: Option<Duration>) -> Thinking {
        Thinking { subject, start: Instant::now(), time, best: Mutex::default() }
    }

    /// Records the best move so far.
    pub fn best(&self, choice: &Choice) {
        *self.best.lock() = Some(*choice);
    }

    /// Runs `work` and shows its findings meanwhile.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
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
