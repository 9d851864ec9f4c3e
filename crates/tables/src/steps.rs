//! Recording what the parallel steps of a build take, to find what keeps processors waiting.
//!
//! A build runs in steps: the tasks of a step can run at the same time, and the next step begins when all are done. While
//! [`record`] runs, the processor time of every task is noted. Times of the processor, and not of the clock, can be measured on
//! a busy machine; `benches/step_graph.rs` simulates with them how many processors would be busy on an idle one.
//! Nothing is measured otherwise.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kalah_core::index::Frame;
use parking_lot::Mutex;

/// What was recorded of one step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepRecord {
    /// What the step does.
    pub name: &'static str,
    /// The frame that is computed, packed or written; of a pair, the one that was begun with.
    pub frame: Option<Frame>,
    /// Seconds of processor time of each task, in the order in which they ended.
    pub tasks: Vec<f32>,
}

/// The name under which the work between steps is recorded, which one thread does alone.
pub const BETWEEN: &str = "between steps";

/// Work between two steps that takes less is not recorded.
const SHORTEST: Duration = Duration::from_micros(1);

static RECORDING: AtomicBool = AtomicBool::new(false);
static RECORDS: Mutex<Vec<StepRecord>> = Mutex::new(Vec::new());

thread_local! {
    /// The frame that this thread works on, and the time of this thread when its last step ended.
    static CURRENT: Cell<(Option<Frame>, Option<Duration>)> = const { Cell::new((None, None)) };
}

/// A step that is running.
#[derive(Debug)]
pub struct Step(Option<Running>);

#[derive(Debug)]
struct Running {
    name: &'static str,
    tasks: Mutex<Vec<f32>>,
}

/// Runs `work` and returns what all steps in this process took meanwhile, in the order in which they ended.
pub fn record<T>(work: impl FnOnce() -> T) -> (T, Vec<StepRecord>) {
    lock(&RECORDS).clear();
    RECORDING.store(true, Ordering::Relaxed);
    let result = work();
    RECORDING.store(false, Ordering::Relaxed);
    (result, std::mem::take(&mut lock(&RECORDS)))
}

/// The next steps that this thread begins belong to `frame`.
pub fn of_frame(frame: Frame) {
    set_frame(Some(frame));
}

/// The frame to which the next steps of this thread belong.
pub fn frame() -> Option<Frame> {
    CURRENT.get().0
}

/// The same as [`of_frame`], with what [`frame`] returned.
pub fn set_frame(frame: Option<Frame>) {
    if RECORDING.load(Ordering::Relaxed) {
        CURRENT.set((frame, Some(thread_time())));
    }
}

/// Begins a step, which ends when the value is dropped.
pub fn begin(name: &'static str) -> Step {
    if !RECORDING.load(Ordering::Relaxed) {
        return Step(None);
    }
    let (frame, last) = CURRENT.get();
    let between = last.map_or(Duration::ZERO, |last| thread_time().saturating_sub(last));
    if between >= SHORTEST {
        lock(&RECORDS).push(StepRecord { name: BETWEEN, frame, tasks: vec![between.as_secs_f32()] });
    }
    Step(Some(Running { name, tasks: Mutex::default() }))
}

/// Runs a step that has only one task.
pub fn single<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    begin(name).task(work)
}

impl Step {
    /// Runs a task of the step, on whatever thread; it begins no steps itself.
    #[inline]
    pub fn task<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(running) = &self.0 else { return work() };
        let start = thread_time();
        let result = work();
        lock(&running.tasks).push(thread_time().saturating_sub(start).as_secs_f32());
        result
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(Running { name, tasks }) = self.0.take() {
            let (frame, _) = CURRENT.get();
            let tasks = tasks.into_inner();
            lock(&RECORDS).push(StepRecord { name, frame, tasks });
            CURRENT.set((frame, Some(thread_time())));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> parking_lot::MutexGuard<'_, T> {
    mutex.lock()
}

/// Processor time of this thread.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time of the clock, where the system does not report that of the processor.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_recorded_with_their_frame_and_tasks() {
        let frame = Frame { pits: 6, mover: 3, other: 5 };
        let ((), records) = record(|| {
            of_frame(frame);
            let step = begin("a step of this test");
            for _ in 0..3 {
                step.task(|| std::hint::black_box((0..1000).sum::<u64>()));
            }
        });
        let own: Vec<_> = records.iter().filter(|record| record.name == "a step of this test").collect();
        assert_eq!((own.len(), own[0].frame, own[0].tasks.len()), (1, Some(frame), 3));
        single("after the recording", || ());
        assert!(lock(&RECORDS).iter().all(|record| record.name != "after the recording"));
    }
}
