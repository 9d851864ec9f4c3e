//! Progress of a long computation, and stopping it.

use std::sync::atomic::AtomicU64;

use kalah_core::cancel::{Cancel, Stopped};

/// Adds times up, in seconds. Without any, [`Iterator::sum`] gives -0.0.
///
/// ```
/// # use kalah_base::progress::total_seconds;
/// assert!(total_seconds([]).is_sign_positive());
/// assert_eq!(total_seconds([0.5, 2.0]), 2.5);
/// ```
pub fn total_seconds(seconds: impl IntoIterator<Item = f64>) -> f64 {
    seconds.into_iter().fold(0.0, |total, each| total + each)
}

/// State shared with a running computation, which reports progress here and stops on request.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Positions computed.
    pub positions: AtomicU64,
    /// Ends the computation.
    pub cancel: Cancel,
}

impl Pulse {
    /// Makes a pulse that `cancel` ends.
    pub fn new(cancel: Cancel) -> Pulse {
        Pulse { cancel, ..Pulse::default() }
    }

    /// Returns an error if the computation must stop.
    ///
    /// # Errors
    /// [`Stopped`] when it must.
    pub fn check(&self) -> Result<(), Stopped> {
        self.cancel.check()
    }
}
