use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::pace::Took;

/// Faults that tests inject into a device.
#[derive(Debug, Default)]
pub(super) struct Injected {
    /// The buffers that were to be made so far.
    pub allocations: AtomicU64,
    /// The numbers of those that are refused.
    pub refused: Mutex<Range<u64>>,
    /// The submissions after which none ends, if any.
    pub submissions_left: Mutex<Option<u64>>,
    /// No submission ends any more.
    pub hangs: AtomicBool,
    /// Kernels do nothing.
    pub idle: AtomicBool,
    /// Submissions count as slow.
    pub slow: AtomicBool,
}

impl Injected {
    /// Counts one more buffer; returns whether it is to be refused.
    pub fn refuses(&self) -> bool {
        let number = self.allocations.fetch_add(1, Ordering::Relaxed);
        self.refused.lock().contains(&number)
    }

    /// How long a submission counts as having taken.
    pub fn took(&self, took: Took) -> Took {
        let factor = if self.slow.load(Ordering::Relaxed) { 1e6 } else { 1.0 };
        Took { least: took.least * factor, most: took.most * factor }
    }

    /// Returns true if no submission ends any more.
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
