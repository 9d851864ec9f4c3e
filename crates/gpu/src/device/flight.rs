use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use wgpu::{CommandBuffer, PollType, SubmissionIndex};

use super::error::GpuError;
use super::gpu::Gpu;
use super::pace::{End, Pace, Work, took};

/// A submission whose end has not been noticed.
#[derive(Debug)]
struct Flight {
    index: SubmissionIndex,
    work: Work,
    submitted: Instant,
    /// Time when it was last seen running.
    running: Instant,
    /// Time when it was first seen to have ended.
    ended: Arc<OnceLock<Instant>>,
}

/// The submissions of a recorder that are in flight.
#[derive(Debug, Default)]
pub(super) struct Flights {
    flights: VecDeque<Flight>,
    /// End of the one before them.
    previous: Option<End>,
    /// The last submission.
    pub last: Option<SubmissionIndex>,
}

impl Flights {
    /// Submits commands that do this work.
    pub(super) fn submit(&mut self, gpu: &Gpu, commands: impl IntoIterator<Item = CommandBuffer>, work: Work) {
        let index = gpu.queue.submit(commands);
        let submitted = Instant::now();
        let ended = Arc::new(OnceLock::new());
        let (noticed, count) = (Arc::clone(&ended), Arc::clone(&gpu.ended));
        gpu.queue.on_submitted_work_done(move || {
            let _ = noticed.set(Instant::now());
            count.fetch_add(1, Ordering::Relaxed);
        });
        self.last = Some(index.clone());
        self.flights.push_back(Flight { index, work, submitted, running: submitted, ended });
    }

    /// Waits until at most `most` submissions are in flight. `pace` learns from those that ended.
    pub(super) fn wait(&mut self, gpu: &Gpu, most: usize, pace: &mut Pace) -> Result<(), GpuError> {
        let now = Instant::now();
        // The check that follows reports the error.
        let _ = gpu.poll(PollType::Poll);
        gpu.check()?;
        for flight in self.flights.iter_mut().filter(|flight| flight.ended.get().is_none()) {
            flight.running = now;
        }
        while let Some(flight) = self.flights.front() {
            let mut running = flight.running;
            if flight.ended.get().is_none() {
                if self.flights.len() <= most {
                    break;
                }
                gpu.wait(Some(flight.index.clone()))?;
                // A wait returns as soon as the submission ends.
                running = Instant::now();
            }
            let flight = self.flights.pop_front().expect("looked at above");
            let before = flight.ended.get().copied().unwrap_or_else(Instant::now);
            let end = End { after: running.min(before), before };
            pace.learn(&flight.work, &took(flight.submitted, self.previous, end));
            self.previous = Some(end);
        }
        Ok(())
    }

    /// Number of submissions in flight.
    pub(super) fn count(&self) -> usize {
        self.flights.len()
    }
}
