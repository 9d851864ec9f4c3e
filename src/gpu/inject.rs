use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::device::Gpu;

/// Faults that tests inject into a device.
#[derive(Debug, Default)]
pub(super) struct Injected {
    /// The buffers that were to be made so far.
    allocations: AtomicU64,
    /// The numbers of those that are refused.
    refused: Mutex<Range<u64>>,
    /// The submissions after which none finishes; `u64::MAX` for none.
    submissions_left: Mutex<Option<u64>>,
    pub hangs: AtomicBool,
    pub idle: AtomicBool,
}

impl Injected {
    /// Counts one more buffer; returns whether it is to be refused.
    pub fn refuses(&self) -> bool {
        let number = self.allocations.fetch_add(1, Ordering::Relaxed);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).contains(&number)
    }

    /// Counts one more submission.
    pub fn submitted(&self) {
        let mut left = self.submissions_left.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *left {
            Some(0) => self.hangs.store(true, Ordering::Relaxed),
            Some(left) => *left -= 1,
            None => {}
        }
    }
}

/// Faults that can be injected into a device, for tests.
impl Gpu {
    /// Loses the device, as after a driver reset.
    pub fn lose(&self) {
        self.device.destroy();
    }

    /// Refuses buffers by their numbers, from 0 for the next one, as a device or a machine without memory does.
    pub fn refuse_buffers(&self, numbers: Range<u64>) {
        *self.injected.refused.lock().unwrap_or_else(PoisonError::into_inner) = numbers;
        self.injected.allocations.store(0, Ordering::Relaxed);
    }

    /// The buffers that were to be made since the device was opened, or since [`Gpu::refuse_buffers`].
    pub fn buffers_made(&self) -> u64 {
        self.injected.allocations.load(Ordering::Relaxed)
    }

    /// After so many more submissions none finishes, and no fault is reported.
    pub fn hang_after(&self, submissions: u64) {
        *self.injected.submissions_left.lock().unwrap_or_else(PoisonError::into_inner) = Some(submissions);
    }

    /// Kernels do nothing from now on, as on hardware that a driver only pretends to have.
    pub fn idle(&self) {
        self.injected.idle.store(true, Ordering::Relaxed);
    }
}
