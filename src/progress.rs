//! The progress of long work, and the word to stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Carries a computation's progress out, and the word to stop in.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Positions computed.
    pub positions: AtomicU64,
    stop: AtomicBool,
}

impl Pulse {
    /// Tells the computation to stop at the next opportunity.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
