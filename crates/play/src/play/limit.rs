use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::watcher::watched;

/// How often a watching thread checks whether it was asked to stop.
const CHECK_EVERY: Duration = Duration::from_millis(5);

/// How many positions a depth-limited search may visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// A search to the depth of a player.
    pub whole: u64,
    /// Each of the searches to depth 1, 2, ... that replace it where that does not suffice.
    pub step: u64,
}

impl Budget {
    /// What players have: some minutes for the whole search. No search of a published comparison takes as many.
    pub const PLAYER: Budget = Budget { whole: 1 << 30, step: 1 << 24 };
}

/// When a player has to answer: at a time, when asked to, or whenever it is done.
#[derive(Clone, Debug, Default)]
pub struct Limit {
    deadline: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
}

impl Limit {
    /// None: the player takes its time.
    pub fn none() -> Limit {
        Limit::default()
    }

    /// So much time from now on.
    pub fn time(time: Duration) -> Limit {
        Limit { deadline: Instant::now().checked_add(time), stop: None }
    }

    /// The same, but over as soon as `stop` is set. Players of a fixed depth then play the choice of a search to
    /// depth 1, unless there is a time too, in which they search deeper step by step.
    #[must_use]
    pub fn or_stop(self, stop: Arc<AtomicBool>) -> Limit {
        Limit { stop: Some(stop), ..self }
    }

    /// The same, but over after `time` at the latest.
    #[must_use]
    pub fn at_most(&self, time: Duration) -> Limit {
        let sooner = Instant::now().checked_add(time);
        let deadline = self.deadline.into_iter().chain(sooner).min();
        Limit { deadline, stop: self.stop.clone() }
    }

    /// Whether it can ever be over.
    pub fn is_set(&self) -> bool {
        self.deadline.is_some() || self.stop.is_some()
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The time left; `None` where there is no deadline.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Does `work` and has `flag` set once the limit is over; it is not set when the work begins in time.
    pub fn watch<T>(&self, flag: &AtomicBool, work: impl FnOnce() -> T) -> T {
        // Asked once: a limit that is over only the second time would leave the flag alone for good.
        let over = self.is_over();
        flag.store(over, Ordering::Relaxed);
        if over || !self.is_set() {
            return work();
        }
        let check = || {
            if self.is_over() {
                flag.store(true, Ordering::Relaxed);
                return None;
            }
            let left = self.left().unwrap_or(CHECK_EVERY);
            Some(if self.stop.is_some() { left.min(CHECK_EVERY) } else { left })
        };
        // Where the system gives no thread to watch, the limit is over at once rather than never.
        watched(Duration::ZERO, check, |_| flag.store(true, Ordering::Relaxed), work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_microseconds_is_never_lost() {
        let flag = AtomicBool::new(false);
        for round in 0..4000 {
            let limit = Limit::time(Duration::from_nanos(round * 7 % 20_000));
            let ended = limit.watch(&flag, || {
                let begin = Instant::now();
                while !flag.load(Ordering::Relaxed) {
                    // Far beyond any limit: the watching thread sleeps for good.
                    if begin.elapsed() > Duration::from_secs(20) {
                        return false;
                    }
                    std::thread::yield_now();
                }
                true
            });
            assert!(ended, "the limit of round {round} was lost");
        }
    }
}
