//! Limits of the system: what happens when a file may not grow, or there is no memory.

#[cfg(unix)]
pub use self::unix::respect_limits;

#[cfg(not(unix))]
/// Nothing to do here.
pub fn respect_limits() {}

#[cfg(unix)]
mod unix {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicBool, Ordering};

    #[global_allocator]
    static ALLOCATOR: Noting = Noting { ran_out: AtomicBool::new(false) };

    /// The system's allocator; it notes when there is no memory.
    ///
    /// Large requests are made such that their failure is an ordinary error. Where a small one fails, Rust prints a message and aborts:
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

    // SAFETY: all is done by the system's allocator.
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

    /// What the panics begin with of a thread that the system does not give, or gives no memory for its stack: the standard
    /// library has threads where nobody can be handed an error.
    const NO_THREAD: [&str; 4] = [
        "failed to spawn thread",
        "failed to allocate an alternative stack",
        "failed to set up alternative stack guard page",
        "The global thread pool has not been initialized",
    ];

    /// Makes the limits of the system ordinary failures: a file that may not grow is an error of the write, and a program
    /// without memory or threads prints a message and exits with code 1.
    pub fn respect_limits() {
        let handler: extern "C" fn(libc::c_int) = on_abort;
        // SAFETY: the handler calls only what a signal handler may.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::signal(libc::SIGABRT, handler as *const () as usize);
        }
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload_as_str().unwrap_or_default();
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
        // Whoever called `abort` or sent the signal gets what it stands for: it is raised again without this handler, and
        // delivered when this one returns.
        // SAFETY: a signal handler may call both.
        unsafe {
            libc::signal(libc::SIGABRT, libc::SIG_DFL);
            libc::raise(libc::SIGABRT);
        }
    }

    /// Ends the program with a message, without taking memory or locks.
    fn end(message: &[&str]) -> ! {
        for text in message {
            // SAFETY: the bytes are those of a string. What cannot be written is lost.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        }
        // SAFETY: it ends the process and runs nothing of it.
        unsafe { libc::_exit(1) }
    }
}
