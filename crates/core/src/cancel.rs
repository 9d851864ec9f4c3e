//! Stops long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The work was stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

/// A request to stop: a flag that all clones share, and an optional deadline for each clone.
///
/// Whoever starts the work keeps one clone. The work checks another from time to time.
///
/// ```
/// use std::time::Duration;
///
/// use kalah_core::cancel::{Cancel, Stopped};
///
/// let cancel = Cancel::new();
/// assert_eq!(cancel.check(), Ok(()));
/// assert_eq!(cancel.within(Duration::ZERO).check(), Err(Stopped));
/// cancel.clone().cancel();
/// assert_eq!(cancel.check(), Err(Stopped));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Cancel {
    /// Returns a request that is not cancelled and has no deadline.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Returns a clone whose deadline is `time` from now, or the existing deadline if that is
    /// sooner.
    #[must_use]
    pub fn within(&self, time: Duration) -> Cancel {
        // A time beyond the range of the clock means no deadline.
        self.until(Instant::now().checked_add(time))
    }

    /// Returns a clone with this `deadline`, or with the existing deadline if that is sooner.
    #[must_use]
    pub fn until(&self, deadline: Option<Instant>) -> Cancel {
        let deadline = self.deadline.into_iter().chain(deadline).min();
        Cancel { flag: Arc::clone(&self.flag), deadline }
    }

    /// Asks the work of all clones to stop as soon as it can.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns true if the work must stop: a clone was cancelled, or the deadline has passed.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns an error if the work must stop.
    ///
    /// # Errors
    /// [`Stopped`] when a clone was cancelled, or the deadline has passed.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_cancelled() { Err(Stopped) } else { Ok(()) }
    }

    /// The time at which the work must stop, if there is a deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Time left until the deadline; `None` without a deadline.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_deadline_counts_and_clones_share_the_flag() {
        let far = Duration::from_secs(3600);
        let cancel = Cancel::new().within(far);
        assert_eq!(cancel.within(2 * far).deadline(), cancel.deadline());
        assert_eq!(cancel.within(Duration::MAX).deadline(), cancel.deadline());
        assert_eq!(Cancel::new().within(Duration::MAX).deadline(), None);
        let near = cancel.within(Duration::ZERO);
        assert_eq!((near.check(), near.left(), cancel.check()), (Err(Stopped), Some(Duration::ZERO), Ok(())));
        near.cancel();
        assert!(cancel.is_cancelled());
    }
}
