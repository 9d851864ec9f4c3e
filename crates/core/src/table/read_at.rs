use std::fmt;
use std::fs::File;
use std::io;
#[cfg(not(any(unix, windows)))]
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::error::{TableError, TablePart};
use super::format::{BLOCK_BYTES, FrameEntry, TableHeader};
use super::group::{self, GroupPatch};
use super::key::TableKey;
use super::layer::{Layer, group_of};
use crate::file;

/// A source of bytes that can be read at any offset: a file, memory, an object on another machine.
pub trait ReadAt {
    /// Number of bytes.
    ///
    /// # Errors
    /// When it cannot be determined.
    fn bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// When they cannot be read, or the source is too short.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for File {
    fn bytes(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => (buffer, offset) = (&mut buffer[read..], offset + read as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[cfg(not(any(unix, windows)))]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

impl ReadAt for Vec<u8> {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let bytes = rest.get(..buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

/// Blocks that a table keeps in memory: 4 MiB.
const KEPT_BLOCKS: usize = 64;

/// A cached block: seeds in the mover's row of its frame, number in the frame, bytes.
type Kept = Mutex<Option<(usize, u64, Arc<[u8]>)>>;

/// A finished table read block by block. It suits sources that cannot or should not be mapped:
/// files on a network, memory of another language, files that may change. Every block is compared
/// with its checksum each time it is read; a few are cached.
///
/// A [`super::Table`] looks up a score about a hundred times faster.
pub struct ReadAtTable<S = File> {
    path: PathBuf,
    source: S,
    header: TableHeader,
    kept: Box<[Kept]>,
}

impl ReadAtTable<File> {
    /// Opens the table file at `path`. A file with the name of a table must hold that table.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, foreign or unfinished, or does not match its name.
    pub fn open(path: impl AsRef<Path>) -> Result<ReadAtTable, TableError> {
        let path = path.as_ref();
        let table = ReadAtTable::new(path, file::open(path).map_err(TableError::io(path))?)?;
        TableError::unless_expected(path, table.key(), TableKey::named(path).unwrap_or(table.key()))?;
        Ok(table)
    }
}

impl<S: ReadAt> ReadAtTable<S> {
    /// Opens the table in `source`. `path` only names it in errors.
    ///
    /// # Errors
    /// When header or directory cannot be read, or are not valid.
    pub fn new(path: impl AsRef<Path>, source: S) -> Result<ReadAtTable<S>, TableError> {
        let path = path.as_ref();
        let bytes = source.bytes().map_err(TableError::io(path))?;
        let mut prefix = vec![0; bytes.min(TableHeader::MAX_PREFIX_BYTES as u64) as usize];
        source.read_exact_at(&mut prefix, 0).map_err(TableError::io(path))?;
        let header = TableHeader::read(&prefix, bytes).map_err(|damage| TableError::damaged(path, damage))?;
        let kept = (0..KEPT_BLOCKS).map(|_| Mutex::default()).collect();
        Ok(ReadAtTable { path: path.to_owned(), source, header, kept })
    }

    /// The header and directory.
    pub fn header(&self) -> &TableHeader {
        &self.header
    }

    /// Reads every block and compares it with its checksum.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        for frame in self.header.key.frames() {
            let blocks = self.header.entries[frame.mover - 1].blocks();
            (0..blocks).try_for_each(|block| self.read_block(frame.mover, block).map(drop))?;
        }
        Ok(())
    }

    /// Returns a block of the frame with `mover` seeds in the mover's row, from the cache or the
    /// source.
    fn block(&self, mover: usize, block: u64) -> Result<Arc<[u8]>, TableError> {
        // Adjacent blocks of a frame, and the first blocks of adjacent frames, have different
        // places in the cache.
        let place = &self.kept[(block as usize).wrapping_add(mover * 7) % KEPT_BLOCKS];
        let lock = || place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((kept_mover, kept_block, bytes)) = &*lock()
            && (*kept_mover, *kept_block) == (mover, block)
        {
            return Ok(Arc::clone(bytes));
        }
        let bytes: Arc<[u8]> = self.read_block(mover, block)?.into();
        *lock() = Some((mover, block, Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// Reads a block and compares it with its checksum.
    fn read_block(&self, mover: usize, block: u64) -> Result<Vec<u8>, TableError> {
        let entry = &self.header.entries[mover - 1];
        let place = entry.block_bytes(block);
        if entry.blocks() == 1 {
            return self.read_frame(entry);
        }
        let bytes = self.read(place.start, (place.end - place.start) as usize)?;
        let checksum = self.read(entry.offset + entry.checksums_at() + 8 * block, 8)?;
        if xxh3_64(&bytes).to_le_bytes() != *checksum {
            return Err(TableError::damaged_part(&self.path, TablePart::Block, place.start));
        }
        Ok(bytes)
    }

    /// Reads a frame of one block, and compares it with its checksum and its digest. A small frame
    /// written over another takes its one checksum along. Larger frames never have equal parts.
    fn read_frame(&self, entry: &FrameEntry) -> Result<Vec<u8>, TableError> {
        let mut section = self.read(entry.offset, entry.section_bytes() as usize)?;
        let block = entry.checksums_at() as usize;
        if !section[block..].starts_with(&xxh3_64(&section[..block]).to_le_bytes()) {
            return Err(TableError::damaged_part(&self.path, TablePart::Block, entry.offset));
        }
        if *blake3::hash(&section).as_bytes() != entry.digest {
            return Err(TableError::damaged_part(&self.path, TablePart::Frame, entry.offset));
        }
        section.truncate(block);
        Ok(section)
    }

    fn read(&self, offset: u64, count: usize) -> Result<Vec<u8>, TableError> {
        let mut bytes = vec![0; count];
        self.source.read_exact_at(&mut bytes, offset).map_err(TableError::io(&self.path))?;
        Ok(bytes)
    }

    /// Bytes of a frame from `start` to `end`, counted from the start of the frame; they span at
    /// most a few blocks.
    fn part(&self, mover: usize, start: u64, end: u64) -> Result<Vec<u8>, TableError> {
        let mut part = Vec::new();
        for block in start / BLOCK_BYTES as u64..end.div_ceil(BLOCK_BYTES as u64) {
            let first = block * BLOCK_BYTES as u64;
            let bytes = self.block(mover, block)?;
            let [from, to] = [start, end].map(|at| at.saturating_sub(first).min(bytes.len() as u64) as usize);
            part.extend_from_slice(&bytes[from..to]);
        }
        Ok(part)
    }

    /// The patch at `offset`.
    fn patch(&self, mover: usize, entry: &FrameEntry, offset: u32) -> Result<Vec<u8>, TableError> {
        let patches = entry.patches_at()..entry.patches_at() + entry.patch_bytes;
        let start = (patches.start + u64::from(offset)).min(patches.end);
        self.part(mover, start, (start + group::MAX_PATCH_BYTES).min(patches.end))
    }
}

impl<S: ReadAt> Layer for ReadAtTable<S> {
    fn key(&self) -> TableKey {
        self.header.key
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let entry = &self.header.entries[mover - 1];
        let (group_at, place) = group_of(entry, mover_rank, other_rank);
        assert!(group_at < entry.patches_at() && u64::from(mover_rank) < entry.rows, "no such ranks");
        let profile = self.block(mover, u64::from(mover_rank) / BLOCK_BYTES as u64)?[mover_rank as usize % BLOCK_BYTES];
        // A group lies within one block, since both sizes are powers of two.
        let block = self.block(mover, group_at / BLOCK_BYTES as u64)?;
        let group = block[group_at as usize % BLOCK_BYTES..].first_chunk().expect("opening checked the entries");
        let residual = match group::patch_offset(group) {
            None => group::residual(group, place),
            Some(offset) => match GroupPatch::read(&self.patch(mover, entry, offset)?, 0) {
                Some(patch) => patch.residual(group, place),
                None => return Err(TableError::damaged_part(&self.path, TablePart::Group, entry.offset + group_at)),
            },
        };
        Ok(residual.wrapping_add(profile))
    }

    fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        let entry = &self.header.entries[mover - 1];
        let offset = entry.offset + group_of(entry, mover_rank, other_rank).0;
        TableError::damaged_part(&self.path, TablePart::Score, offset)
    }
}

impl<S> fmt::Debug for ReadAtTable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadAtTable").field("path", &self.path).field("key", &self.header.key).finish_non_exhaustive()
    }
}
