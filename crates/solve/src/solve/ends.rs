use std::sync::atomic::{AtomicU64, Ordering};

use kalah_core::cancel::Cancel;

/// Conditions that end a search before it has a result.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'s> {
    pub cancel: &'s Cancel,
    /// Nodes of all threads so far, and their maximum.
    pub nodes: Option<(&'s AtomicU64, u64)>,
}

impl<'s> Ends<'s> {
    /// Ends on `cancel` alone.
    pub(crate) fn of(cancel: &'s Cancel) -> Ends<'s> {
        Ends { cancel, nodes: None }
    }

    /// Returns true if the search must end.
    pub(crate) fn is_reached(&self) -> bool {
        self.cancel.is_cancelled() || self.nodes.is_some_and(|(nodes, most)| nodes.load(Ordering::Relaxed) >= most)
    }
}
