use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::pace::Took;

/// True if tests can inject faults. Otherwise the compiler removes all checks for them.
const ENABLED: bool = cfg!(feature = "fault-injection");

/// Faults that tests inject into a device.
#[derive(Debug, Default)]
pub(super) struct Injected {
    /// Number of buffers requested so far.
    pub allocations: AtomicU64,
    /// Numbers of those that are refused.
    pub refused: Mutex<Range<u64>>,
    /// Number of submissions before the device hangs, if it should.
    pub submissions_left: Mutex<Option<u64>>,
    /// True once submissions no longer end.
    pub hangs: AtomicBool,
    /// True if kernels do nothing.
    pub idle: AtomicBool,
    /// True if submissions count as slow.
    pub slow: AtomicBool,
}

impl Injected {
    /// Counts one more buffer. Returns true if it should be refused.
    pub fn refuses(&self) -> bool {
        ENABLED && self.refused.lock().contains(&self.allocations.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the time that a submission counts as having taken.
    pub fn took(&self, took: Took) -> Took {
        let factor = if ENABLED && self.slow.load(Ordering::Relaxed) { 1e6 } else { 1.0 };
        Took { least: took.least * factor, most: took.most * factor }
    }

    /// Returns true if submissions do not end.
    pub fn hangs(&self) -> bool {
        ENABLED && self.hangs.load(Ordering::Relaxed)
    }

    /// Returns true if kernels do nothing.
    pub fn is_idle(&self) -> bool {
        ENABLED && self.idle.load(Ordering::Relaxed)
    }

    /// Counts one more submission.
    pub fn submitted(&self) {
        if !ENABLED {
            return;
        }
        match &mut *self.submissions_left.lock() {
            Some(0) => self.hangs.store(true, Ordering::Relaxed),
            Some(left) => *left -= 1,
            None => {}
        }
    }
}
