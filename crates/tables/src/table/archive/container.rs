//! The bytes of an archive around its chunks: header, checksums and seek table, each in a skippable
//! zstd frame.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use kalah_base::file;
use kalah_core::game::Rules;
use kalah_core::header::{self, Kind, Start, sealed};
use kalah_core::index::layer_positions;
use kalah_core::table::{Damage, TableError, TableKey, TablePart};
use xxhash_rust::xxh3::xxh3_64;

use super::chunk::content_limit;
use super::info::{ArchiveInfo, CHUNK_SIDES};
use super::order::Grid;

const VERSION: u32 = 1;

/// Magic numbers of the skippable frames. Those of the seek table and of the end of the file are
/// from zstd's seekable format.
const HEADER_FRAME: u32 = 0x184d_2a50;
const CHECKSUM_FRAME: u32 = 0x184d_2a51;
const SEEK_TABLE_FRAME: u32 = 0x184d_2a5e;
const SEEKABLE: u32 = 0x8f92_eab1;

/// Bytes before the content of a skippable frame: magic number and length.
const FRAME_PREFIX_BYTES: usize = 8;

/// Bytes at the end of a seek table: number of frames, descriptor, magic number.
const FOOTER_BYTES: usize = 9;

const SEEK_ENTRY_BYTES: usize = 8;
const HEADER_BYTES: usize = size_of::<RawHeader>();

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    start: Start,
    rules: u8,
    pits: u8,
    seeds: u8,
    reserved: u8,
    chunk_side: u32,
    chunks: u32,
    table_bytes: u64,
    digest: [u8; 32],
    checksum: u64,
}

/// Number of chunks in an archive of `key`; `None` if it exceeds the format.
fn chunks(key: TableKey, side: usize) -> Option<u32> {
    let chunks = key.frames().map(|frame| Grid::new(frame, side).chunks() as u64).sum::<u64>();
    // Header and checksums have entries in the seek table, too, and its length must fit 32 bits.
    (chunks < u64::from(u32::MAX) / SEEK_ENTRY_BYTES as u64 - 16).then_some(chunks as u32)
}

/// First frame of the archive of a table with this length and digest.
///
/// # Panics
/// When `side` is so small that there are more chunks than the format can count.
pub fn header_frame(key: TableKey, table_bytes: u64, digest: [u8; 32], side: usize) -> Vec<u8> {
    let header = RawHeader {
        start: Start::new(Kind::Archive, VERSION),
        rules: key.rules.code(),
        pits: key.pits as u8,
        seeds: key.seeds as u8,
        reserved: 0,
        chunk_side: (side as u32).to_le(),
        chunks: chunks(key, side).expect("chunks of this side are few enough").to_le(),
        table_bytes: table_bytes.to_le(),
        digest,
        checksum: 0,
    };
    skippable(HEADER_FRAME, bytemuck::bytes_of(&sealed(header)))
}

/// The last two frames of an archive whose first frame has `header_bytes` bytes: checksums and seek
/// table.
pub fn trailer(header_bytes: usize, chunks: &[ChunkEntry]) -> Vec<u8> {
    let checksums: Vec<u64> = chunks.iter().map(|chunk| chunk.checksum).collect();
    let checksum_frame = checksum_frame(&checksums);
    let mut sizes = vec![(header_bytes as u32, 0)];
    sizes.extend(chunks.iter().map(|chunk| (chunk.bytes, chunk.content_bytes)));
    sizes.push((checksum_frame.len() as u32, 0));
    [checksum_frame, seek_table_frame(&sizes)].concat()
}

/// Frame after the chunks: their checksums, and a checksum of these.
fn checksum_frame(checksums: &[u64]) -> Vec<u8> {
    let mut content: Vec<u8> = checksums.iter().flat_map(|checksum| checksum.to_le_bytes()).collect();
    content.extend(xxh3_64(&content).to_le_bytes());
    skippable(CHECKSUM_FRAME, &content)
}

/// Last frame of an archive, from the numbers of bytes of its frames and of their content.
fn seek_table_frame(frames: &[(u32, u32)]) -> Vec<u8> {
    let mut content: Vec<u8> =
        frames.iter().flat_map(|(bytes, content)| [bytes.to_le_bytes(), content.to_le_bytes()]).flatten().collect();
    content.extend((frames.len() as u32).to_le_bytes());
    content.push(0);
    content.extend(SEEKABLE.to_le_bytes());
    skippable(SEEK_TABLE_FRAME, &content)
}

fn skippable(magic: u32, content: &[u8]) -> Vec<u8> {
    [&magic.to_le_bytes(), &(content.len() as u32).to_le_bytes(), content].concat()
}

/// A chunk as described by the seek table and the checksums.
#[derive(Clone, Copy)]
pub struct ChunkEntry {
    /// Where its frame begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of its frame.
    pub bytes: u32,
    /// Bytes of the content of its frame.
    pub content_bytes: u32,
    /// XXH3 of its frame.
    pub checksum: u64,
}

impl ChunkEntry {
    /// The entry of a chunk whose frame is at `offset`.
    pub fn new(offset: u64, frame: &[u8], content_bytes: u32) -> ChunkEntry {
        ChunkEntry { offset, bytes: frame.len() as u32, content_bytes, checksum: xxh3_64(frame) }
    }

    /// Where the next chunk begins.
    pub fn end(&self) -> u64 {
        self.offset + u64::from(self.bytes)
    }

    /// Error for damage of this chunk in the archive at `path`.
    pub fn damaged(&self, path: &Path) -> TableError {
        TableError::damaged_archive(path, Damage::Part { part: TablePart::Chunk, offset: self.offset })
    }
}

/// An archive whose header, checksums and seek table are valid. Its chunks follow each other
/// without gaps.
pub struct Container {
    pub file: File,
    pub info: ArchiveInfo,
    pub chunks: Vec<ChunkEntry>,
}

impl Container {
    /// Opens an archive and checks everything except its chunks.
    pub fn open(path: &Path) -> Result<Container, TableError> {
        let mut file = file::open(path).map_err(TableError::io(path))?;
        let archive_bytes = file.metadata().map_err(TableError::io(path))?.len();
        let damaged = |damage| TableError::damaged_archive(path, damage);
        let first = (FRAME_PREFIX_BYTES + HEADER_BYTES).min(archive_bytes as usize);
        let header = read_at(&mut file, 0, first).map_err(TableError::io(path))?;
        let mut info = read_header(&header).map_err(damaged)?;
        info.archive_bytes = archive_bytes;

        // The expected lengths of the last two frames are computed, so damaged lengths are never
        // used.
        let chunks = info.chunks as usize;
        let checksum_bytes = FRAME_PREFIX_BYTES + (chunks + 1) * size_of::<u64>();
        let seek_bytes = FRAME_PREFIX_BYTES + (chunks + 2) * SEEK_ENTRY_BYTES + FOOTER_BYTES;
        let tail_bytes = (checksum_bytes + seek_bytes) as u64;
        let Some(offset) = archive_bytes.checked_sub(tail_bytes).filter(|&offset| offset >= header.len() as u64) else {
            let expected = header.len() as u64 + tail_bytes;
            return Err(damaged(Damage::Length { found: archive_bytes, expected }));
        };
        let tail = read_at(&mut file, offset, tail_bytes as usize).map_err(TableError::io(path))?;
        let (checksums, seek_table) = tail.split_at(checksum_bytes);
        let seek_table_damaged = Damage::Part { part: TablePart::SeekTable, offset: offset + checksum_bytes as u64 };
        let mut chunks = read_seek_table(seek_table, &info, [header.len(), checksum_bytes], offset)
            .ok_or_else(|| damaged(seek_table_damaged))?;
        read_checksums(checksums, &mut chunks)
            .ok_or_else(|| damaged(Damage::Part { part: TablePart::Checksums, offset }))?;
        Ok(Container { file, info, chunks })
    }
}

/// Reads the description of an archive. Header, checksums and seek table are checked, chunks are
/// not.
///
/// # Errors
/// When it cannot be read, or is damaged or foreign.
pub fn read_info(archive: impl AsRef<Path>) -> Result<ArchiveInfo, TableError> {
    let archive = archive.as_ref();
    Ok(Container::open(archive)?.info)
}

/// Reads `bytes` bytes of a file.
pub fn read_at(file: &mut File, offset: u64, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes)?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes as u64).read_to_end(&mut buffer)?;
    if buffer.len() < bytes { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(buffer) }
}

fn read_header(bytes: &[u8]) -> Result<ArchiveInfo, Damage> {
    let prefix = skippable(HEADER_FRAME, &[0; HEADER_BYTES]);
    let header = bytes.strip_prefix(&prefix[..FRAME_PREFIX_BYTES]).ok_or(Damage::Foreign(Kind::Archive))?;
    let raw: RawHeader = header::read(header, Kind::Archive, VERSION)?;
    (|| {
        let rules = Rules::from_code(raw.rules)?;
        let (pits, seeds) = (usize::from(raw.pits), usize::from(raw.seeds));
        let chunk_side = u32::from_le(raw.chunk_side) as usize;
        let key = TableKey { rules, pits, seeds };
        let key = (key.is_possible() && CHUNK_SIDES.contains(&chunk_side)).then_some(key)?;
        let chunks = chunks(key, chunk_side).filter(|&chunks| chunks == u32::from_le(raw.chunks))?;
        Some(ArchiveInfo {
            key,
            positions: layer_positions(pits, seeds),
            digest: raw.digest,
            table_bytes: u64::from_le(raw.table_bytes),
            archive_bytes: 0,
            chunk_side,
            chunks,
        })
    })()
    .ok_or(Damage::Part { part: TablePart::Header, offset: 0 })
}

/// Reads the chunks from a seek table, without checksums; `None` if it does not match the archive.
/// `outer` are the bytes of the first frame and of the last one before the seek table. The last
/// chunk ends at `end`.
fn read_seek_table(bytes: &[u8], info: &ArchiveInfo, outer: [usize; 2], end: u64) -> Option<Vec<ChunkEntry>> {
    let content = bytes.get(FRAME_PREFIX_BYTES..bytes.len().checked_sub(FOOTER_BYTES)?)?;
    let words = content.as_chunks::<4>().0.as_chunks::<2>().0;
    let frames: Vec<(u32, u32)> = words.iter().map(|word| word.map(u32::from_le_bytes).into()).collect();
    // These frames have exactly one correct form.
    if seek_table_frame(&frames) != bytes {
        return None;
    }
    let [first, last] = outer.map(|bytes| (bytes as u32, 0));
    let frames = frames.strip_prefix(&[first])?.strip_suffix(&[last])?;
    let mut offset = outer[0] as u64;
    let grids = info.key.frames().map(|frame| Grid::new(frame, info.chunk_side));
    let positions = grids.flat_map(|grid| (0..grid.chunks()).map(move |number| grid.positions(number)));
    let mut chunks = Vec::with_capacity(frames.len());
    for (&(bytes, content_bytes), positions) in frames.iter().zip(positions) {
        if content_bytes as usize > content_limit(positions) {
            return None;
        }
        chunks.push(ChunkEntry { offset, bytes, content_bytes, checksum: 0 });
        offset += u64::from(bytes);
    }
    (offset == end).then_some(chunks)
}

/// Reads the checksums of the chunks; `None` if their frame is damaged.
fn read_checksums(bytes: &[u8], chunks: &mut [ChunkEntry]) -> Option<()> {
    let content = bytes.get(FRAME_PREFIX_BYTES..bytes.len() - size_of::<u64>())?;
    let checksums: Vec<u64> = content.as_chunks().0.iter().map(|&checksum| u64::from_le_bytes(checksum)).collect();
    for (chunk, &checksum) in chunks.iter_mut().zip(&checksums) {
        chunk.checksum = checksum;
    }
    (checksum_frame(&checksums) == bytes).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::archive::CHUNK_SIDE;

    #[test]
    fn archives_of_all_tables_can_count_their_chunks() {
        for pits in 1..=8 {
            for seeds in 2..=48 {
                let key = TableKey { rules: Rules::Standard, pits, seeds };
                let counted = chunks(key, CHUNK_SIDE).expect("chunks of the usual side are few enough");
                // The minimum, if all chunks were full. No frame has less than one.
                let positions = u128::from(layer_positions(pits, seeds));
                assert!(u128::from(counted) >= positions.div_ceil((CHUNK_SIDE * CHUNK_SIDE) as u128), "{key}");
                // The lengths of chunks with the longest content, and of the list of checksums, fit
                // 32 bits.
                assert!(content_limit(*CHUNK_SIDES.end() * *CHUNK_SIDES.end()) <= u32::MAX as usize);
                assert!(8 * (u64::from(counted) + 1) <= u64::from(u32::MAX), "{key}");
            }
        }
    }
}
