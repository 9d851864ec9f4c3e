//! Stops long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;

#[cfg(target_family = "wasm")]
pub use host::Instant;

/// The work was stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

/// A request to stop: a flag that all clones share, and an optional deadline for each clone.
///
/// The caller keeps one clone and cancels it. The work checks another clone from time to time.
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
    shared: Arc<Shared>,
    deadline: Option<Instant>,
}

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    parent: Option<Cancel>,
}

impl Cancel {
    /// Returns a request that is not cancelled and has no deadline.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Returns a request with a flag of its own that is also cancelled with this one.
    #[must_use]
    pub fn child(&self) -> Cancel {
        let shared = Shared { flag: AtomicBool::new(false), parent: Some(self.clone()) };
        Cancel { shared: Arc::new(shared), deadline: self.deadline }
    }

    /// Returns a clone whose deadline is `time` from now, or the existing deadline if that is sooner.
    #[must_use]
    pub fn within(&self, time: Duration) -> Cancel {
        // A time beyond the range of the clock means no deadline.
        self.until(Instant::now().checked_add(time))
    }

    /// Returns a clone with this `deadline`, or with the existing deadline if that is sooner.
    #[must_use]
    pub fn until(&self, deadline: Option<Instant>) -> Cancel {
        let deadline = self.deadline.into_iter().chain(deadline).min();
        Cancel { shared: Arc::clone(&self.shared), deadline }
    }

    /// Asks the work of all clones and their children to stop as soon as it can.
    pub fn cancel(&self) {
        self.shared.flag.store(true, Ordering::Relaxed);
    }

    /// Returns true if the work must stop: a clone or a parent was cancelled, or the deadline has passed.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.shared.flag.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.shared.parent.as_ref().is_some_and(Cancel::is_cancelled)
    }

    /// Returns [`Stopped`] if the work must stop: see [`Cancel::is_cancelled`].
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

#[cfg(target_family = "wasm")]
mod host {
    use std::time::Duration;

    #[link(wasm_import_module = "kalah")]
    unsafe extern "C" {
        /// Milliseconds since some moment, such as `performance.now()`. They never decrease.
        safe fn now() -> f64;
    }

    /// A moment of the host's clock.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Instant(Duration);

    impl Instant {
        /// The current moment.
        pub fn now() -> Instant {
            Instant(Duration::try_from_secs_f64(now() / 1000.0).unwrap_or_default())
        }

        /// Time since this moment.
        pub fn elapsed(&self) -> Duration {
            Instant::now().saturating_duration_since(*self)
        }

        /// The moment `time` later, if the clock can represent it.
        pub fn checked_add(&self, time: Duration) -> Option<Instant> {
            self.0.checked_add(time).map(Instant)
        }

        /// Time from `earlier` to this moment; zero if it is later.
        pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }
}
