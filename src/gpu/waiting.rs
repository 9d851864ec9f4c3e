//! Noticing the faults of a device, and waiting for work that may never end.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wgpu::{PollError, PollStatus, PollType, SubmissionIndex};

use super::caught::caught;
use super::device::Gpu;
use super::error::GpuError;
use super::faults::Faults;

/// How long to wait, after a command was refused, for a report that the device was lost.
const LOSS_IS_REPORTED_WITHIN: Duration = Duration::from_secs(2);

/// A device hangs when this many waits in a row saw nothing end; one of them may be short, after the program itself was
/// stopped for a while.
const WAITS: u32 = 4;

impl Gpu {
    /// Checks that no fault was noticed so far.
    ///
    /// # Errors
    /// The loss of the device, otherwise that it hangs, otherwise the first command that it refused.
    pub(super) fn check(&self) -> Result<(), GpuError> {
        let faults = || self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults().refused.is_some() {
            // A lost device refuses everything, and reports its loss only when it is polled and idle; it does so on the
            // thread that polled first, which may be another one that has not recorded it yet.
            let asked = Instant::now();
            while faults().lost.is_none() && faults().hung.is_none() && asked.elapsed() < LOSS_IS_REPORTED_WITHIN {
                let _ = self.poll(PollType::Wait { submission_index: None, timeout: Some(LOSS_IS_REPORTED_WITHIN) });
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        match &*faults() {
            Faults { lost: Some(message), .. } => Err(GpuError::Lost(message.clone())),
            Faults { hung: Some(waited), .. } => Err(GpuError::Hung(*waited)),
            Faults { refused: Some(message), .. } => Err(GpuError::Refused(message.clone())),
            Faults { lost: None, hung: None, refused: None } => Ok(()),
        }
    }

    /// Waits for a submission, or for all.
    ///
    /// # Errors
    /// A fault of the device: also that for the time of [`crate::gpu::GpuOptions::patience`] no submission ended.
    pub(super) fn wait(&self, submission: Option<SubmissionIndex>) -> Result<(), GpuError> {
        let patience = self.options.patience;
        let mut idle = 0;
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            let poll = PollType::Wait { submission_index: submission.clone(), timeout: Some(patience / WAITS) };
            let polled = self.poll(poll);
            let timed_out = matches!(polled, Err(PollError::Timeout));
            idle = if timed_out && self.ended.load(Ordering::Relaxed) == ended { idle + 1 } else { 0 };
            if idle == WAITS {
                self.faults.lock().unwrap_or_else(PoisonError::into_inner).hung.get_or_insert(patience);
            }
            self.check()?;
            if !timed_out {
                return polled.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()));
            }
        }
    }

    /// Polls the device: what ended is noticed, and a loss becomes a fault.
    pub(super) fn poll(&self, poll: PollType) -> Result<PollStatus, PollError> {
        if !self.injected.hangs.load(Ordering::Relaxed) {
            // wgpu panics when the driver reports a loss while it waits.
            return caught(|| self.device.poll(poll)).unwrap_or_else(|message| {
                self.faults.lock().unwrap_or_else(PoisonError::into_inner).lost.get_or_insert(message);
                Ok(PollStatus::Poll)
            });
        }
        match poll {
            PollType::Wait { .. } => Err(PollError::Timeout),
            PollType::Poll => Ok(PollStatus::Poll),
        }
    }
}
