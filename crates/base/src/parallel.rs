//! Work shared by threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns the start of a thread with a stack of 256 KiB instead of 2 MiB, for work without deep calls. Limits of the
/// system count whole stacks.
pub fn small_thread(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10)
}

/// Does the work of all numbers below `parts`, on one thread for each of `states`. After an error no further work
/// begins.
///
/// # Errors
/// That of a part. Others may have been done.
///
/// # Panics
/// When there are no states, and when the work does.
pub fn share<S: Send, E: Send>(
    states: &mut [S],
    parts: usize,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let do_parts = |state: &mut S| loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= parts {
            return Ok(());
        }
        work(state, number).inspect_err(|_| next.store(parts, Ordering::Relaxed))?;
    };
    let (own, others) = states.split_first_mut().expect("there is at least one state");
    thread::scope(|scope| {
        // Threads that cannot be started leave their share to this one.
        let start = |state| thread::Builder::new().spawn_scoped(scope, || do_parts(state)).ok();
        let others: Vec<_> = others.iter_mut().take(parts.saturating_sub(1)).filter_map(start).collect();
        let own = do_parts(own);
        let ended = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.fold(own, |before, thread| before.and(thread))
    })
}
