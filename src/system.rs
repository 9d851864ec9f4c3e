//! What the machine has to offer now: memory and disk.

use std::path::Path;

/// Bytes of memory that are available; `None` where the system does not tell.
///
/// A container may have less than its machine. How much of that is in use says little, since the page cache counts, so
/// this is the smaller of what the machine has available and what the container may have in all.
pub fn available_memory() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    Some(system.available_memory().min(limit)).filter(|&bytes| bytes > 0)
}

/// Bytes that are free on the disk that holds `directory`, or would hold it: it need not exist. `None` where the system
/// does not tell.
pub fn available_disk(directory: &Path) -> Option<u64> {
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    fs4::available_space(existing).ok()
}
