//! Decides the amount of work to submit at once, from the times of past submissions.
//!
//! Windows resets a device whose submission takes two seconds. Other systems do so later, and a
//! desktop on the same device freezes meanwhile. Times differ by a factor of a thousand between
//! kernels, and as much between devices. So each kernel begins with little work, which grows while
//! submissions are short.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use wgpu::{CommandBuffer, PollType, SubmissionIndex};

use super::error::GpuError;
use super::gpu::Gpu;

/// Seconds that the first submissions of a kind take on the slowest devices.
const FIRST_SECONDS: f64 = 0.1;

/// Maximum factor by which an expectation falls after one submission.
const FASTER: f64 = 0.25;

/// Minimum expected seconds of a unit of work.
const LEAST_RATE: f64 = 1e-13;

/// A kind of work: the name of a kernel, or copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Threads of this kernel.
    Kernel(&'static str),
    /// Bytes that are copied or cleared.
    Copy,
}

impl Kind {
    /// Units that take [`FIRST_SECONDS`] on the slowest devices.
    fn first(self) -> f64 {
        match self {
            Kind::Kernel(_) => (1 << 16) as f64,
            Kind::Copy => (1 << 26) as f64,
        }
    }
}

/// Work, by kind.
pub(super) type Work = HashMap<Kind, u64>;

/// The measured speed of a device.
#[derive(Debug)]
pub(super) struct Pace {
    /// Target seconds of a submission.
    pub seconds: f64,
    /// Expected seconds of a unit.
    rates: HashMap<Kind, f64>,
}

impl Pace {
    /// Starts without measurements. A submission should take this many seconds.
    pub(super) fn new(seconds: f64) -> Pace {
        Pace { seconds, rates: HashMap::new() }
    }

    fn rate(&self, kind: Kind) -> f64 {
        self.rates.get(&kind).copied().unwrap_or(FIRST_SECONDS / kind.first())
    }

    /// Expected seconds of this work.
    pub(super) fn expected(&self, work: &Work) -> f64 {
        work.iter().map(|(&kind, &units)| self.rate(kind) * units as f64).sum()
    }

    /// Maximum units of a kind for one submission: those expected to take its target, but at least
    /// one.
    pub(super) fn units(&self, kind: Kind) -> u64 {
        ((self.seconds / self.rate(kind)) as u64).max(1)
    }

    /// Learns from a submission that took between these seconds.
    ///
    /// If it took longer than a submission should, all of its kinds count as slower, since any of
    /// them may be the cause. If it took less than expected, each kind counts as faster by its
    /// share in the expectation. Kinds that hardly contributed are unchanged.
    fn learn(&mut self, work: &Work, took: &Took) {
        let expected = self.expected(work);
        let slower = took.least > expected && took.least > self.seconds;
        let faster = took.most < expected;
        if !slower && !faster {
            return;
        }
        for (&kind, &units) in work {
            let rate = self.rate(kind);
            let factor = match slower {
                true => took.least / expected,
                false => (took.most / expected).max(FASTER).powf(rate * units as f64 / expected),
            };
            self.rates.insert(kind, (rate * factor).max(LEAST_RATE));
        }
    }
}

/// Minimum and maximum seconds that a submission can have taken.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Took {
    least: f64,
    most: f64,
}

/// The observed end of a submission.
#[derive(Clone, Copy, Debug)]
struct End {
    /// It was still running at this time.
    after: Instant,
    /// It had ended at this time.
    before: Instant,
}

/// Times of a submission that was submitted at `submitted` after one that ended at `previous`.
fn took(submitted: Instant, previous: Option<End>, end: End) -> Took {
    let earliest = previous.map_or(submitted, |previous| previous.after.max(submitted));
    let latest = previous.map_or(submitted, |previous| previous.before.max(submitted));
    Took {
        least: end.after.saturating_duration_since(latest).as_secs_f64(),
        most: end.before.saturating_duration_since(earliest).as_secs_f64(),
    }
}

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
pub(crate) struct Flights {
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: f64 = FIRST_SECONDS;

    const QUICK: Kind = Kind::Kernel("quick");

    #[test]
    fn work_starts_small_and_grows_until_submissions_take_their_time() {
        for rate in [1e-6, 3e-8, 1e-9, 2e-11] {
            let mut pace = Pace::new(SECONDS);
            assert_eq!(pace.units(QUICK), 1 << 16);
            let mut longest = 0.0f64;
            let mut submit = |pace: &mut Pace| {
                let work = Work::from([(QUICK, pace.units(QUICK))]);
                let seconds = 50e-6 + rate * work[&QUICK] as f64;
                longest = longest.max(seconds);
                pace.learn(&work, &Took { least: seconds, most: seconds });
                seconds
            };
            let last = (0..30).map(|_| submit(&mut pace)).last().unwrap();
            assert!(last > 0.8 * SECONDS && last < 1.2 * SECONDS, "{rate}: {last} s");
            assert!(longest < 2.0 * SECONDS, "{rate}: {longest} s");
        }
    }
}
