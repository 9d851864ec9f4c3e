//! Threads of builders, in a module that has any.

/// Makes the calling thread do all parallel work outside [`in_pool`], so that no thread waits for such work.
pub(super) fn stay_here() {
    // Later calls fail: the thread does the work already.
    #[cfg(target_os = "wasi")]
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
}

/// Does parallel work on this number of threads, which end after it, so that searches can have them. If the host has
/// too few, the calling thread does it alone.
#[cfg_attr(not(target_os = "wasi"), allow(unused_variables, reason = "it has one thread"))]
pub(super) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    #[cfg(target_os = "wasi")]
    if threads > 1
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build()
    {
        return pool.install(work);
    }
    work()
}
