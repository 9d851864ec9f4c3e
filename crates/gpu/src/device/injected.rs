use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::pace::Took;

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
        let number = self.allocations.fetch_add(1, Ordering::Relaxed);
        self.refused.lock().contains(&number)
    }

    /// Returns the time that a submission counts as having taken.
    pub fn took(&self, took: Took) -> Took {
        let factor = if self.slow.load(Ordering::Relaxed) { 1e6 } else { 1.0 };
        Took { least: took.least * factor, most: took.most * factor }
    }

    /// Returns true if submissions do not end.
    pub fn hangs(&self) -> bool {
        self.hangs.load(Ordering::Relaxed)
    }

    /// Returns true if kernels do nothing.
    pub fn is_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }

    /// Counts one more submission.
    pub fn submitted(&self) {
        let mut left = self.submissions_left.lock();
        match &mut *left {
            Some(0) => self.hangs.store(true, Ordering::Relaxed),
            Some(left) => *left -= 1,
            None => {}
        }
    }
}
