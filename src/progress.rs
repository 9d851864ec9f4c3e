//! The progress of long work, and the word to stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a computation tells its progress and is told to stop.
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

    /// Whether it was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
