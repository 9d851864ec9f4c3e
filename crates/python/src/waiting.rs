//! Long work without the interpreter's lock: progress, Ctrl-C, threads.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kalah::cancel::Cancel;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

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
    thread::scope(|scope| {
        // The end of the work, even by a panic, drops the sender.
        let (working, done) = channel::<()>();
        let work = move || {
            let _working = working;
            work()
        };
        let worker = thread::Builder::new().name("kalah".to_owned()).spawn_scoped(scope, work);
        let worker = worker
            .map_err(|error| OutOfMemoryError::new_err(format!("a thread for the work cannot be started: {error}")))?;
        let (mut done, mut raised) = (done, None);
        let mut goes_on = || {
            let done = &mut done;
            py.detach(move || done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout))
        };
        while goes_on() {
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

/// The thread pool of this process for work on all cores, and the id of the process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The number of threads for work: all cores for `None` and 0.
pub(crate) fn number(threads: Option<u16>) -> usize {
    match threads.unwrap_or(0) {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads.into(),
    }
}

/// Threads for work, as [`number`] counts them.
///
/// The default pool is kept. After a fork the child gets a new one, since threads do not survive a fork. So
/// worker processes of `multiprocessing` may use everything.
pub(crate) fn pool(threads: Option<u16>) -> PyResult<Arc<ThreadPool>> {
    let make = || {
        let builder = ThreadPoolBuilder::new().num_threads(number(threads));
        let pool = builder.thread_name(|number| format!("kalah-{number}")).build();
        pool.map(Arc::new).map_err(|error| OutOfMemoryError::new_err(format!("threads cannot be started: {error}")))
    };
    if threads.is_some() {
        return make();
    }
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*kept {
        if *owner == process {
            return Ok(Arc::clone(pool));
        }
        // The threads belong to the parent: dropping their pool here would wait for them forever.
        std::mem::forget(kept.take());
    }
    let pool = make()?;
    *kept = Some((process, Arc::clone(&pool)));
    Ok(pool)
}
