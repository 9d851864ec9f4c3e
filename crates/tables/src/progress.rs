//! Progress of a long computation, and stopping it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared with a running computation: it reports progress here and stops on request.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Positions computed, and those that were unpacked from archives for that.
    pub positions: AtomicU64,
    stop: AtomicBool,
}

impl Pulse {
    /// Asks the computation to stop at the next opportunity.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the computation was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
