use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::key::TableKey;

/// What is wrong inside a table file, piece or archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
        part: Part,
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
        found: TableKey,
        /// What was looked for.
        expected: TableKey,
    },
}

/// A part of a table file, piece or archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    Header,
    /// The directory of a table: the entries of its frames.
    Directory,
    /// A frame as a whole.
    Frame,
    /// A block: the bytes that one checksum covers.
    Block,
    /// A group of scores.
    Group,
    /// The score of one position.
    Score,
    /// The bytes that sound scores were packed to.
    Packing,
    /// The list of checksums.
    Checksums,
    /// A chunk of an archive.
    Chunk,
    /// The seek table of an archive.
    SeekTable,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "header",
            Part::Directory => "directory",
            Part::Frame => "frame",
            Part::Block => "block of scores",
            Part::Group => "group of scores",
            Part::Score => "score of a position",
            Part::Packing => "packing of a frame",
            Part::Checksums => "list of checksums",
            Part::Chunk => "chunk",
            Part::SeekTable => "seek table",
        })
    }
}

/// What a damaged file was to be: how it is had again depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// The table of this key by its file's name, `None` if it is not named like a table: can be built again.
    Table(Option<TableKey>),
    /// Frames of a layer under way: are computed again without being asked for.
    Piece,
    /// A packed table: to be downloaded or packed again.
    Archive,
}

/// Why a table cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is not as much memory, or address space, as reading or writing a file takes.
    #[error("{path}: there is not enough memory for {bytes} bytes")]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// A file cannot grow: the disk is full, or a limit on its size or on the space of a user is reached.
    #[error("{path}: {source}")]
    Full {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
        /// What is not lost, in a clause: "finished frames are kept".
        kept: &'static str,
    },
    /// The file is damaged, foreign or unfinished.
    #[error("{path} cannot be used: {damage}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        damage: Damage,
        /// What the file was to be.
        kind: FileKind,
    },
    /// Another process writes to the directory.
    #[error("{directory} is in use by {holder}")]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// What the other process tells of itself.
        holder: String,
    },
    /// The layer, or one below it, is not in the directory.
    #[error("{} in {directory} for {} with {} pits", missing_layers(missing), key.rules, key.pits)]
    Missing {
        /// The directory.
        directory: PathBuf,
        /// The table that is asked for.
        key: TableKey,
        /// The layers up to it that are missing, fewest seeds first.
        missing: Vec<usize>,
    },
}

impl TableError {
    /// A failure to read or write at `path`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { path: path.to_owned(), source }
    }

    /// An error of writing to the file at `path`, where `kept` is not lost if the file cannot grow.
    pub fn writing(path: &Path, kept: &'static str) -> impl FnOnce(io::Error) -> TableError {
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                TableError::Full { path: path.to_owned(), source, kept }
            }
            _ => TableError::Io { path: path.to_owned(), source },
        }
    }

    /// There are no `bytes` bytes of memory for the file at `path`.
    pub fn out_of_memory(path: &Path, bytes: u64) -> TableError {
        TableError::OutOfMemory { path: path.to_owned(), bytes }
    }

    /// A failure to get `bytes` bytes of memory for the file at `path`, or any other one.
    pub(super) fn mapping(path: &Path, bytes: u64) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| {
            #[cfg(unix)]
            let is_memory = source.raw_os_error() == Some(libc::ENOMEM);
            #[cfg(not(unix))]
            let is_memory = source.kind() == ErrorKind::OutOfMemory;
            if is_memory { TableError::out_of_memory(path, bytes) } else { TableError::io(path)(source) }
        }
    }

    /// The table `key` is not in `directory`.
    pub(super) fn missing(directory: &Path, key: TableKey) -> TableError {
        TableError::Missing { directory: directory.to_owned(), key, missing: vec![key.seeds] }
    }

    /// Damage of the table file at `path`.
    pub fn damaged(path: &Path, damage: Damage) -> TableError {
        TableError::Damaged { path: path.to_owned(), damage, kind: FileKind::Table(TableKey::named(path)) }
    }

    /// Damage of a part, which begins at byte `offset`, of the table file at `path`.
    pub fn damaged_part(path: &Path, part: Part, offset: u64) -> TableError {
        TableError::damaged(path, Damage::Part { part, offset })
    }

    /// Damage of the piece at `path`.
    pub fn damaged_piece(path: &Path, damage: Damage) -> TableError {
        TableError::Damaged { path: path.to_owned(), damage, kind: FileKind::Piece }
    }

    /// Damage of the archive at `path`.
    pub fn damaged_archive(path: &Path, damage: Damage) -> TableError {
        TableError::Damaged { path: path.to_owned(), damage, kind: FileKind::Archive }
    }

    /// Whether the file's content, rather than the file system or the user, is at fault.
    pub fn is_damage(&self) -> bool {
        matches!(self, TableError::Damaged { .. })
    }
}

/// That layers are missing, in words, runs of them shortened: `layer 5 is missing`, `layers 3, 25 to 48 are missing`.
pub fn missing_layers(layers: &[usize]) -> String {
    let runs = layers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [one, last] => format!("{one}, {last}"),
        [one, .., last] => format!("{one} to {last}"),
        one => one.iter().map(usize::to_string).collect(),
    });
    let runs: Vec<String> = runs.collect();
    let (layers, are) = if layers.len() == 1 { ("layer", "is") } else { ("layers", "are") };
    format!("{layers} {} {are} missing", runs.join(", "))
}
