//! Limits of the system: files that cannot grow, freed memory, faults of devices.

/// Makes writes to files that cannot grow return an error. By default the signal SIGXFSZ ends the program.
pub(crate) fn expect_full_files() {
    #[cfg(unix)]
    // SAFETY: no handler is installed: the signal is ignored.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Suppresses messages of panics that become GPU errors.
#[cfg(feature = "gpu")]
pub(crate) fn hush_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !kalah::gpu::catches_panics() {
            usual(panic);
        }
    }));
}

/// Makes all threads share one pool of the allocator if the memory of this process is limited. By default glibc
/// reserves 64 MiB of address space for each thread.
pub(crate) fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if kalah::system::AvailableMemory::of_process().is_some() {
        // SAFETY: the call only sets a parameter of the allocator.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Makes the allocator return freed pieces of more than 256 KiB to the system at once, for work with a stated memory
/// limit. By default glibc keeps freed pieces of up to 32 MiB, and the holes between them grow.
pub(crate) fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only sets a parameter of the allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}
