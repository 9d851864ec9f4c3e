//! Advice for errors. The library's errors are data; here they get the command that helps. Commands are suggested
//! only if they fit this machine, and can be pasted into a shell.

use std::error::Error;
use std::sync::OnceLock;

use indicatif::HumanBytes;
use kalah::analyse::graph::GraphError;
use kalah::book::BookError;
use kalah::build::{BuildError, PlanError};
use kalah::cause;
use kalah::certificate::CertificateError;
use kalah::evaluation::{NetworkError, NetworkFileError, NetworkFileReason};
use kalah::file::{CompanionError, LockError, OverwriteError};
use kalah::header::HeaderError;
use kalah::solve::SolveError;
use kalah::system::{AvailableMemory, MemoryLimit, MemoryShortage};
use kalah::table::TableKey;
use kalah::verify::Fault;

use crate::cli::errors::gpu;
use crate::cli::errors::state::{of_prove, of_state, of_strategy};
use crate::cli::errors::statement::statement;
use crate::cli::errors::table::{USE_NEWER, of_missing, of_probe, of_table};

/// Name of the running command, whose flags appear in advice.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Sets the running command.
pub fn for_command(name: &str) {
    let _ = COMMAND.set(name.to_owned());
}

/// Returns true if the running command has this name.
fn is_running(name: &str) -> bool {
    COMMAND.get().is_some_and(|running| running == name)
}

/// Returns the text of an error, followed by a semicolon and advice, if there is any.
pub fn with_advice(error: &(dyn Error + 'static)) -> String {
    let statement = statement(error);
    match of(error) {
        Some(advice) => format!("{statement}; {advice}"),
        None => statement,
    }
}

/// Returns advice for an error, or for one of its causes.
pub fn of(error: &(dyn Error + 'static)) -> Option<String> {
    cause::chain(error).find_map(of_cause)
}

/// Returns advice for one error of a chain.
fn of_cause(error: &(dyn Error + 'static)) -> Option<String> {
    /// Returns the advice of `of`, if the error is of its type.
    fn known<E: Error + 'static, A: Into<String>>(
        error: &(dyn Error + 'static),
        of: impl Fn(&E) -> Option<A>,
    ) -> Option<String> {
        of(error.downcast_ref()?).map(Into::into)
    }
    #[cfg(feature = "serve")]
    if let Some(advice) = known(error, of_site) {
        return Some(advice);
    }
    known(error, of_probe)
        .or_else(|| known(error, of_overwrite))
        .or_else(|| known(error, |_: &CompanionError| Some("move it away, or choose another name or directory")))
        .or_else(|| known(error, of_fault))
        .or_else(|| known(error, of_prove))
        .or_else(|| known(error, of_state))
        .or_else(|| known(error, of_strategy))
        .or_else(|| known(error, |error: &CertificateError| error.is_newer().then_some(USE_NEWER)))
        .or_else(|| known(error, of_solve))
        .or_else(|| known(error, of_book))
        .or_else(|| known(error, of_network))
        .or_else(|| known(error, of_plan))
        .or_else(|| known(error, of_shortage))
        .or_else(|| known(error, of_build))
        .or_else(|| of_gpu(error))
        .or_else(|| known(error, of_graph))
        .or_else(|| known(error, of_lock))
        .or_else(|| known(error, of_table))
}

fn of_overwrite(error: &OverwriteError) -> Option<&'static str> {
    Some(match error {
        OverwriteError::StandardOutput => "name a file; `./-` is one of this name",
        OverwriteError::Input => "choose another file",
        _ => "choose another name, or move that file away",
    })
}

fn of_fault(error: &Fault) -> Option<String> {
    let Fault::Gap { directories, key, missing } = error else { return None };
    let last = missing.last().map_or(*key, |&seeds| TableKey { seeds, ..*key });
    Some(of_missing(directories, last))
}

fn of_shortage(error: &MemoryShortage) -> Option<String> {
    match error {
        MemoryShortage::Available { available, .. } => {
            Some(format!("{}, or use fewer threads", more_memory(available)))
        }
        _ => Some("allow more with --memory, or use fewer threads".to_owned()),
    }
}

fn of_build(error: &BuildError) -> Option<String> {
    let advice = match error {
        BuildError::Lock(LockError::Unsupported { .. }) => "build with --share, which needs no locks",
        BuildError::Device(error) => {
            let kept = "finished frames are kept: run the same command again, or add --backend cpu";
            return Some(of_gpu(&**error).map_or(kept.to_owned(), |advice| format!("{advice}; {kept}")));
        }
        BuildError::Stopped(_) => "finished frames are kept; run the same command again to continue",
        BuildError::Contradiction { kept: true, .. } => "run the same command again",
        BuildError::Contradiction { .. } => {
            "`kalah verify --consistency` finds the wrong layer: delete it and those above, and run the same command \
             again"
        }
        BuildError::PairStopped(_) => "its work is lost; the same command starts it over",
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Advice for a book that cannot be used: to delete it only if it is certainly a damaged book.
fn of_book(error: &BookError) -> Option<String> {
    match error {
        BookError::Header(_) if error.is_newer() => Some(format!("{USE_NEWER}, choose another file, or use --no-book")),
        BookError::Damaged(_) => {
            Some("delete it: the program contains books, and `kalah book make 6x4` makes more".to_owned())
        }
        BookError::Header(_) => {
            Some("choose another file, or move it away from the tables: the program contains books".to_owned())
        }
        BookError::Contradiction { .. } => {
            Some("find out which is wrong with `kalah book check` and `kalah verify`, or use --no-book".to_owned())
        }
        BookError::Other { .. } => Some("choose another file, or give the book's rule set and board".to_owned()),
        _ => None,
    }
}

#[cfg(feature = "serve")]
fn of_site(error: &kalah::serve::SiteError) -> Option<&'static str> {
    use kalah::serve::SiteError;
    match error {
        SiteError::NotOurs(_) => Some("choose another folder, or empty this one"),
        SiteError::Disk { .. } => Some("free disk space, or choose a smaller --size"),
        SiteError::Foreign(_) => Some("move it, or choose another folder"),
        SiteError::Inside { .. } => Some("choose other tables with --tables, or another folder"),
        SiteError::NoModule(_) => Some("give the engine, kalah_wasm.wasm, with --module"),
        SiteError::File { path, .. } if path.ends_with("kalah_first.wasm") => {
            Some("put it beside the engine; packaging/wasm makes both")
        }
        _ => None,
    }
}

fn of_solve(error: &SolveError) -> Option<&'static str> {
    match error {
        SolveError::OutOfMemory(_) => Some("choose a smaller --memory or --transpositions"),
        SolveError::Contradiction(_) => Some(
            "check the tables with `kalah verify`, or search with --no-book and without --state and \
             --from",
        ),
        _ => None,
    }
}

/// Advice for an evaluation network: to delete it only if it is certainly damaged.
fn of_network(error: &NetworkFileError) -> Option<String> {
    Some(match error.reason {
        NetworkFileReason::Io(_) => return None,
        NetworkFileReason::Network(NetworkError::Header(HeaderError::Version { found, known })) if found > known => {
            format!("{USE_NEWER}, or choose another file")
        }
        NetworkFileReason::Network(NetworkError::Damaged | NetworkError::Length { .. }) => {
            format!("delete {}, or replace it with `kalah train`", error.path.display())
        }
        NetworkFileReason::Other { found: (rules, pits), .. } => {
            format!(
                "give its board with --rules {rules} --pits {pits}, choose another file, or move it away and make one \
                 with `kalah train`"
            )
        }
        _ => "choose another file, or move it away from the tables".to_owned(),
    })
}

fn of_lock(error: &LockError) -> Option<&'static str> {
    match error {
        LockError::Held { .. } => Some("wait until that process ends, or stop it"),
        LockError::Unsupported { .. } => Some("choose a place on a file system with locks"),
        _ => None,
    }
}

fn of_graph(error: &GraphError) -> Option<String> {
    match error {
        GraphError::Memory { .. } => Some("allow more with --memory, or choose a smaller board".to_owned()),
        GraphError::Exhausted { need, .. } => {
            Some(format!("allow more with --memory; {} always suffice", HumanBytes(need.most)))
        }
        _ => None,
    }
}

fn of_plan(error: &PlanError) -> Option<String> {
    match error {
        PlanError::Memory(MemoryShortage::Available { available, .. }) => {
            Some(format!("{}, or build fewer seeds", more_memory(available)))
        }
        PlanError::Memory(_) => Some("allow more with --memory, or build fewer seeds".to_owned()),
        PlanError::Disk { .. } => {
            let flag = if is_running("bounds") { "--output" } else { "--tables" };
            Some(format!("free disk space, or choose another directory with {flag}"))
        }
        _ => None,
    }
}

/// Advice to get more memory.
pub fn more_memory(available: &AvailableMemory) -> &'static str {
    match available.limit {
        MemoryLimit::Group(_) => "raise the memory limit of this group of processes",
        MemoryLimit::AddressSpace(_) => "raise the limit of the address space (see `ulimit -v`)",
        _ => "close other programs",
    }
}

fn of_gpu(error: &(dyn Error + 'static)) -> Option<String> {
    gpu::advice(error, if is_running("verify") { "--against cpu" } else { "--backend cpu" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_tables_go_elsewhere_by_their_own_flag() {
        for_command("bounds");
        let advice = of(&PlanError::Disk { needed: 2, free: 1, directory: "a".into() }).unwrap();
        assert!(advice.contains("--output") && !advice.contains("--tables"), "{advice}");
    }

    #[test]
    fn a_build_that_lost_its_gpu_can_go_on() {
        let advice = of(&BuildError::Device("the GPU was lost".into())).unwrap();
        assert!(advice.contains("kept") && advice.contains("--backend cpu"), "{advice}");
    }
}
