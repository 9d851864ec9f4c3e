use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::device::Gpu;
use super::error::GpuError;
use super::kernel::{Access, Kernel, Params, params};
use super::report::Tier;

params! {
    /// Parameters of a kernel that does not end.
    ///
    /// Buffers: words.
    pub struct Endless {
        /// The value of the first word that would end it.
        end,
    }
}

static ENDLESS: Kernel = Kernel {
    name: "endless",
    entry_point: "endless",
    constants: &[],
    params: Endless::WGSL,
    shared: &[],
    own: "\
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> words: array<atomic<u32>>;

@compute @workgroup_size(1)
fn endless() {
    while (atomicLoad(&words[0]) != params.end) {}
}
",
    access: &[Access::Write],
    twin: |_, _, _| (),
    traced_twin: |_, _, _, _| (),
};

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

    /// After so many more submissions none ends, and no fault is reported.
    pub fn hang_after(&self, submissions: u64) {
        *self.injected.submissions_left.lock().unwrap_or_else(PoisonError::into_inner) = Some(submissions);
    }

    /// Kernels do nothing from now on, as on hardware that a driver only pretends to have.
    pub fn idle(&self) {
        self.injected.idle.store(true, Ordering::Relaxed);
    }

    /// Every submission counts as having taken a million times as long from now on.
    pub fn slow_down(&self) {
        self.injected.slow.store(true, Ordering::Relaxed);
    }

    /// Runs a kernel that does not end, on software adapters only: a card would have to be reset.
    ///
    /// # Errors
    /// That the device hangs.
    ///
    /// # Panics
    /// On other adapters.
    pub fn run_endlessly(&self) -> Result<(), GpuError> {
        assert!(self.report().tier == Tier::Software, "{} would have to be reset", self.report().name);
        self.run_kernel(&ENDLESS, &Endless { end: 1 }, 1, &mut [vec![0; 4]])
    }

    /// The submissions that have ended since the device was opened.
    pub fn submissions(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}
