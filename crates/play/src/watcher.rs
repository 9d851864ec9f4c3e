//! A thread that watches other work, and ends with it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// Does `work` while another thread calls `poll`: first after `first`, then after the time that each call
/// returns. The calls end when one returns `None`, or the work ends or panics. One more call may follow.
///
/// If the system cannot start a thread, `alone` is called with the reason before the work.
pub fn watched<T>(
    first: Duration,
    mut poll: impl FnMut() -> Option<Duration> + Send,
    alone: impl FnOnce(&io::Error),
    work: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = || {
            let mut next = Some(first);
            while let Some(pause) = next.filter(|_| !done.load(Ordering::Relaxed)) {
                if !pause.is_zero() {
                    thread::park_timeout(pause);
                }
                next = poll();
            }
        };
        let watcher = thread::Builder::new().spawn_scoped(scope, watch).inspect_err(alone).ok();
        let _finish = watcher.map(|watcher| Finish(&done, watcher.thread().clone()));
        work()
    })
}

/// Ends the watching thread when dropped.
struct Finish<'a>(&'a AtomicBool, Thread);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Instant;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn work_that_is_over_ends_the_watch_at_once() {
        let start = Instant::now();
        assert_eq!(watched(LONG, || Some(LONG), |error| panic!("{error}"), || 7), 7);
        let panics = || watched(Duration::ZERO, || Some(LONG), |error| panic!("{error}"), || panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).map(|(): ()| ()).is_err());
        assert!(start.elapsed() < LONG / 2);
    }

    #[test]
    fn polling_goes_on_until_it_has_seen_enough() {
        let (seen, mut polls) = (AtomicBool::new(false), 0);
        let poll = || {
            polls += 1;
            seen.store(polls == 3, Ordering::Relaxed);
            (polls < 3).then_some(Duration::from_millis(1))
        };
        watched(
            Duration::ZERO,
            poll,
            |error| panic!("{error}"),
            || {
                while !seen.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
            },
        );
        assert_eq!(polls, 3);
    }
}
