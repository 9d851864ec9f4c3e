//! Advice for tables, bound tables and archives, and for positions that no table has.

use std::io;
use std::path::Path;

use indicatif::HumanBytes;
use kalah::build::PlanError;
use kalah::game::Position;
use kalah::solve::BoardKeys;
use kalah::system::MemoryShortage;
use kalah::table::{Damage, Directories, FileKind, ProbeError, TableError, TableKey};

use crate::cli::errors::statement::statement;
use crate::cli::errors::suggestion::{bounds_command, build_command, layers_command, plan, quick_build, solve_command};

/// Advice for a file of a newer version.
pub const USE_NEWER: &str = "use that version of kalah";

/// Returns true if the solver takes positions of this size.
fn is_solvable(position: &Position) -> bool {
    BoardKeys::<u128>::new(position.pits(), position.seeds() as usize).is_some()
}

/// Returns advice for a position that cannot be looked up.
pub fn of_probe(error: &ProbeError) -> Option<String> {
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

/// Returns advice for a table, bound table or archive.
pub fn of_table(error: &TableError) -> Option<String> {
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
        TableError::Damaged { damage: Damage::Shrunk, kind, path } => {
            Some(format!("restore it, or {}", of_stranger(*kind, path)))
        }
        TableError::Damaged { kind: FileKind::Piece, .. } => Some("its frames will be computed again".to_owned()),
        TableError::Damaged { kind, path, .. } if !error.is_worthless() => Some(of_stranger(*kind, path)),
        TableError::Occupied { .. } => Some("move it away, or choose another directory".to_owned()),
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
            Some("make all of them with one network: `kalah bounds --seeds N --network FILE`".to_owned())
        }
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

/// Advice for a file that is not certainly a damaged one of its kind, which never suggests to delete it.
fn of_stranger(kind: FileKind, path: &Path) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    match kind {
        FileKind::Table(Some(key)) => format!("move it away and run `{}`", build_command(directory, key)),
        FileKind::Bounds(key) => format!("move it away and run `{}`", bounds_command(directory, key)),
        _ => "choose another file, or move it away".to_owned(),
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
        Some(version) => format!("{USE_NEWER} ({version}, according to builds.jsonl), or another directory"),
        None => format!("{USE_NEWER}, or another directory"),
    }
}

/// Advice for a missing table, and perhaps others below it.
pub fn of_missing(directories: &Directories, key: TableKey) -> String {
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

    /// Without room for a new table, a damaged one is better than none.
    #[test]
    fn no_table_is_to_be_deleted_that_cannot_be_built() {
        let path = Path::new("tables/standard-6-48.kalah");
        let advice = of_table(&TableError::damaged(path, Damage::Digest)).unwrap();
        assert!(!advice.contains("delete") && !advice.contains("kalah build"), "{advice}");
        assert!(advice.contains("kalah plan build --seeds 48 --rules standard"), "{advice}");
    }

    /// Positions too large for the solver must not be sent to it.
    #[test]
    fn no_command_is_suggested_that_would_refuse() {
        let advice = |start: &str| {
            let position = Box::new(start.parse().unwrap());
            of_probe(&ProbeError::BeyondTables { position, directories: "tables".into(), rules: Rules::EmptyCapture })
        };
        assert_eq!(advice("6x99"), None);
        assert_eq!(advice("9x1").as_deref(), Some("find its value with `kalah solve 9x1`"));
    }
}
