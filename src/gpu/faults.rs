//! Faults of a device: how they are noticed, and waiting for work that may never end.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wgpu::{PollError, PollStatus, PollType, SubmissionIndex};

use super::device::Gpu;
use super::error::GpuError;

/// How long to wait, after a command was refused, for a report that the device was lost.
const LOSS_IS_REPORTED_WITHIN: Duration = Duration::from_secs(2);

/// Faults of a device, the first of each kind.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The message of the driver.
    pub lost: Option<String>,
    /// The message of the driver.
    pub refused: Option<String>,
    /// How long nothing ended.
    pub hung: Option<Duration>,
}

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
        let timeout = self.options.patience;
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            let poll = PollType::Wait { submission_index: submission.clone(), timeout: Some(timeout) };
            let polled = self.poll(poll);
            let timed_out = matches!(polled, Err(PollError::Timeout));
            if timed_out && self.ended.load(Ordering::Relaxed) == ended {
                self.faults.lock().unwrap_or_else(PoisonError::into_inner).hung.get_or_insert(timeout);
            }
            self.check()?;
            if !timed_out {
                return polled.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()));
            }
        }
    }

    /// Polls the device: what ended is noticed.
    pub(super) fn poll(&self, poll: PollType) -> Result<PollStatus, PollError> {
        if !self.injected.hangs.load(Ordering::Relaxed) {
            return self.device.poll(poll);
        }
        match poll {
            PollType::Wait { timeout, .. } => {
                std::thread::sleep(timeout.unwrap_or_default());
                Err(PollError::Timeout)
            }
            PollType::Poll => Ok(PollStatus::Poll),
        }
    }

    /// Whether work was submitted that never ended.
    pub(super) fn is_hung(&self) -> bool {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).hung.is_some()
    }
}
