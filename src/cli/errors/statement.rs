//! What an error says, with its figures as people read them: the library's errors have bytes and keys.

use std::error::Error;

use indicatif::HumanBytes;
use kalah::analyse::graph::GraphError;
use kalah::build::PlanError;
use kalah::system::{MemoryShortage, OutOfMemory};

use crate::cli::errors::gpu;

/// The statement of an error, with its figures as people read them. An error that only passes on its source is stated as that.
pub fn statement(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    if let Some(source) = error.source().filter(|source| source.to_string() == text) {
        return statement(source);
    }
    if let Some(error) = error.downcast_ref() {
        return plan_statement(error);
    }
    if let Some(error) = error.downcast_ref() {
        return graph_statement(error);
    }
    match error.downcast_ref() {
        Some(MemoryShortage::Allowed { what, needed, allowed }) => {
            let (needed, allowed) = (HumanBytes(*needed), HumanBytes(*allowed));
            return format!("{what} takes {needed} of memory, {allowed} are allowed by --memory");
        }
        Some(MemoryShortage::Available { what, needed, available }) => {
            return format!("{what} takes {} of memory, {}", HumanBytes(*needed), available.clause(size));
        }
        _ => {}
    }
    if let Some(OutOfMemory { what, bytes, .. }) = error.downcast_ref() {
        return format!("no memory for {what} ({})", HumanBytes(*bytes));
    }
    gpu::statement(error).unwrap_or(text)
}

fn size(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

fn graph_statement(error: &GraphError) -> String {
    match error {
        GraphError::Memory { start, need, limit } => format!(
            "the graph of {start} needs about {} of memory, {} at most, and {} are allowed",
            HumanBytes(need.expected),
            HumanBytes(need.most),
            HumanBytes(*limit)
        ),
        GraphError::Exhausted { start, limit, seeds, positions, .. } => format!(
            "the graph of {start} does not fit into {}: {positions} positions with more than {seeds} seeds in play were counted",
            HumanBytes(*limit)
        ),
        _ => error.to_string(),
    }
}

fn plan_statement(error: &PlanError) -> String {
    match error {
        PlanError::Budget { needed, allowed } => {
            format!(
                "this build needs {} of memory, {} are allowed by --memory",
                HumanBytes(*needed),
                HumanBytes(*allowed)
            )
        }
        PlanError::Memory { needed, available } => {
            format!("this build needs {} of memory, {}", HumanBytes(*needed), available.clause(size))
        }
        PlanError::Disk { needed, free, directory } => {
            let (needed, free) = (HumanBytes(*needed), HumanBytes(*free));
            format!("this build needs {needed} of disk, {} has {free} free", directory.display())
        }
        _ => error.to_string(),
    }
}
