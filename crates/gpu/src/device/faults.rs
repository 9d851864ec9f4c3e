use std::time::Duration;

/// Faults of a device, the first of each kind.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The message of the driver.
    pub lost: Option<String>,
    /// The message of the driver.
    pub refused: Option<String>,
    /// Time without progress.
    pub hung: Option<Duration>,
}
