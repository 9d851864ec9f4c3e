use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use kalah_core::cancel::Cancel;
use kalah_core::index::{Frame, RowIndex};
use kalah_core::table::format::{RawEntry, table_digest};
use xxhash_rust::xxh3::xxh3_64;

use super::compress::{Source, encode_frame};
use super::container::{self, ChunkEntry, header_frame};
use super::info::{CHUNK_SIDE, archive_path};
use super::order::Grid;
use super::reader::FrameChunks;
use crate::file;
use crate::progress::Pulse;
use crate::table::join::remove_if_there;
use crate::table::{Damage, DamagedGroup, PackedFrame, TableError, TableKey, TablePart};

/// A clause that states what is kept if an archive cannot be written.
const KEPT: &str = "finished frames are kept";

/// First bytes of the list of finished frames.
const MAGIC: [u8; 8] = *b"KALAHAF\n";

/// A chunk of a finished frame in the list.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawChunk {
    bytes: u32,
    content_bytes: u32,
    checksum: u64,
}

impl RawChunk {
    fn new(chunk: &ChunkEntry) -> RawChunk {
        RawChunk {
            bytes: chunk.bytes.to_le(),
            content_bytes: chunk.content_bytes.to_le(),
            checksum: chunk.checksum.to_le(),
        }
    }
}

/// Writes an archive frame by frame, without its table.
///
/// The frames come in the order of [`TableKey::frames`]. The archive has a temporary name until it
/// is complete. Beside it is a list of the finished frames, with the checksums of their chunks, so
/// that another writer can continue after any stop. The archive equals that of [`super::compress()`],
/// byte for byte.
pub(crate) struct ArchiveWriter {
    key: TableKey,
    path: PathBuf,
    partial: PathBuf,
    file: File,
    list_path: PathBuf,
    list: File,
    index: RowIndex,
    /// The frames as they would be in the table, by seeds in the mover's row, from 1.
    entries: Vec<RawEntry>,
    chunks: Vec<ChunkEntry>,
    /// Number of frames written, in order.
    written: usize,
    /// Where the next chunk begins in the archive.
    at: u64,
    /// Where the next frame would begin in the table.
    end: u64,
}

impl ArchiveWriter {
    /// Begins the archive of `key` in `directory`, or resumes an unfinished one.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn open(directory: &Path, key: TableKey) -> Result<ArchiveWriter, TableError> {
        let path = archive_path(directory, key);
        let [partial, list_path] = [".partial", ".frames.partial"].map(|end| file::beside(&path, end));
        let open = |path: &Path| {
            let options = &mut OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            file::open_with(path, options).map_err(TableError::writing(path, KEPT))
        };
        let (file, list) = (open(&partial)?, open(&list_path)?);
        let mut writer = ArchiveWriter {
            key,
            path,
            file,
            list,
            partial,
            list_path,
            index: RowIndex::new(key.pits, key.seeds).expect("pits and seeds of tables"),
            entries: vec![Zeroable::zeroed(); key.seeds - 1],
            chunks: Vec::new(),
            written: 0,
            at: header_frame(key, 0, [0; 32], CHUNK_SIDE).len() as u64,
            end: key.prefix_bytes(),
        };
        writer.resume().map_err(TableError::writing(&writer.partial, KEPT))?;
        Ok(writer)
    }

    /// Keeps the finished frames of an unfinished archive, and truncates both files after them.
    fn resume(&mut self) -> io::Result<()> {
        let mut list = Vec::new();
        (&self.list).read_to_end(&mut list)?;
        let head = self.list_head();
        let mut kept = head.len();
        if list.starts_with(&head) {
            for frame in self.key.frames() {
                let Some(record) = list.get(kept..kept + self.record_bytes(frame)) else { break };
                let Some((entry, chunks)) = read_record(record, self.at) else { break };
                if entry.entry().offset != self.end || !self.are_written(&chunks)? {
                    break;
                }
                kept += record.len();
                self.add(frame, entry, &chunks);
            }
        } else {
            self.list.set_len(0)?;
            self.list.seek(SeekFrom::Start(0))?;
            self.list.write_all(&head)?;
        }
        self.list.set_len(kept as u64)?;
        self.list.seek(SeekFrom::Start(kept as u64))?;
        self.file.set_len(self.at)
    }

    /// First bytes of the list.
    fn list_head(&self) -> Vec<u8> {
        let TableKey { rules, pits, seeds } = self.key;
        [&MAGIC[..], &[1, rules.code(), pits as u8, seeds as u8], &(CHUNK_SIDE as u32).to_le_bytes()].concat()
    }

    /// Bytes of a frame in the list: its entry, its chunks, and a checksum of both.
    fn record_bytes(&self, frame: Frame) -> usize {
        size_of::<RawEntry>() + Grid::new(frame, CHUNK_SIDE).chunks() * size_of::<RawChunk>() + size_of::<u64>()
    }

    /// Returns true if the archive has these chunks, undamaged, where the next ones belong.
    fn are_written(&mut self, chunks: &[ChunkEntry]) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        for chunk in chunks {
            if length.checked_sub(chunk.offset).is_none_or(|rest| rest < u64::from(chunk.bytes))
                || xxh3_64(&container::read_at(&mut self.file, chunk.offset, chunk.bytes as usize)?) != chunk.checksum
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, frame: Frame, entry: RawEntry, chunks: &[ChunkEntry]) {
        self.at = chunks.last().map_or(self.at, ChunkEntry::end);
        self.end = entry.entry().end();
        self.entries[frame.mover - 1] = entry;
        self.chunks.extend_from_slice(chunks);
        self.written += 1;
    }

    /// Frames still to be written, in order.
    pub fn missing(&self) -> Vec<Frame> {
        self.key.frames().skip(self.written).collect()
    }

    /// Writes the next frame. The positions are not counted.
    ///
    /// # Errors
    /// When writing fails, or `cancel` is cancelled. The frames before are safe.
    ///
    /// # Panics
    /// When it is not the first of [`ArchiveWriter::missing`].
    pub fn write(&mut self, packed: &PackedFrame, cancel: &Cancel) -> Result<(), TableError> {
        let frame = packed.frame;
        assert_eq!(self.key.frames().nth(self.written), Some(frame), "frames are written in their order");
        let failed = || TableError::writing(&self.partial, KEPT);
        self.file.seek(SeekFrom::Start(self.at)).map_err(failed())?;
        let damaged = |_: DamagedGroup| {
            TableError::damaged_archive(&self.path, Damage::Part { part: TablePart::Group, offset: self.at })
        };
        let source = Source { path: &self.path, damaged: &damaged };
        let (mut file, uncounted) = (&self.file, Pulse::new(cancel.clone()));
        let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(failed());
        let chunks = encode_frame(&source, &self.index, packed.scores(), CHUNK_SIDE, &uncounted, self.at, &mut write)?;
        cancel.check()?;
        self.check(packed, &chunks, &damaged)?;
        let entry = RawEntry::new(&packed.entry(self.end));
        let raw: Vec<RawChunk> = chunks.iter().map(RawChunk::new).collect();
        let mut record = [bytemuck::bytes_of(&entry), bytemuck::cast_slice(&raw)].concat();
        record.extend(xxh3_64(&record).to_le_bytes());
        (&self.list).write_all(&record).map_err(TableError::writing(&self.list_path, KEPT))?;
        self.add(frame, entry, &chunks);
        Ok(())
    }

    /// Checks that the written chunks of a frame decompress to its scores.
    fn check(
        &self,
        packed: &PackedFrame,
        entries: &[ChunkEntry],
        damaged: &dyn Fn(DamagedGroup) -> TableError,
    ) -> Result<(), TableError> {
        let (path, index, frame) = (&self.path, &self.index, packed.frame);
        let chunks = FrameChunks { path, index, frame, side: CHUNK_SIDE, entries };
        let mut file = self.file.try_clone().map_err(TableError::io(&self.partial))?;
        match chunks.decompress_if_same(&mut file, packed.scores(), damaged)? {
            Some(_) => Ok(()),
            None => Err(TableError::damaged_archive(&self.path, Damage::Digest)),
        }
    }

    /// Digest of the table, once no frame is missing.
    pub fn digest(&self) -> [u8; 32] {
        table_digest(self.key, bytemuck::cast_slice(&self.entries))
    }

    /// Completes the archive and gives it its name.
    ///
    /// # Errors
    /// When writing fails. Nothing is lost then.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(mut self) -> Result<PathBuf, TableError> {
        assert!(self.missing().is_empty(), "a frame of {} is missing", self.key);
        self.complete().map_err(TableError::writing(&self.partial, KEPT))?;
        std::fs::rename(&self.partial, &self.path).map_err(TableError::writing(&self.partial, KEPT))?;
        std::fs::remove_file(&self.list_path).map_err(TableError::io(&self.list_path))?;
        Ok(self.path)
    }

    fn complete(&mut self) -> io::Result<()> {
        let digest = self.digest();
        let header = header_frame(self.key, self.end, digest, CHUNK_SIDE);
        self.file.set_len(self.at)?;
        self.file.seek(SeekFrom::Start(self.at))?;
        self.file.write_all(&container::trailer(header.len(), &self.chunks))?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header)?;
        self.file.sync_all()
    }
}

/// Removes the files of an unfinished archive of `key` in `directory`.
///
/// # Errors
/// When a file cannot be removed.
pub(crate) fn remove_unfinished(directory: &Path, key: TableKey) -> Result<(), TableError> {
    for end in [".partial", ".frames.partial"] {
        remove_if_there(&file::beside(&archive_path(directory, key), end))?;
    }
    Ok(())
}

/// Entry and chunks of a frame in the list; `None` if they are damaged. The first chunk begins at
/// `offset`.
fn read_record(record: &[u8], mut offset: u64) -> Option<(RawEntry, Vec<ChunkEntry>)> {
    let (rest, checksum) = record.split_last_chunk::<8>()?;
    if xxh3_64(rest) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let (entry, chunks) = rest.split_at_checked(size_of::<RawEntry>())?;
    let chunks = chunks.chunks_exact(size_of::<RawChunk>()).map(|chunk| {
        let RawChunk { bytes, content_bytes, checksum } = bytemuck::pod_read_unaligned(chunk);
        let [bytes, content_bytes] = [bytes, content_bytes].map(u32::from_le);
        let entry = ChunkEntry { offset, bytes, content_bytes, checksum: u64::from_le(checksum) };
        offset += u64::from(bytes);
        entry
    });
    Some((bytemuck::pod_read_unaligned(entry), chunks.collect()))
}
