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
    /// Large requests are made such that their failure is an ordinary error. Where a small one fails, Rust says so and aborts:
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

    /// Makes the limits of the system ordinary failures: a file that may not grow is an error of the write, and a program
    /// without memory says so and exits with code 1.
    pub fn respect_limits() {
        let handler: extern "C" fn(libc::c_int) = on_abort;
        // SAFETY: the handler calls only what a signal handler may.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::signal(libc::SIGABRT, handler as *const () as usize);
        }
    }

    extern "C" fn on_abort(_: libc::c_int) {
        if ALLOCATOR.ran_out.load(Ordering::Relaxed) {
            let text = "kalah: there is not enough memory; end other programs, ask for less (see --memory and --threads), \
                        or raise the limit (see `ulimit -v`)\n";
            // SAFETY: the bytes are those of a string; `_exit` ends the process and runs nothing of it.
            unsafe {
                libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
                libc::_exit(1);
            }
        }
        // Whoever called `abort` gets what he asked for: it raises the signal again without this handler.
    }
}
