//! Limits of the system: files that cannot grow, memory that is freed, faults of devices.

/// Has a write to a file that cannot grow return an error. By default the signal SIGXFSZ ends the program.
pub fn expect_full_files() {
    #[cfg(unix)]
    // SAFETY: no handler is installed: the signal is ignored.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Prints nothing about a panic that becomes an error of the GPU.
#[cfg(feature = "gpu")]
pub fn hush_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !kalah::gpu::catches_panics() {
            usual(panic);
        }
    }));
}

/// Has the allocator give memory of more than 256 KiB back to the system as soon as it is freed: for work that has stated how
/// much memory it takes. Otherwise glibc keeps freed pieces of up to 32 MiB, and holes between them grow.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only sets a parameter of the allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}
