//! Texts of errors with figures for people. The library's errors have bytes and keys.

use std::error::Error;

use indicatif::HumanBytes;
use kalah::analyse::graph::GraphError;
use kalah::build::PlanError;
use kalah::system::{MemoryShortage, OutOfMemory};

use crate::cli::errors::gpu;

/// Returns the text of an error with figures for people. An error that only passes on its source gets the text of the
/// source.
pub fn statement(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    match error.source() {
        Some(source) if source.to_string() == text => statement(source),
        _ => with_sizes(error).unwrap_or(text),
    }
}

/// Returns the text of an error with sizes, or `None`.
fn with_sizes(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref() {
        Some(MemoryShortage::Allowed { what, needed, allowed }) => {
            return Some(format!(
                "{what} {} of memory, but only {} are allowed by --memory",
                size(*needed),
                size(*allowed)
            ));
        }
        Some(MemoryShortage::Available { what, needed, available }) => {
            return Some(format!("{what} {} of memory, {}", size(*needed), available.clause(size)));
        }
        _ => {}
    }
    if let Some(OutOfMemory { what, bytes, .. }) = error.downcast_ref() {
        return Some(format!("not enough memory for {what} ({})", size(*bytes)));
    }
    if let Some(PlanError::Disk { needed, free, directory }) = error.downcast_ref() {
        let (needed, free) = (size(*needed), size(*free));
        return Some(format!(
            "this build needs {needed} of disk space, but {} has only {free} free",
            directory.display()
        ));
    }
    if let Some(statement) = gpu::statement(error) {
        return Some(statement);
    }
    match error.downcast_ref()? {
        GraphError::Memory { start, need, limit } => Some(format!(
            "the graph of {start} needs about {} of memory, at most {}, but only {} are allowed",
            size(need.expected),
            size(need.most),
            size(*limit)
        )),
        GraphError::Exhausted { start, limit, seeds, positions, .. } => Some(format!(
            "the graph of {start} does not fit into {}; counted: {positions} positions with more than {seeds} seeds \
             in play",
            size(*limit)
        )),
        _ => None,
    }
}

fn size(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}
