//! Available memory and free disk space.

use std::io;
use std::path::Path;

/// There is not enough memory.
#[derive(Debug, thiserror::Error)]
#[error("no memory for {what} ({bytes} bytes)")]
pub struct OutOfMemory {
    /// What the memory is for.
    pub what: &'static str,
    /// How many bytes were requested.
    pub bytes: u64,
    /// The system's error.
    pub source: io::Error,
}

/// Work needs more memory than it may take.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryShortage {
    /// More than is allowed.
    #[error("{what} takes {needed} bytes of memory, {allowed} are allowed")]
    Allowed {
        /// The work.
        what: String,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// More than is available.
    #[error("{what} takes {needed} bytes of memory, {available} are available")]
    Available {
        /// The work.
        what: String,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
}

/// Checks that work which takes `needed` bytes of memory has them: that they are `allowed`, if there is a limit, and available.
///
/// # Errors
/// When they are not; `what` names the work.
pub fn check_memory(needed: u64, allowed: Option<u64>, what: impl FnOnce() -> String) -> Result<(), MemoryShortage> {
    if let Some(allowed) = allowed.filter(|&allowed| needed > allowed) {
        return Err(MemoryShortage::Allowed { what: what(), needed, allowed });
    }
    // If the available memory is unknown, it is tried.
    match available_memory().filter(|&available| needed > available) {
        Some(available) => Err(MemoryShortage::Available { what: what(), needed, available }),
        None => Ok(()),
    }
}

/// Bytes of available memory; `None` if the system does not report it.
///
/// A container may have less than its machine. How much of its limit is in use says little, since that includes the
/// page cache; so this is the smaller of the machine's available memory and the container's limit.
pub fn available_memory() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    // Without /proc nothing is reported, and sysinfo panics if it is asked for limits then.
    if system.total_memory() == 0 {
        return None;
    }
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    Some(system.available_memory().min(limit)).filter(|&bytes| bytes > 0)
}

/// Free bytes on the disk of `directory`, which need not exist. `None` if the system does not report it.
pub fn available_disk(directory: &Path) -> Option<u64> {
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    fs4::available_space(existing).ok()
}
