use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::LockError;
use super::directory::{build_command, named_key};
use crate::game::Rules;

/// What is wrong inside a table file or archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The first bytes are not those of the format.
    #[error("it is not a {0}")]
    Foreign(&'static str),
    /// A version this program does not know.
    #[error("its format has version {found}, this program reads version {known}")]
    Version {
        /// The file's version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// The file ends too early or goes on too long.
    #[error("it has {found} bytes where {expected} belong")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
    /// A part does not agree with its checksum, digest or with what must stand there.
    #[error("its {part} is damaged (byte {offset})")]
    Part {
        /// Which part.
        part: &'static str,
        /// Where it begins, in bytes from the start of the file.
        offset: u64,
    },
    /// An archive's chunks are sound, but make another table than the one packed.
    #[error("what it unpacks to is not the table it was made of")]
    Digest,
    /// The file became shorter while it was read, or the disk failed.
    #[error("it became shorter while it was in use, or the disk failed")]
    Shrunk,
    /// It was never finished.
    #[error("it was never finished")]
    Unfinished,
    /// It is a table of something else.
    #[error("it holds {found}, not {expected}")]
    Other {
        /// What the file holds.
        found: String,
        /// What was looked for.
        expected: String,
    },
}

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file cannot grow: the disk is full, or a limit on its size or on the space of a user is reached.
    #[error("{path}: {source}; {advice}")]
    Full {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
        /// What is kept, and what to do.
        advice: String,
    },
    /// The file is damaged, foreign or unfinished.
    #[error("{path} cannot be used: {damage}; {repair}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        damage: Damage,
        /// What to do.
        repair: String,
    },
    /// Another process writes to the directory.
    #[error("{0}")]
    Lock(LockError),
    /// The layer is not in the directory.
    #[error("no table of {seeds} seeds for {rules} with {pits} pits in {directory}; make it with: {command}")]
    Missing {
        /// The directory.
        directory: PathBuf,
        /// The rule set.
        rules: Rules,
        /// Pits a side.
        pits: usize,
        /// Seeds in play.
        seeds: usize,
        /// The command that makes it.
        command: String,
    },
}

impl TableError {
    /// An error of the file system at `path`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { path: path.to_owned(), source }
    }

    /// An error of writing to the file at `path`; where the file cannot grow it says that `kept`, what is not lost, is kept.
    pub(super) fn writing<'a>(path: &'a Path, kept: &'a str) -> impl FnOnce(io::Error) -> TableError + 'a {
        move |source| {
            let room = match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room",
                ErrorKind::FileTooLarge => "raise the limit on the size of files (see `ulimit -f`)",
                _ => return TableError::Io { path: path.to_owned(), source },
            };
            let advice = format!("{kept}; {room} and run the same command again");
            TableError::Full { path: path.to_owned(), source, advice }
        }
    }

    /// Damage of the table file at `path`, whose name tells the command that builds it anew.
    pub fn damaged(path: &Path, damage: Damage) -> TableError {
        let repair = match named_key(path) {
            Some(key) => {
                let directory = path.parent().unwrap_or(Path::new(""));
                format!("delete it and run: {}", build_command(directory, key))
            }
            None => "it has not the name of a table, so no command makes it anew".to_owned(),
        };
        TableError::Damaged { path: path.to_owned(), damage, repair }
    }

    /// Damage of the piece at `path`.
    pub fn damaged_piece(path: &Path, damage: Damage) -> TableError {
        TableError::Damaged { path: path.to_owned(), damage, repair: "its frames are computed again".to_owned() }
    }

    /// Damage of the archive at `path`.
    pub fn damaged_archive(path: &Path, damage: Damage) -> TableError {
        let repair = "download it again, or pack the table again".to_owned();
        TableError::Damaged { path: path.to_owned(), damage, repair }
    }

    /// Whether the file's content, rather than the file system or the user, is at fault.
    pub fn is_damage(&self) -> bool {
        matches!(self, TableError::Damaged { .. })
    }
}
