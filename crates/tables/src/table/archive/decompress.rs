use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use kalah_base::file::{FileContent, LockError, require_replaceable};
use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::table::{Damage, Table, TableError};

use super::chunk::zeroed;
use super::container::ArchiveInfo;
use super::reader::{ArchiveReader, scores_and_chunks};
use crate::table::{DirectoryLock, PackedFrame, TableWriter, check_in_parallel, unless_other};

/// Bytes per position of a chunk whose scores wait to be put in place: the scores, and the chunk's
/// bytes in the archive.
const CHUNK_BYTES: u64 = 2;

/// Additional bytes per position for decoding a chunk: the symbols.
const WORK_BYTES: u64 = 1;

/// Bytes of the program without frames.
pub(super) const PROGRAM_BYTES: u64 = 8 << 20;

/// Maximum bytes of memory that [`decompress()`] takes for an archive on `threads` threads, page cache
/// excluded. It holds a byte a position of the largest frame, and that frame as packed in the
/// table.
pub fn decompress_memory(info: &ArchiveInfo, threads: usize) -> u64 {
    let of_frame = |frame| decompress_frame_memory(frame, info.chunk_side, threads) + PackedFrame::most_bytes(frame);
    info.key.frames().map(of_frame).max().unwrap_or(0) + PROGRAM_BYTES
}

/// Bytes of memory to decompress the scores of a frame from chunks with this side on `threads` threads.
pub(super) fn decompress_frame_memory(frame: Frame, side: usize, threads: usize) -> u64 {
    scores_and_chunks(frame, side, threads, CHUNK_BYTES, WORK_BYTES)
}

/// Decompresses an archive to its table in `directory`, and returns the path of the table.
///
/// `pulse` counts the positions decompressed. The directory is locked meanwhile. A [`TableWriter`]
/// writes the table under a temporary name that builds ignore. The finished frames of an
/// interrupted call are kept. A valid table with the archive's digest is left unchanged, and a
/// damaged one is replaced.
///
/// # Errors
/// When the archive is damaged or foreign, the table's name has another file that may not be
/// replaced, the directory is in use, or reading or writing fails. A
/// table whose digest is not that of the compressed one is never left behind. [`TableError::Stopped`]
/// when `pulse` was stopped.
pub fn decompress(
    archive: impl AsRef<Path>,
    directory: impl AsRef<Path>,
    pulse: &Pulse,
) -> Result<PathBuf, TableError> {
    let (archive, directory) = (archive.as_ref(), directory.as_ref());
    let reader = ArchiveReader::open(archive)?;
    let &ArchiveInfo { key, digest, positions, .. } = reader.info();
    let _lock = DirectoryLock::take(directory).map_err(in_use)?;
    let path = key.path(directory);
    let there = unless_other(&path, Table::open(&path), archive, |table| {
        (table.key(), table.header().digest) == (key, digest)
    })?;
    if there.is_some_and(|table| check_in_parallel(table.blocks()).is_ok()) {
        pulse.positions.fetch_add(positions, Ordering::Relaxed);
        return Ok(path);
    }
    require_replaceable(&path, Some(FileContent::Table)).map_err(TableError::io(&path))?;
    let count = |positions| _ = pulse.positions.fetch_add(positions, Ordering::Relaxed);
    let (mut writer, kept) = decompress_frames(&reader, directory, &pulse.cancel, &count)?;
    if kept && writer.digest() != digest {
        // The frames of an interrupted call may be the cause.
        writer.discard()?;
        (writer, _) = decompress_frames(&reader, directory, &pulse.cancel, &|_| {})?;
    }
    if writer.digest() != digest {
        writer.discard()?;
        return Err(TableError::damaged_as(Kind::Archive, archive, Damage::Digest));
    }
    writer.finish()
}

/// Checks an archive: every frame against its digest, and the table that it decompresses to against
/// the digest of the compressed one. Nothing is written; memory: [`decompress_memory`]. `pulse` counts the
/// positions.
///
/// # Errors
/// When the archive is damaged or foreign, or cannot be read; [`TableError::Stopped`] when `pulse`
/// was stopped early.
pub fn check(archive: impl AsRef<Path>, pulse: &Pulse) -> Result<ArchiveInfo, TableError> {
    let archive = archive.as_ref();
    let reader = ArchiveReader::open(archive)?;
    let count = |positions| _ = pulse.positions.fetch_add(positions, Ordering::Relaxed);
    reader.check(&pulse.cancel, &count)?;
    Ok(reader.info().clone())
}

/// Decompresses the frames that an interrupted call did not leave. Also returns true if it left
/// any. If `cancel` is cancelled, the frames so far are kept.
fn decompress_frames(
    reader: &ArchiveReader,
    directory: &Path,
    cancel: &Cancel,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(TableWriter, bool), TableError> {
    let key = reader.info().key;
    let mut writer = TableWriter::open_unpacking(directory, key)?;
    let written = writer.written();
    let largest = writer.missing().map(|frame| frame.positions()).max().unwrap_or(0);
    // One buffer for all frames.
    let (mut scores, mut buffer) = (zeroed(reader.path(), largest)?, Vec::new());
    for (number, frame) in key.frames().enumerate() {
        if number < written {
            progress(frame.positions());
            continue;
        }
        cancel.check()?;
        let packed = reader.packed(frame, &mut scores, buffer, progress)?;
        writer.write(&packed)?;
        buffer = packed.into_buffer();
    }
    Ok((writer, written > 0))
}

/// Error for a directory that another process writes to.
fn in_use(error: LockError) -> TableError {
    match error {
        LockError::Held { path, holder } => TableError::InUse { directory: path, holder },
        LockError::Io { path, source } | LockError::Unsupported { path, source } => TableError::Io { path, source },
    }
}
