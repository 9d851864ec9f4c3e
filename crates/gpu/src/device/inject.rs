use std::ops::Range;
use std::sync::atomic::Ordering;

use super::gpu::Gpu;

/// Faults that can be injected into a device, for tests.
impl Gpu {
    /// Loses the device, as after a driver reset.
    pub fn lose(&self) {
        self.device.destroy();
    }

    /// Refuses buffers by their numbers, from 0 for the next one, like a device or a machine
    /// without memory.
    pub fn refuse_buffers(&self, numbers: Range<u64>) {
        *self.injected.refused.lock() = numbers;
        self.injected.allocations.store(0, Ordering::Relaxed);
    }

    /// Number of buffers requested since the device was opened, or since [`Gpu::refuse_buffers`].
    pub fn buffers_made(&self) -> u64 {
        self.injected.allocations.load(Ordering::Relaxed)
    }

    /// Makes the device hang after `submissions` more submissions, without a reported fault.
    pub fn hang_after(&self, submissions: u64) {
        *self.injected.submissions_left.lock() = Some(submissions);
    }

    /// Makes kernels do nothing, as on hardware that a driver only pretends to have.
    pub fn idle(&self) {
        self.injected.idle.store(true, Ordering::Relaxed);
    }

    /// Makes every submission count as taking a million times as long.
    pub fn slow_down(&self) {
        self.injected.slow.store(true, Ordering::Relaxed);
    }

    /// Number of submissions that have ended since the device was opened.
    pub fn submissions(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}
