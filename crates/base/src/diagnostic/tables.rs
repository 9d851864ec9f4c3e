use std::io;
use std::path::Path;

use kalah_core::cancel::Stopped;
use kalah_core::directories::Directories;
use kalah_core::evaluation::{NetworkError, NetworkFileError, NetworkFileReason};
use kalah_core::game::{IllegalMove, ParseError, PositionError, UnknownRules};
use kalah_core::table::{Damage, FileKind, ProbeError, TableError, TableKey};
use kalah_core::text::size;

use super::{Commands, Diagnosis, Diagnostic, Kind, Outcome, USE_NEWER};

impl Diagnostic for ProbeError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        let solve = |directories, rules, position| {
            commands.solve(directories, rules, position).map(|solve| format!("find its value with `{solve}`"))
        };
        match self {
            ProbeError::AboveTables { position, directories, key, .. } => {
                let build = commands.quick_build(directories, *key);
                let build = build.map(|build| format!("build the missing layers with `{build}`"));
                let both: Vec<String> = build.into_iter().chain(solve(directories, key.rules, position)).collect();
                let help = Some(both.join(", or ")).filter(|help| !help.is_empty());
                Diagnosis { outcome: Outcome::Failed, kind: Kind::Missing, help }
            }
            ProbeError::BeyondTables { position, directories, rules } => {
                let help = solve(directories, *rules, position);
                Diagnosis { outcome: Outcome::Usage, kind: Kind::Missing, help }
            }
            ProbeError::OtherPits { .. } => Outcome::Usage.into(),
            ProbeError::Table(error) => error.diagnosis(commands),
            _ => Outcome::Failed.into(),
        }
    }
}

impl Diagnostic for TableError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        let outcome = if self.is_damage() { Outcome::Wrong } else { Outcome::Failed };
        let kind = match self {
            error if error.is_newer() => Kind::Table,
            TableError::Damaged { damage: Damage::Shrunk, .. } => Kind::Unreadable,
            TableError::Damaged { .. } | TableError::Copies { .. } => Kind::Damaged,
            TableError::Missing { .. } => Kind::Missing,
            TableError::OutOfMemory { .. } => Kind::Memory,
            _ => Kind::Table,
        };
        let help: String = match self {
            error if error.is_newer() => of_newer(error, commands),
            TableError::Io { source, .. } => {
                let cause = source.diagnosis(commands);
                return if cause.kind == Kind::Other { cause.of(kind) } else { cause };
            }
            TableError::Stopped(error) => return error.diagnosis(commands),
            TableError::Damaged { path, .. } if is_address(path) => {
                "the fault is at that address, not on this machine".into()
            }
            TableError::Missing { directories, .. } if directories.are_remote() => {
                "the layers are not at that address".into()
            }
            TableError::Missing { directories, key, .. } => build_missing(directories, *key, commands),
            TableError::Copies { .. } => {
                "find the wrong one with `kalah verify` in each directory, and remove it".into()
            }
            TableError::Full { source, kept, .. } => format!("{kept}; {}", of_full(source)),
            TableError::Damaged { damage: Damage::Shrunk, kind, path } => {
                format!("restore it, or {}", of_stranger(*kind, path, commands))
            }
            TableError::Damaged { kind: FileKind::Piece, .. } => "its frames will be computed again".into(),
            TableError::Damaged { kind, path, .. } if !self.is_worthless() => of_stranger(*kind, path, commands),
            TableError::Occupied { .. } => "move it away, or choose another directory".into(),
            TableError::Damaged { kind, path, .. } => of_damaged(*kind, path, commands),
            TableError::Networks { .. } => {
                "make all of them with one network: `kalah bounds --seeds N --network FILE`".into()
            }
            TableError::OutOfMemory { bytes, .. } => format!(
                "{} of memory or address space are needed: close other programs, or raise the limit (see `ulimit -v`)",
                size(*bytes)
            ),
            TableError::InUse { .. } => "wait until that process ends, or stop it".into(),
            _ => return Diagnosis::from(outcome).of(kind),
        };
        outcome.help(help).of(kind)
    }
}

/// Advice for a file that is certainly damaged.
fn of_damaged(kind: FileKind, path: &Path, commands: &dyn Commands) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    match kind {
        FileKind::Table(Some(key)) => match commands.build_that_fits(directory, key, true) {
            Ok(build) => format!("delete it and run `{build}`"),
            // Its sound frames can still be read.
            Err(why) => format!("keep it until there is room: {why}"),
        },
        FileKind::Bounds(key) => format!("delete it and run `{}`", commands.bounds(directory, key)),
        FileKind::Archive => {
            "download it again, or pack the table again; if a build made it, delete it and run the build again"
                .to_owned()
        }
        _ => "its name is not that of a table, so no command can rebuild it".to_owned(),
    }
}

/// Advice for a file that is not certainly a damaged one of its kind, which never suggests to delete it.
fn of_stranger(kind: FileKind, path: &Path, commands: &dyn Commands) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    match kind {
        FileKind::Table(Some(key)) => format!("move it away and run `{}`", commands.build(directory, key)),
        FileKind::Bounds(key) => format!("move it away and run `{}`", commands.bounds(directory, key)),
        _ => "choose another file, or move it away".to_owned(),
    }
}

/// Returns true if a table has this address, not this path.
fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains("://"))
}

/// Advice for a table, bound table or archive of a newer version, which never suggests to delete it.
fn of_newer(error: &TableError, commands: &dyn Commands) -> String {
    let TableError::Damaged { path, kind, .. } = error else { return USE_NEWER.to_owned() };
    let version = match kind {
        FileKind::Table(Some(key)) => commands.version_of(path.parent().unwrap_or(Path::new("")), *key),
        _ => None,
    };
    match version {
        Some(version) => format!("{USE_NEWER} ({version}, according to builds.jsonl), or another directory"),
        None => format!("{USE_NEWER}, or another directory"),
    }
}

/// Advice for a missing table, and perhaps others below it.
pub fn build_missing(directories: &Directories, key: TableKey, commands: &dyn Commands) -> String {
    let Some(directory) = directories.single() else {
        return "name the directory that has them by another --tables".to_owned();
    };
    match commands.build_that_fits(directory, key, false) {
        Ok(build) => format!("build the missing layers with `{build}`"),
        Err(why) => why,
    }
}

/// Advice for a file that could not grow.
fn of_full(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "raise the limit on file sizes (see `ulimit -f`) and run the same command again",
        _ => "free disk space and run the same command again",
    }
}

impl Diagnostic for IllegalMove {}
impl Diagnostic for ParseError {}
impl Diagnostic for PositionError {}
impl Diagnostic for UnknownRules {}

impl Diagnostic for Stopped {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        Outcome::Stopped.into()
    }
}

/// Only a network that is certainly damaged is to be deleted.
impl Diagnostic for NetworkFileError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match &self.reason {
            NetworkFileReason::Io(error) => error.diagnosis(commands),
            NetworkFileReason::Network(NetworkError::Header(error)) if error.is_newer() => {
                Outcome::Wrong.help(format!("{USE_NEWER}, or choose another file"))
            }
            NetworkFileReason::Network(NetworkError::Damaged | NetworkError::Length { .. }) => {
                Outcome::Wrong.help(format!("delete {}, or replace it with `kalah train`", self.path.display()))
            }
            NetworkFileReason::Network(_) => {
                Outcome::Wrong.help("choose another file, or move it away from the tables")
            }
            NetworkFileReason::Other { found: (rules, pits), .. } => Outcome::Failed.help(format!(
                "give its board with --rules {rules} --pits {pits}, choose another file, or move it away and make one \
                 with `kalah train`"
            )),
            _ => Outcome::Failed.into(),
        }
    }
}
