//! Limits of the system: what happens when a file cannot grow, or there is not enough memory.

#[cfg(unix)]
pub use self::unix::respect_limits;

/// Has the allocator give memory of more than 256 KiB back to the system as soon as it is freed: for work that has stated how
/// much memory it takes. Otherwise glibc keeps freed pieces of up to 32 MiB, and holes between them grow.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only sets a parameter of the allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}

#[cfg(not(unix))]
/// Nothing to do here.
pub fn respect_limits() {}

#[cfg(unix)]
mod unix {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicBool, Ordering};

    #[global_allocator]
    static ALLOCATOR: Noting = Noting { ran_out: AtomicBool::new(false) };

    /// The system's allocator; it records when an allocation fails.
    ///
    /// Large allocations report failure as an ordinary error. When a small one fails, Rust prints a message and aborts;
    /// the handler of that signal then knows why.
    struct Noting {
        ran_out: AtomicBool,
    }

    impl Noting {
        fn noted(&self, memory: *mut u8) -> *mut u8 {
            if memory.is_null() {
                self.ran_out.store(true, Ordering::Relaxed);
            }
            memory
        }
    }

    // SAFETY: every call is passed on to the system's allocator.
    unsafe impl GlobalAlloc for Noting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promised.
            self.noted(unsafe { System.alloc(layout) })
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promised.
            self.noted(unsafe { System.alloc_zeroed(layout) })
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as the caller promised.
            self.noted(unsafe { System.realloc(memory, layout, size) })
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: as the caller promised.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    /// The beginnings of the panic messages when the system does not start a thread, or has no memory for its stack: in
    /// places where the standard library cannot return an error.
    const NO_THREAD: [&str; 4] = [
        "failed to spawn thread",
        "failed to allocate an alternative stack",
        "failed to set up alternative stack guard page",
        "The global thread pool has not been initialized",
    ];

    /// Turns the limits of the system into ordinary failures: writing to a file that cannot grow returns an error, and
    /// a program without memory or threads prints a message and exits with code 1.
    pub fn respect_limits() {
        let handler: extern "C" fn(libc::c_int) = on_abort;
        // SAFETY: the handler calls only what a signal handler may.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::signal(libc::SIGABRT, handler as *const () as usize);
        }
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            #[cfg(feature = "gpu")]
            if kalah::gpu::catches_panics() {
                return;
            }
            let payload = panic.payload();
            let owned = || payload.downcast_ref::<String>().map(String::as_str);
            let text = payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default();
            if NO_THREAD.iter().any(|start| text.starts_with(start)) {
                let advice =
                    "; ask for fewer threads with --threads, or raise the limits (see `ulimit -u` and `ulimit -v`)\n";
                end(&["kalah: ", text, advice]);
            }
            usual(panic);
        }));
    }

    extern "C" fn on_abort(_: libc::c_int) {
        if ALLOCATOR.ran_out.load(Ordering::Relaxed) {
            end(&[
                "kalah: there is not enough memory; end other programs, ask for less (see --memory and --threads), \
                        or raise the limit (see `ulimit -v`)\n",
            ]);
        }
        // Another cause: the signal is raised again with the default action, and delivered when this handler returns.
        // SAFETY: a signal handler may call both.
        unsafe {
            libc::signal(libc::SIGABRT, libc::SIG_DFL);
            libc::raise(libc::SIGABRT);
        }
    }

    /// Ends the program with a message, without allocating or locking.
    fn end(message: &[&str]) -> ! {
        for text in message {
            // SAFETY: the bytes are those of a string. If the write fails, the message is lost.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        }
        // SAFETY: it ends the process without running any more of its code.
        unsafe { libc::_exit(1) }
    }
}
