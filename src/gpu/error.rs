/// Why a computation on a GPU ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// This build cannot compute on GPUs: it was made without the feature `gpu`.
    #[error("this build has no GPU support")]
    Unsupported,
    /// There is no adapter to compute on, or none with the name that was asked for.
    #[error("{}", no_adapter(wanted.as_deref(), found))]
    NoAdapter {
        /// A part of the name that was asked for; without one, any GPU.
        wanted: Option<String>,
        /// The adapters that there are: their names and kinds.
        found: Vec<String>,
    },
    /// The adapter cannot do what is needed.
    #[error("{adapter} cannot be used: {reason}")]
    Unfit {
        /// The adapter's name.
        adapter: String,
        /// What it lacks, or what its driver said.
        reason: String,
    },
    /// A limit of the adapter is too small for what is to be computed.
    #[error("{adapter} cannot be used: its limits allow {allowed} {what}, {needed} are needed")]
    Limit {
        /// The adapter's name.
        adapter: String,
        /// What is limited, as a plural.
        what: &'static str,
        /// How many are needed.
        needed: u64,
        /// How many the adapter allows.
        allowed: u64,
    },
    /// There is not enough memory on the device, or not enough is allowed.
    #[error("no room on the GPU for {what} ({bytes} bytes; {used} are in use{})", shortage.allowed())]
    OutOfMemory {
        /// What was to be stored.
        what: &'static str,
        /// Its bytes.
        bytes: u64,
        /// Bytes that are in use.
        used: u64,
        /// What was not enough.
        shortage: Shortage,
    },
    /// The device is gone: reset, removed, or its driver failed.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// The device refused a command, which is a mistake in this program or its driver.
    #[error("the GPU refused a command: {0}")]
    Refused(String),
}

/// What there was not enough of, of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shortage {
    /// This many bytes were allowed.
    Allowed(u64),
    /// The adapter has no buffers of this size; so many bytes were allowed, if that was limited.
    BufferSize(Option<u64>),
    /// The device has no more; so many bytes were allowed, if that was limited.
    Device(Option<u64>),
    /// The machine has no more memory for what goes to the device and comes from it.
    Machine,
}

impl Shortage {
    /// Bytes that were allowed, if that was limited.
    pub fn budget(self) -> Option<u64> {
        match self {
            Shortage::Allowed(bytes) => Some(bytes),
            Shortage::BufferSize(budget) | Shortage::Device(budget) => budget,
            Shortage::Machine => None,
        }
    }

    fn allowed(self) -> String {
        self.budget().map_or(String::new(), |budget| format!(", {budget} are allowed"))
    }
}

fn no_adapter(wanted: Option<&str>, found: &[String]) -> String {
    let found = if found.is_empty() { "no adapter at all".to_owned() } else { found.join(", ") };
    match wanted {
        Some(name) => format!("no adapter is named {name}: there is {found}"),
        None => format!("no GPU was found (there is {found})"),
    }
}
