use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a watching thread looks whether it was told to stop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// When a player has to answer: at a time, when told to, or whenever it is done.
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

    /// The same, but over as soon as `stop` is set. Players of a fixed depth then give up and play what they see one move
    /// ahead, unless there is a time too, for which they look ahead step by step.
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
    pub(crate) fn watch<T>(&self, flag: &AtomicBool, work: impl FnOnce() -> T) -> T {
        flag.store(self.is_over(), Ordering::Relaxed);
        if !self.is_set() || self.is_over() {
            return work();
        }
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if self.is_over() {
                        flag.store(true, Ordering::Relaxed);
                        return;
                    }
                    let left = self.left().unwrap_or(LOOK_EVERY);
                    thread::park_timeout(if self.stop.is_some() { left.min(LOOK_EVERY) } else { left });
                }
            });
            let _done = Done(&done, watcher.thread());
            work()
        })
    }
}

/// Tells a watching thread that the work is over, also when it panics.
struct Done<'a>(&'a AtomicBool, &'a thread::Thread);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}
