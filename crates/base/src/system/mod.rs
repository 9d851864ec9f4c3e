//! Available memory and free disk space.

// | file | contents |
// |---|---|
// | `control_group` | memory limits of control groups |

mod control_group;

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

pub use control_group::ControlGroup;
use kalah_core::text::size;

use crate::diagnostic::{Diagnosis, Diagnostic, ErrorKind, Outcome};

/// There is not enough memory.
#[derive(Debug, thiserror::Error)]
#[error("not enough memory for {what} ({})", size(*bytes))]
pub struct OutOfMemory {
    /// Purpose of the memory.
    pub what: &'static str,
    /// Bytes requested.
    pub bytes: u64,
    /// The system's error.
    pub source: io::Error,
}

/// Work needs more memory than it may take.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryShortage {
    /// The work needs more than is allowed.
    #[error("{what} {} of memory, but only {} are allowed", size(*needed), size(*allowed))]
    Allowed {
        /// The work and a verb: "this build needs".
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// The work needs more than is available.
    #[error("{what} {} of memory, but {available}", size(*needed))]
    Available {
        /// The work and a verb: "this build needs".
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// The available memory.
        available: AvailableMemory,
    },
}

impl Diagnostic for OutOfMemory {
    fn diagnosis(&self) -> Diagnosis {
        Diagnosis::from(Outcome::Failed).of(ErrorKind::Memory)
    }
}

impl Diagnostic for MemoryShortage {
    fn diagnosis(&self) -> Diagnosis {
        let more = match self {
            MemoryShortage::Available { available, .. } => available.help(),
            MemoryShortage::Allowed { .. } => "allow more with --memory",
        };
        Outcome::Failed.help(format!("{more}, or use fewer threads")).of(ErrorKind::Memory)
    }
}

/// Checks that `needed` bytes of memory are `allowed`, if there is a limit, and available.
///
/// # Errors
/// When they are not. `what` names the work and ends with a verb: "this build needs".
pub fn check_memory(needed: u64, allowed: Option<u64>, what: impl FnOnce() -> String) -> Result<(), MemoryShortage> {
    if let Some(allowed) = allowed.filter(|&allowed| needed > allowed) {
        return Err(MemoryShortage::Allowed { what: what(), needed, allowed });
    }
    // If the available memory is unknown, the work begins anyway.
    match AvailableMemory::now().filter(|available| needed > available.bytes) {
        Some(available) => Err(MemoryShortage::Available { what: what(), needed, available }),
        None => Ok(()),
    }
}

/// Checks that the limits of this process, if there are any, have room for `memory` bytes, which include stacks of
/// threads, and for `mapped` bytes of files beside them.
///
/// # Errors
/// When they have not. `what` names the work and ends with a verb: "8 threads need".
pub fn check_process_limits(memory: u64, mapped: u64, what: impl FnOnce() -> String) -> Result<(), MemoryShortage> {
    let need = |rest: &AvailableMemory| match rest.limit {
        MemoryLimit::AddressSpace(_) => memory + mapped,
        _ => memory,
    };
    match process_limits().into_iter().flatten().find(|rest| need(rest) > rest.bytes) {
        Some(available) => Err(MemoryShortage::Available { what: what(), needed: need(&available), available }),
        None => Ok(()),
    }
}

/// The origin of the limit of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLimit {
    /// The free memory of the machine.
    Machine,
    /// A control group.
    Group(ControlGroup),
    /// The address space is limited to this many bytes (`ulimit -v`, `h_vmem` of Grid Engine).
    AddressSpace(u64),
    /// The memory of its own is limited to this many bytes (`ulimit -d`, `h_data` of Grid Engine).
    Data(u64),
}

/// Memory that this process can take, and the origin of the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AvailableMemory {
    /// Bytes available.
    pub bytes: u64,
    /// The origin of the limit.
    pub limit: MemoryLimit,
}

impl AvailableMemory {
    /// Returns the available memory; `None` if the system does not report it.
    ///
    /// A container or a job may have less than its machine. The page cache counts towards the limit
    /// of its control group, but shrinks on demand. It is therefore available here, as it is in the
    /// figure of the machine. Memory of processes is not.
    pub fn now() -> Option<AvailableMemory> {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let machine = Some(system.available_memory()).filter(|&bytes| bytes > 0);
        let machine = machine.map(|bytes| AvailableMemory { bytes, limit: MemoryLimit::Machine });
        let group = control_group::tightest(Path::new("/"));
        let group = group.map(|(group, bytes)| AvailableMemory { bytes, limit: MemoryLimit::Group(group) });
        let all = [machine, group, AvailableMemory::of_process()];
        all.into_iter().flatten().min_by_key(|available| available.bytes)
    }

    /// Returns what the limits of this process leave; `None` if it has none.
    pub fn of_process() -> Option<AvailableMemory> {
        process_limits().into_iter().flatten().min_by_key(|rest| rest.bytes)
    }

    /// Advice to get more memory.
    pub fn help(&self) -> &'static str {
        match self.limit {
            MemoryLimit::Group(_) => "raise the memory limit of this group of processes",
            MemoryLimit::AddressSpace(_) => "raise the limit of the address space (see `ulimit -v`)",
            MemoryLimit::Data(_) => "raise the limit of a process's data (see `ulimit -d`)",
            MemoryLimit::Machine => "close other programs",
        }
    }
}

/// Writes a clause that states the available memory and the origin of the limit.
impl fmt::Display for AvailableMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = size(self.bytes);
        match &self.limit {
            MemoryLimit::Machine => write!(f, "{bytes} are available on this machine"),
            MemoryLimit::Group(ControlGroup { path, limit }) => {
                write!(f, "{bytes} are available: the control group {} is limited to {}", path.display(), size(*limit))
            }
            MemoryLimit::AddressSpace(limit) => {
                write!(f, "{bytes} are available: the address space is limited to {}", size(*limit))
            }
            MemoryLimit::Data(limit) => {
                write!(f, "{bytes} are available: the data of a process is limited to {}", size(*limit))
            }
        }
    }
}

/// Parts of the limits that are left to the program itself: stacks of threads that write files, and the allocator. In
/// an address space, it reserves more than it takes.
#[cfg(target_os = "linux")]
const OWN_ADDRESS_SPACE: u64 = 12 << 20;
#[cfg(target_os = "linux")]
const OWN_DATA: u64 = 2 << 20;

/// The rest that each limit of this process leaves; `None` for a limit that is not set.
fn process_limits() -> [Option<AvailableMemory>; 2] {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit};
        let rest = |resource, used: &str, own, limit: fn(u64) -> MemoryLimit| {
            let most = getrlimit(resource).current?;
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let used = status.lines().find_map(|line| line.strip_prefix(used)?.trim().strip_suffix(" kB"));
            let used = used.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10;
            Some(AvailableMemory { bytes: most.saturating_sub(used + own), limit: limit(most) })
        };
        [
            rest(Resource::As, "VmSize:", OWN_ADDRESS_SPACE, MemoryLimit::AddressSpace),
            rest(Resource::Data, "VmData:", OWN_DATA, MemoryLimit::Data),
        ]
    }
    // Other systems do not keep to the limits, or do not report what is left.
    #[cfg(not(target_os = "linux"))]
    [None, None]
}

/// Bytes of available memory, as in [`AvailableMemory::now`]; `None` if the system does not report it.
pub fn available_memory() -> Option<u64> {
    AvailableMemory::now().map(|available| available.bytes)
}

/// Free bytes on the disk of `directory`, which need not exist. `None` if the system does not report it.
pub fn available_disk(directory: &Path) -> Option<u64> {
    #[cfg(any(unix, windows))]
    {
        let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
        fs4::available_space(existing).ok()
    }
    #[cfg(not(any(unix, windows)))]
    {
        let _ = directory;
        None
    }
}

/// Processor time that all threads of this process have used; `None` if the system does not report it.
pub fn processor_time() -> Option<Duration> {
    #[cfg(unix)]
    return Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)).ok();
    #[cfg(not(unix))]
    None
}
