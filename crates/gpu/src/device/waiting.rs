//! Notices the faults of a device, and waits for work that may never end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kalah_base::system::processor_time;
use wgpu::{PollError, PollStatus, PollType, SubmissionIndex};

use super::adapter::Tier;
use super::error::GpuError;
use super::error::caught;
use super::gpu::Faults;
use super::gpu::Gpu;

/// Maximum wait, after a command was rejected, for a report that the device was lost.
const LOSS_IS_REPORTED_WITHIN: Duration = Duration::from_secs(2);

/// A device hangs when this many consecutive waits saw no end. One of them may be short, after the
/// program itself was stopped for a while.
const WAITS: f64 = 4.0;

/// Minimum share of a processor that a working software device uses. One whose threads wait for
/// each other uses nothing.
const AT_WORK: f64 = 0.01;

/// True once a device of this process hangs.
static HAS_HUNG: AtomicBool = AtomicBool::new(false);

/// Returns true if a device of this process was given up because it hangs.
///
/// Threads of its driver may still be running. The driver's exit handlers may then crash, so the
/// program should end by `_exit`.
pub fn has_hung() -> bool {
    HAS_HUNG.load(Ordering::Relaxed)
}

/// Returns the idle part of a wait: the part of `waited` in which the device could have worked.
///
/// A software device works on the processors. On a busy machine, or under a quota, this process may
/// get little of them. It also compiles shaders only when it first runs them. So its time is the
/// processor time that the process used, `worked`.
fn idle_part(waited: Duration, worked: Option<Duration>) -> f64 {
    let share = worked.map_or(1.0, |worked| worked.as_secs_f64() / waited.as_secs_f64());
    if share < AT_WORK { 1.0 } else { share.min(1.0) }
}

impl Gpu {
    /// Checks that no fault was noticed so far.
    ///
    /// # Errors
    /// The loss of the device, otherwise that it hangs, otherwise the first command that it
    /// rejected.
    pub(super) fn check(&self) -> Result<(), GpuError> {
        if self.faults.lock().refused.is_some() {
            // A lost device rejects everything, and reports its loss only when it is polled and
            // idle. It reports on the thread that polled first, which may be another one that has
            // not recorded it yet.
            let asked = Instant::now();
            while self.faults.lock().lost.is_none()
                && self.faults.lock().hung.is_none()
                && asked.elapsed() < LOSS_IS_REPORTED_WITHIN
            {
                let _ = self.poll(PollType::Wait { submission_index: None, timeout: Some(LOSS_IS_REPORTED_WITHIN) });
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        match &*self.faults.lock() {
            Faults { lost: Some(message), .. } => Err(GpuError::Lost(message.clone())),
            Faults { hung: Some(waited), .. } => Err(GpuError::Hung(*waited)),
            Faults { refused: Some(message), .. } => Err(GpuError::Refused(message.clone())),
            Faults { lost: None, hung: None, refused: None } => Ok(()),
        }
    }

    /// Waits for a submission, or for all.
    ///
    /// # Errors
    /// A fault of the device. No end of a submission within [`crate::device::GpuOptions::patience`]
    /// is a fault, too.
    pub(super) fn wait(&self, submission: Option<SubmissionIndex>) -> Result<(), GpuError> {
        let patience = self.options.patience;
        let processor_time = || processor_time().filter(|_| self.report().tier == Tier::Software);
        let mut idle = 0.0;
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            let (start, before) = (Instant::now(), processor_time());
            let poll = PollType::Wait { submission_index: submission.clone(), timeout: Some(patience.div_f64(WAITS)) };
            let polled = self.poll(poll);
            let timed_out = matches!(polled, Err(PollError::Timeout));
            let worked = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
            let is_idle = timed_out && self.ended.load(Ordering::Relaxed) == ended;
            idle = if is_idle { idle + idle_part(start.elapsed(), worked) } else { 0.0 };
            if idle >= WAITS {
                HAS_HUNG.store(true, Ordering::Relaxed);
                self.faults.lock().hung.get_or_insert(patience);
            }
            self.check()?;
            if !timed_out {
                return polled.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()));
            }
        }
    }

    /// Polls the device, which notices ended submissions and turns a loss into a fault.
    pub(super) fn poll(&self, poll: PollType) -> Result<PollStatus, PollError> {
        // wgpu panics when the driver reports a loss while it waits.
        caught(|| self.device.poll(poll)).unwrap_or_else(|message| {
            self.faults.lock().lost.get_or_insert(message);
            Ok(PollStatus::Poll)
        })
    }
}
