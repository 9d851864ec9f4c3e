use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kalah_base::diagnostic::{Diagnosis, Diagnostic, ErrorKind, Outcome};
use kalah_core::text::size;

/// Reasons why a computation on a GPU ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter to compute on, or none with the requested name.
    #[error("{}", no_adapter(wanted.as_deref(), found))]
    NoAdapter {
        /// The requested number or part of a name; `None` for any GPU.
        wanted: Option<String>,
        /// The numbers, names and kinds of the existing adapters.
        found: Vec<String>,
    },
    /// The adapter is unsuitable, or its limits are too small for the computation.
    #[error("{adapter} cannot be used: {reason}")]
    Unfit {
        /// The adapter's name.
        adapter: String,
        /// The missing capability, the limit, or the message of its driver.
        reason: String,
    },
    /// There is not enough memory on the device, or not enough is allowed.
    #[error(
        "not enough GPU memory for {what} ({}; {} are in use{})",
        size(*bytes), size(*used), allowed.map_or(String::new(), |bytes| format!(", {} are allowed", size(bytes)))
    )]
    OutOfMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes requested.
        bytes: u64,
        /// Bytes already in use.
        used: u64,
        /// Bytes allowed on the device, if they are limited.
        allowed: Option<u64>,
        /// The memory that is short.
        shortage: Shortage,
    },
    /// The device is gone: reset, removed, or its driver failed.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// The device has not finished any work for this time, and its driver reports no fault.
    #[error("the GPU has not finished anything for {} seconds: it, or its driver, hangs", .0.as_secs_f64())]
    Hung(std::time::Duration),
    /// The device computes wrong scores.
    #[error("{adapter} computes wrong scores: its self-test failed at {first}")]
    WrongScores {
        /// The adapter's name.
        adapter: String,
        /// The first wrong frame, and its layer.
        first: String,
    },
    /// The device rejected a command: a bug in this program or in the driver.
    #[error("the GPU refused a command: {0}")]
    Refused(String),
}

impl GpuError {
    /// The error for a limit of an adapter that allows fewer of `what`, a plural, than are needed.
    pub(crate) fn limit(adapter: &str, what: &str, needed: u64, allowed: u64) -> GpuError {
        let reason = format!("its limits allow {allowed} {what}, but {needed} are needed");
        GpuError::Unfit { adapter: adapter.to_owned(), reason }
    }
}

/// Parts that a machine with a GPU may lack.
pub const VULKAN_PARTS: &str = "on Linux, a GPU needs the loader libvulkan.so.1 (package libvulkan1) and the Vulkan \
                                part of its driver (such as nvidia-vulkan-icd)";

impl Diagnostic for GpuError {
    fn diagnosis(&self) -> Diagnosis {
        Outcome::Failed.help(match self {
            GpuError::NoAdapter { wanted: None, .. } => {
                return Outcome::Failed
                    .help(format!("{VULKAN_PARTS}; use the CPU, or choose a software adapter with --adapter"));
            }
            GpuError::OutOfMemory { shortage, .. } => {
                let help = match shortage {
                    Shortage::Allowed => "allow more with --gpu-memory, build fewer seeds, or use the CPU",
                    Shortage::BufferSize => "the adapter has no buffers of this size: use the CPU",
                    Shortage::Device => "close other programs that use the GPU, or use the CPU",
                    Shortage::Machine => "close other programs, or use the CPU",
                };
                return Outcome::Failed.help(help).of(ErrorKind::Memory);
            }
            GpuError::Hung(_) => "restart the GPU's driver or the machine, or use the CPU",
            GpuError::WrongScores { .. } => "update the GPU's driver, or use the CPU",
            _ => return Outcome::Failed.into(),
        })
    }
}

/// Reasons why there is not enough memory on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shortage {
    /// No more is allowed.
    Allowed,
    /// The adapter does not support buffers of this size.
    BufferSize,
    /// The device has no more memory.
    Device,
    /// The machine has no more memory for transfers to and from the device.
    Machine,
}

fn no_adapter(wanted: Option<&str>, found: &[String]) -> String {
    let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    match wanted {
        Some(name) if name.parse::<u64>().is_ok() => format!("no adapter has the number {name}; available: {found}"),
        Some(name) => format!("no adapter is named {name}; available: {found}"),
        None => format!("no GPU was found; available adapters: {found}"),
    }
}

thread_local! {
    static CATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if a panic of this thread becomes a [`super::GpuError`], so that a panic hook
/// should print nothing.
pub fn catches_panics() -> bool {
    CATCHES.get()
}

/// Runs a call that panics when the driver reports a fault. The error is the last line of the
/// panic's message.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let before = CATCHES.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    CATCHES.set(before);
    result.map_err(|panic| {
        let owned = || panic.downcast_ref::<String>().map(String::as_str);
        let text = panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default();
        text.trim_end().lines().next_back().unwrap_or("for an unknown reason").trim().to_owned()
    })
}
