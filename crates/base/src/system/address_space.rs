//! The limit of the address space of this process: `ulimit -v`, `h_vmem` of Grid Engine.

/// The limit, and the bytes that are left of it. `None` if there is no limit.
pub(super) fn limit_and_rest() -> Option<(u64, u64)> {
    #[cfg(target_os = "linux")]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"));
        let used = size.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10;
        Some((limit, limit.saturating_sub(used)))
    }
    // Other systems do not keep to the limit, or do not report what is left.
    #[cfg(not(target_os = "linux"))]
    None
}
