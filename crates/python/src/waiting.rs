//! Long work without the interpreter's lock: progress, Ctrl-C, threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use kalah::cancel::Cancel;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::argument::Integer;
use crate::errors::python::OutOfMemoryError;

/// Interval between handling signals and reporting progress during work.
const TICK: Duration = Duration::from_millis(50);

/// Does `work` on another thread, without the interpreter's lock. This thread calls `tick` about twenty times a
/// second, then lets Python handle signals. If either raises an exception, as Ctrl-C does, `cancel` ends the
/// work soon, and the exception is the result.
///
/// Python handles signals in its main thread only.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    cancel: &Cancel,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish { done: &done, waiting: thread::current() };
        let work = move || {
            let _finish = finish;
            work()
        };
        let worker = thread::Builder::new().name("kalah".to_owned()).spawn_scoped(scope, work);
        let worker = worker
            .map_err(|error| OutOfMemoryError::new_err(format!("a thread for the work cannot be started: {error}")))?;
        let mut raised = None;
        while !done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(TICK));
            // After an exception nothing more is reported; the call only waits for the work.
            if raised.is_none()
                && let Err(exception) = tick(py).and_then(|()| py.check_signals())
            {
                cancel.cancel();
                raised = Some(exception);
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map_or(Ok(result), Err)
    })
}

/// Ends the wait when dropped, even if the work panics.
struct Finish<'a> {
    done: &'a AtomicBool,
    waiting: Thread,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.waiting.unpark();
    }
}

/// The thread pool of this process for work on all cores, and the id of the process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Maximum threads per core. More do not help, and the system may refuse to start them.
const THREADS_A_CORE: usize = 8;

/// A number of threads as an argument, at least 1.
#[derive(Clone, Copy)]
pub(crate) struct ThreadsArgument(usize);

impl<'py> FromPyObject<'_, 'py> for ThreadsArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<ThreadsArgument> {
        Ok(ThreadsArgument(object.extract::<Integer>()?.within("threads", 1..=u32::MAX)? as usize))
    }
}

impl ThreadsArgument {
    /// The number of threads to start. Counting the cores takes longer than looking a few positions up.
    fn number(self) -> usize {
        self.0.min(cores() * THREADS_A_CORE)
    }
}

/// The number of threads for work: the number requested, capped at the number that helps; by default the number of
/// cores.
pub(crate) fn number(threads: Option<ThreadsArgument>) -> usize {
    threads.map_or_else(cores, ThreadsArgument::number)
}

/// Threads for work: the number requested, by default the number of cores.
///
/// The default pool is kept. After a fork the child gets a new one, since threads do not survive a fork. So
/// worker processes of `multiprocessing` may use everything.
pub(crate) fn pool(threads: Option<ThreadsArgument>) -> PyResult<Arc<ThreadPool>> {
    let make = |threads: usize| {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("kalah-{number}")).build();
        pool.map(Arc::new)
            .map_err(|error| OutOfMemoryError::new_err(format!("{threads} threads cannot be started: {error}")))
    };
    match threads {
        Some(threads) => make(threads.number()),
        None => {
            let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            let process = std::process::id();
            if let Some((owner, pool)) = &*kept {
                if *owner == process {
                    return Ok(Arc::clone(pool));
                }
                // The threads belong to the parent: dropping their pool here would wait for them forever.
                std::mem::forget(kept.take());
            }
            let pool = make(cores())?;
            *kept = Some((process, Arc::clone(&pool)));
            Ok(pool)
        }
    }
}

/// The cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
