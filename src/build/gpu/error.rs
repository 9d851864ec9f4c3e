use crate::table::TableError;

/// Why a computation on a GPU ended early.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// There is no adapter to compute on.
    #[error("{0}")]
    NoAdapter(String),
    /// The adapter cannot do what is needed.
    #[error("{adapter} cannot be used: {reason}")]
    Unfit {
        /// The adapter's name.
        adapter: String,
        /// What it lacks.
        reason: String,
    },
    /// There is not enough memory on the device, or not enough is allowed.
    #[error("no room on the GPU for {what} ({}; {} are in use{}); {advice}",
        indicatif::HumanBytes(*bytes), indicatif::HumanBytes(*used), allowed(*budget))]
    OutOfMemory {
        /// What was to be stored.
        what: &'static str,
        /// Its bytes.
        bytes: u64,
        /// Bytes that are in use.
        used: u64,
        /// Bytes that may be used, if that was limited.
        budget: Option<u64>,
        /// What to do.
        advice: &'static str,
    },
    /// The device is gone: reset, removed, or its driver failed.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// The device refused a command, which is a mistake in this program or its driver.
    #[error("the GPU refused a command: {0}")]
    Refused(String),
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
}

fn allowed(budget: Option<u64>) -> String {
    budget.map_or(String::new(), |budget| format!(", {} are allowed", indicatif::HumanBytes(budget)))
}
