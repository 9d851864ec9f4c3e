//! Progress of a long computation, and stopping it.

use std::sync::atomic::AtomicU64;

use kalah_core::cancel::{Cancel, Stopped};

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
