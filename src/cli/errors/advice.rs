//! Advice for errors. The library's errors are data; here they get the command that helps. Commands are suggested
//! only if they fit this machine, and can be pasted into a shell.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use indicatif::HumanBytes;
use kalah::analyse::graph::GraphError;
use kalah::book::BookError;
use kalah::build::{BuildError, PlanError};
use kalah::cause;
use kalah::certificate::{CertificateError, CheckError, StrategyError};
use kalah::evaluation::{NetworkError, NetworkFileError, NetworkFileReason};
use kalah::file::{LockError, OverwriteError, StateError, StateKind};
use kalah::game::Position;
use kalah::prove::ProveError;
use kalah::solve::{BoardKeys, SolveError};
use kalah::system::{AvailableMemory, MemoryShortage};
use kalah::table::{Damage, Directories, FileKind, ProbeError, TableError, TableKey};
use kalah::verify::Fault;

use crate::cli::errors::gpu;
use crate::cli::errors::statement::statement;
use crate::cli::errors::suggestion::{bounds_command, build_command, layers_command, plan, quick_build, solve_command};

/// Advice for a file of a newer version.
const USE_NEWER: &str = "use that version of kalah";

/// Flag with which the running command computes on the CPU.
static CPU: OnceLock<&str> = OnceLock::new();

/// Sets the running command, whose flags appear in advice.
pub fn for_command(name: &str) {
    let _ = CPU.set(if name == "verify" { "--against cpu" } else { "--backend cpu" });
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
        .or_else(|| known(error, |_: &OverwriteError| Some("choose another file")))
        .or_else(|| known(error, of_fault))
        .or_else(|| known(error, of_state))
        .or_else(|| known(error, of_check))
        .or_else(|| known(error, of_strategy))
        .or_else(|| known(error, |error: &CertificateError| error.is_newer().then_some(USE_NEWER)))
        .or_else(|| known(error, of_prove))
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

fn of_fault(error: &Fault) -> Option<String> {
    let Fault::Gap { directories, key, missing } = error else { return None };
    let last = missing.last().map_or(*key, |&seeds| TableKey { seeds, ..*key });
    Some(of_missing(directories, last))
}

fn of_check(error: &CheckError) -> Option<&'static str> {
    matches!(error, CheckError::Changed { .. })
        .then_some("repeat the check while no process writes to the tables or the certificate")
}

fn of_strategy(error: &StrategyError) -> Option<&'static str> {
    match error {
        StrategyError::Effort(_) => {
            Some("make one without searches: `kalah prove --from FILE --effort 0 --proof DIR --certificate NEW`")
        }
        StrategyError::Wrong(_) => Some("find the first wrong claim with `kalah check`"),
        _ => None,
    }
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

/// Advice for a book that cannot be used.
fn of_book(error: &BookError) -> Option<String> {
    match error {
        BookError::Version { .. } if error.is_newer() => {
            Some(format!("{USE_NEWER}, choose another file, or use --no-book"))
        }
        BookError::Foreign | BookError::Damaged(_) | BookError::Version { .. } => {
            Some("delete it: the program contains books, and `kalah book make 6x4` makes more".to_owned())
        }
        BookError::Contradiction { .. } => {
            Some("find out which is wrong with `kalah book check` and `kalah verify`, or use --no-book".to_owned())
        }
        BookError::Other { .. } => Some("choose another file, or give the book's rule set and board".to_owned()),
        _ => None,
    }
}

fn of_state(error: &StateError) -> Option<&'static str> {
    match error {
        StateError::Damaged { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file, or delete this one to start over",
            StateKind::Check => "delete it to check all claims again, or choose another file with --state",
            StateKind::Proof => {
                "delete it and repeat the first command of the proof: finished jobs are used if the plan is the same"
            }
            StateKind::Job => "delete this file to run the job again",
            _ => "delete it to start over, or choose another file with --state",
        }),
        // The first line identifies the scan.
        StateError::DamagedLine { line: 1, .. } => Some("choose another file with --state"),
        StateError::DamagedLine { .. } => {
            Some("delete the line to scan its games again, or choose another file with --state")
        }
        StateError::Version { kind, is_newer, .. } => Some(match (kind, is_newer) {
            (StateKind::Checkpoint, true) => "use that version of kalah, or choose another file with --checkpoint",
            (StateKind::Checkpoint, false) => "choose another file, or delete this one to start over",
            (StateKind::Check, true) => "use that version of kalah, or choose another file with --state",
            (StateKind::Check, false) => {
                "it is of another version of kalah, and cannot be relied on: delete it to check all claims again"
            }
            (StateKind::Proof | StateKind::Job, _) => "use that version of kalah, or another directory with --proof",
            _ => "choose another file with --state",
        }),
        StateError::Other { kind, .. } => Some(match kind {
            StateKind::Checkpoint => "choose another file with --checkpoint",
            StateKind::Scan => {
                "give the same --rules, --turns, --positions and --wins, or choose another file with --state"
            }
            StateKind::Proof | StateKind::Job => "choose another directory with --proof",
            _ => "choose another file with --state",
        }),
        StateError::Stale { .. } => {
            Some("its results do not apply to this check: delete it to start over, or choose another file with --state")
        }
        _ => None,
    }
}

fn of_prove(error: &ProveError) -> Option<&'static str> {
    match error {
        ProveError::Contradiction { .. } => Some("delete this file to run the job again"),
        ProveError::Unproved { .. } => Some(
            "no certificate was written; every job follows by itself, so check the tables (`kalah verify`) and the \
             memory of \
                this machine",
        ),
        ProveError::OtherTable(_) => {
            Some("use the tables with which the proof was begun (--tables), or begin another proof")
        }
        ProveError::Empty(_) => Some("start one with `kalah prove POSITION --proof DIR`"),
        ProveError::State(StateError::Lock(_)) => Some("wait for it, or give --share to all processes"),
        ProveError::Tables { .. } => Some(
            "build them with `kalah build --seeds N`, do not exclude them, or begin a proof with a smaller --rests-on",
        ),
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
            "check the tables with `kalah verify`, or search with --no-book and without --checkpoint, --state and \
             --from",
        ),
        _ => None,
    }
}

fn of_network(error: &NetworkFileError) -> Option<String> {
    match error.reason {
        NetworkFileReason::Io(_) => None,
        NetworkFileReason::Network(NetworkError::Version { found, known }) if found > known => {
            Some(format!("{USE_NEWER}, or choose another file"))
        }
        _ => Some(format!("delete {}, or replace it with `kalah train`", error.path.display())),
    }
}

fn of_lock(error: &LockError) -> Option<&'static str> {
    matches!(error, LockError::Held { .. }).then_some("wait until that process ends, or stop it")
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
        PlanError::Disk { .. } => Some("free disk space, or choose another directory with --tables".to_owned()),
        _ => None,
    }
}

/// Advice to get more memory.
fn more_memory(available: &AvailableMemory) -> &'static str {
    match available.group {
        Some(_) => "raise the memory limit of this group of processes",
        None => "close other programs",
    }
}

fn of_gpu(error: &(dyn Error + 'static)) -> Option<String> {
    gpu::advice(error, CPU.get().copied().unwrap_or("--backend cpu"))
}

/// Returns true if the solver takes positions of this size.
fn is_solvable(position: &Position) -> bool {
    BoardKeys::<u128>::new(position.pits(), position.seeds() as usize).is_some()
}

fn of_probe(error: &ProbeError) -> Option<String> {
    match error {
        ProbeError::AboveTables { position, directories, key, .. } => {
            let solve = format!("find its value with `{}`", solve_command(directories, key.rules, position));
            Some(match quick_build(directories, *key) {
                Some(build) => format!("build the missing layers with `{build}`, or {solve}"),
                None => solve,
            })
        }
        ProbeError::BeyondTables { position, directories, rules } => is_solvable(position)
            .then(|| format!("find its value with `{}`", solve_command(directories, *rules, position))),
        _ => None,
    }
}

fn of_table(error: &TableError) -> Option<String> {
    if error.is_newer() {
        return Some(of_newer(error));
    }
    match error {
        TableError::Damaged { path, .. } if is_address(path) => {
            Some("the fault is at that address, not on this machine".to_owned())
        }
        TableError::Missing { directories, .. } if directories.are_remote() => {
            Some("the layers are not at that address".to_owned())
        }
        TableError::Missing { directories, key, .. } => Some(of_missing(directories, *key)),
        TableError::Copies { .. } => {
            Some("find the wrong one with `kalah verify` in each directory, and remove it".to_owned())
        }
        TableError::Full { source, kept, .. } => Some(format!("{kept}; {}", of_full(source))),
        TableError::Damaged { damage: Damage::Shrunk, kind: FileKind::Table(Some(key)), path } => {
            let directory = path.parent().unwrap_or(Path::new(""));
            Some(format!("restore it, or delete it and run `{}`", build_command(directory, *key)))
        }
        TableError::Damaged { kind: FileKind::Table(Some(key)), path, .. } => {
            let directory = path.parent().unwrap_or(Path::new(""));
            // Deleting the file frees the disk space of the new one.
            let mut all = plan(Path::new("/nothing is built here"), *key);
            all.disk = 0;
            Some(match all.check(directory, None) {
                Ok(()) => format!("delete it and run `{}`", build_command(directory, *key)),
                // Its sound frames can still be read.
                Err(error) => format!("keep it until there is room: {}", does_not_fit(&error, directory, *key)),
            })
        }
        TableError::Damaged { kind: FileKind::Table(None), .. } => {
            Some("its name is not that of a table, so no command can rebuild it".to_owned())
        }
        TableError::Damaged { kind: FileKind::Bounds(key), path, .. } => {
            let directory = path.parent().unwrap_or(Path::new(""));
            Some(format!("delete it and run `{}`", bounds_command(directory, *key)))
        }
        TableError::Networks { .. } => {
            let remedy = "delete it and make it again with the network of the others (`kalah bounds --seeds N`), or \
                          make all of them with another \
                          (`kalah bounds --seeds N --network FILE`)";
            Some(remedy.to_owned())
        }
        TableError::Damaged { kind: FileKind::Piece, .. } => Some("its frames will be computed again".to_owned()),
        TableError::Damaged { kind: FileKind::Archive, .. } => Some(
            "download it again, or pack the table again; if a build made it, delete it and run the build again"
                .to_owned(),
        ),
        TableError::OutOfMemory { bytes, .. } => {
            let needed = HumanBytes(*bytes);
            Some(format!(
                "{needed} of memory or address space are needed: close other programs, or raise the limit (see \
                 `ulimit -v`)"
            ))
        }
        TableError::InUse { .. } => Some("wait until that process ends, or stop it".to_owned()),
        _ => None,
    }
}

/// Returns true if a table has this address, not this path.
fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains("://"))
}

/// Advice for a table, bound table or archive of a newer version, which never suggests to delete it.
fn of_newer(error: &TableError) -> String {
    let TableError::Damaged { path, kind, .. } = error else { return USE_NEWER.to_owned() };
    let directory = path.parent().unwrap_or(Path::new(""));
    let key = match kind {
        FileKind::Table(key) => *key,
        _ => None,
    };
    let log = kalah::build::BuildLog::read(directory);
    let version = key.and_then(|key| log.last(key)).and_then(|record| record.version.clone());
    match version {
        Some(version) => format!(
            "use that version of kalah ({version}, according to builds.jsonl), or another \
                                  directory"
        ),
        None => format!("{USE_NEWER}, or another directory"),
    }
}

/// Advice for a missing table, and perhaps others below it.
fn of_missing(directories: &Directories, key: TableKey) -> String {
    let Some(directory) = directories.single() else {
        return "name the directory that has them by another --tables".to_owned();
    };
    match plan(directory, key).check(directory, None) {
        Ok(()) => format!("build the missing layers with `{}`", build_command(directory, key)),
        Err(error) => does_not_fit(&error, directory, key),
    }
}

/// Advice for a file that could not grow.
fn of_full(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "raise the limit on file sizes (see `ulimit -f`) and run the same command again",
        _ => "free disk space and run the same command again",
    }
}

/// Reason why no build is suggested, and the command that shows which layers can be built.
fn does_not_fit(error: &PlanError, directory: &Path, key: TableKey) -> String {
    let (needed, free, what) = match error {
        PlanError::Memory(MemoryShortage::Available { needed, available, .. }) => (needed, &available.bytes, "memory"),
        PlanError::Disk { needed, free, .. } => (needed, free, "disk"),
        other => return format!("it cannot be built here: {}", statement(other)),
    };
    let (needed, free, layers) = (HumanBytes(*needed), HumanBytes(*free), layers_command(directory, key));
    format!("building it takes {needed} of {what}, but only {free} are free; `{layers}` shows what each layer takes")
}

#[cfg(test)]
mod tests {
    use kalah::game::Rules;

    use super::*;

    #[test]
    fn a_build_that_lost_its_gpu_can_go_on() {
        let advice = of(&BuildError::Device("the GPU was lost".into())).unwrap();
        assert!(advice.contains("kept") && advice.contains("--backend cpu"), "{advice}");
    }

    /// Without room for a new table, a damaged one is better than none.
    #[test]
    fn no_table_is_to_be_deleted_that_cannot_be_built() {
        let path = Path::new("tables/standard-6-48.kalah");
        let advice = of_table(&TableError::damaged(path, Damage::Digest)).unwrap();
        assert!(!advice.contains("delete") && !advice.contains("kalah build"), "{advice}");
        assert!(advice.contains("kalah plan layers --seeds 48 --rules standard"), "{advice}");
    }

    /// Texts between backquotes in the code that begin with `kalah`, with their file. Comments are left out.
    fn suggested() -> Vec<(String, String)> {
        let mut folders = ["src", "crates"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).to_vec();
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                    // A text may continue on the next line.
                    let joined = code.iter().map(|line| match line.strip_suffix('\\') {
                        Some(start) => start.to_owned(),
                        None => format!("{line}\n"),
                    });
                    let code: String = joined.collect();
                    let quoted = code.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
                    let words = |quoted: &str| quoted.split_whitespace().collect::<Vec<_>>().join(" ");
                    let commands = quoted.map(words).filter(|quoted| quoted.starts_with("kalah "));
                    found.extend(commands.map(|command| (command, path.display().to_string())));
                }
            }
        }
        found
    }

    /// Reads a command as the program does. Words in capitals and in braces are placeholders.
    #[track_caller]
    fn assert_understood(command: &str, place: &str) {
        let words = shlex::split(command)
            .unwrap_or_else(|| panic!("{place}: `{command}` is no command"))
            .into_iter()
            .map(|word| match word.as_str() {
                "POSITION" => "6x4".to_owned(),
                "N" | "COMMAND" => if word == "N" { "6" } else { "solve" }.to_owned(),
                _ => word.replace("{pits}", "6").replace("{rules}", "standard").replace("2..{last}", "2..6"),
            });
        let words: Vec<String> = words.collect();
        let mut known = crate::cli::command();
        // The name of a command alone is a mention.
        let mut named = &known;
        let mentions = words[1..].iter().all(|word| match named.find_subcommand(word) {
            Some(inner) => {
                named = inner;
                true
            }
            None => false,
        });
        if mentions {
            return;
        }
        let read = known.try_get_matches_from_mut(&words);
        let shown = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
        assert!(read.as_ref().err().is_none_or(shown), "{place}: `{command}`: {}", read.unwrap_err());
    }

    #[test]
    fn every_command_that_a_text_of_the_program_suggests_is_understood() {
        let suggested = suggested();
        assert!(suggested.len() > 10, "{suggested:?}");
        for (command, place) in suggested {
            assert_understood(&command, &place);
        }
    }

    #[test]
    fn every_command_that_is_put_together_is_understood() {
        for directory in ["tables", "with space", "-dash"].map(Path::new) {
            for rules in Rules::ALL {
                for pits in [1, 6, 8] {
                    let key = TableKey { rules, pits, seeds: 12 };
                    let position = format!("{pits}x4").parse().unwrap();
                    let commands = [
                        build_command(directory, key),
                        bounds_command(directory, key),
                        solve_command(directory, rules, &position),
                    ];
                    commands.iter().for_each(|command| assert_understood(command, "suggestion.rs"));
                }
            }
        }
    }

    /// Positions too large for the solver must not be sent to it.
    #[test]
    fn no_command_is_suggested_that_would_refuse() {
        let advice = |start: &str| {
            let position = Box::new(start.parse().unwrap());
            of(&ProbeError::BeyondTables { position, directories: "tables".into(), rules: Rules::EmptyCapture })
        };
        assert_eq!(advice("6x99"), None);
        assert_eq!(advice("9x1").as_deref(), Some("find its value with `kalah solve 9x1`"));
    }
}
