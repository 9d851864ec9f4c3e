//! Seekable zstd archives of tables, for storage and download: lossless, and about half the size of a table.
//!
//! The scores of a frame, in lexicographic order, are predicted from neighbours; the differences are entropy-coded.
//! docs/archive.md describes the format in full.
//!
//! | module | what it holds |
//! |---|---|
//! | `order` | rows in lexicographic order, their parents, and the division of a frame into chunks |
//! | `predict` | predicting scores |
//! | `chunk` | scores to symbols to a zstd frame, and back |
//! | `container` | header, checksums and seek table |

mod chunk;
mod container;
mod order;
mod predict;

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use self::chunk::Shape;
use self::container::{ChunkEntry, Container};
use self::order::{Grid, RowOrder};
use super::{
    Damage, DirectoryLock, FrameScores, LockError, PackedFrame, Part, RUN_MARGIN, Table, TableError, TableKey,
    TableWriter, check_blocks, checked_frame,
};
use crate::file::Replacement;
use crate::index::{Frame, RowIndex};
use crate::isa::Isa;

/// The side of the chunks that [`pack`] makes.
pub const CHUNK_SIDE: usize = 2048;

/// The sides that chunks can have.
pub const CHUNK_SIDES: RangeInclusive<usize> = 16..=4096;

/// The path of a table's archive in `directory`: the table's path with `.zst` added.
pub fn archive_path(directory: &Path, key: TableKey) -> PathBuf {
    key.path(directory).with_added_extension("zst")
}

/// The description in an archive's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveInfo {
    /// The table it holds.
    pub key: TableKey,
    /// Positions.
    pub positions: u64,
    /// The digest of the table.
    pub digest: [u8; 32],
    /// Bytes of the table's file.
    pub table_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Chunks have at most the square of this many positions.
    pub chunk_side: usize,
    /// Chunks.
    pub chunks: u32,
}

impl ArchiveInfo {
    /// Bits of the archive per position.
    pub fn bits_per_position(&self) -> f64 {
        self.archive_bytes as f64 * 8.0 / self.positions as f64
    }
}

/// Reads the description of an archive. Header, checksums and seek table are checked, chunks are not.
///
/// # Errors
/// When it cannot be read, or is damaged or foreign.
pub fn read_info(archive: &Path) -> Result<ArchiveInfo, TableError> {
    Ok(Container::open(archive)?.info)
}

/// Packs a table into the file `archive`, on all threads of the current pool.
///
/// `progress` is called with the number of positions packed since the last call. The bytes depend only on the table. An
/// existing file is replaced once the archive is complete.
///
/// # Errors
/// When the table is damaged, or the archive cannot be written.
pub fn pack(table: &Table, archive: &Path, progress: &(dyn Fn(u64) + Sync)) -> Result<ArchiveInfo, TableError> {
    pack_in_chunks(table, archive, CHUNK_SIDE, progress)
}

/// The same as [`pack`] with chunks of at most `side` x `side` positions: smaller chunks are faster to read, larger
/// ones compress better.
///
/// # Errors
/// As [`pack`].
///
/// # Panics
/// When `side` is not one of [`CHUNK_SIDES`].
pub fn pack_in_chunks(
    table: &Table,
    archive: &Path,
    side: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<ArchiveInfo, TableError> {
    assert!(CHUNK_SIDES.contains(&side), "chunks of {side} x {side} positions");
    write_archive(table, archive, side, progress)?;
    read_info(archive)
}

fn write_archive(table: &Table, path: &Path, side: usize, progress: &(dyn Fn(u64) + Sync)) -> Result<(), TableError> {
    let full = || TableError::writing(path, "nothing of this archive is kept");
    let mut file = Replacement::begin(path).map_err(full())?;
    let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(full());
    let header = container::header_frame(table, side);
    write(&header)?;
    let mut sizes = vec![(header.len() as u32, 0)];
    let mut checksums = Vec::new();
    let index = RowIndex::new(table.key().pits, table.key().seeds);
    for frame in table.key().frames() {
        for (bytes, content_bytes) in pack_frame(table, &index, frame, side, progress)? {
            write(&bytes)?;
            sizes.push((bytes.len() as u32, content_bytes));
            checksums.push(xxh3_64(&bytes));
        }
    }
    let checksum_frame = container::checksum_frame(&checksums);
    write(&checksum_frame)?;
    sizes.push((checksum_frame.len() as u32, 0));
    write(&container::seek_table_frame(&sizes))?;
    file.finish().map_err(full())
}

/// The chunks of a frame, each with the number of bytes of its content.
fn pack_frame(
    table: &Table,
    index: &RowIndex,
    frame: Frame,
    side: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<(Vec<u8>, u32)>, TableError> {
    let entry = &table.header().entries[frame.mover - 1];
    let packed = checked_frame(table, frame.mover)?;
    // A modified table could be packed, but never be unpacked. The list of checksums has to be right, too.
    let digest = blake3::hash(table.section(entry));
    if *digest.as_bytes() != entry.digest {
        return Err(TableError::damaged_part(table.path(), Part::Frame, entry.offset));
    }
    let (others, movers) = (RowOrder::new(index, frame.other), RowOrder::new(index, frame.mover));
    let scores = lexicographic_scores(table, packed, &others, &movers)?;
    let grid = Grid::new(frame, side);
    let chunks = (0..grid.chunks()).into_par_iter().map(|number| {
        let (other_part, mover_part) = grid.chunk(number);
        let mut chunk = Vec::with_capacity(grid.positions(number));
        for place in other_part.clone() {
            chunk.extend_from_slice(&scores[place * movers.len()..][mover_part.clone()]);
        }
        let shape = Shape { others: others.parents(other_part), movers: movers.parents(mover_part) };
        let packed = chunk::encode(&shape, &mut chunk);
        progress(shape.positions() as u64);
        packed
    });
    chunks.collect::<Result<_, _>>().map_err(TableError::io(table.path()))
}

/// The scores of a frame: for each other row, one for each mover's row, both in lexicographic order.
fn lexicographic_scores(
    table: &Table,
    packed: FrameScores<'_>,
    others: &RowOrder,
    movers: &RowOrder,
) -> Result<Vec<u8>, TableError> {
    let isa = Isa::detect();
    let count = movers.len();
    let mut scores = zeroed(table.path(), packed.frame().positions())?;
    scores
        .par_chunks_mut(count)
        .zip(others.ranks())
        .try_for_each_init(
            || vec![0; RUN_MARGIN + count + RUN_MARGIN],
            |run, (scores, &other)| {
                packed.unpack_run(isa, (0, other), count, run, RUN_MARGIN)?;
                let run = &run[RUN_MARGIN..];
                scores.iter_mut().zip(movers.ranks()).for_each(|(score, &rank)| *score = run[rank as usize]);
                Ok(())
            },
        )
        .map_err(|group| table.damaged_group(group))?;
    Ok(scores)
}

/// A byte for each position, or an out-of-memory error that names the file at `path`.
fn zeroed(path: &Path, positions: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(positions as usize).map_err(|_| TableError::out_of_memory(path, positions))?;
    bytes.resize(positions as usize, 0);
    Ok(bytes)
}

/// Unpacks an archive to the table it was made from, in `directory`; returns the path of the table.
///
/// `progress` is called with the number of positions unpacked since the last call. The directory is locked meanwhile. A
/// [`TableWriter`] writes the table: finished frames of an interrupted unpacking or build are kept. A valid table with
/// the archive's digest is left unchanged; any other table of that name is replaced.
///
/// # Errors
/// When the archive is damaged or foreign, the directory is in use, or reading or writing fails. A table whose digest
/// is not that of the packed one is never left behind.
pub fn unpack(archive: &Path, directory: &Path, progress: &(dyn Fn(u64) + Sync)) -> Result<PathBuf, TableError> {
    let mut container = Container::open(archive)?;
    let (key, digest) = (container.info.key, container.info.digest);
    let _lock = DirectoryLock::take(directory).map_err(in_use)?;
    if Table::open_key(directory, key)
        .is_ok_and(|table| table.header().digest == digest && check_blocks(&table).is_ok())
    {
        progress(container.info.positions);
        return Ok(key.path(directory));
    }
    let (mut writer, kept) = unpack_frames(archive, &mut container, directory, progress)?;
    if kept && writer.digest() != digest {
        // The frames that an earlier writer left may be the cause.
        writer.discard()?;
        writer = unpack_frames(archive, &mut container, directory, &|_| {})?.0;
    }
    if writer.digest() != digest {
        writer.discard()?;
        return Err(TableError::damaged_archive(archive, Damage::Digest));
    }
    writer.finish()
}

/// Unpacks the frames that an earlier writer did not leave; also returns whether it left any.
fn unpack_frames(
    archive: &Path,
    container: &mut Container,
    directory: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(TableWriter, bool), TableError> {
    let key = container.info.key;
    let mut writer = TableWriter::open(directory, key)?;
    let index = RowIndex::new(key.pits, key.seeds);
    let written = writer.written();
    let mut first = 0;
    for (number, frame) in key.frames().enumerate() {
        let grid = Grid::new(frame, container.info.chunk_side);
        let chunks = first..first + grid.chunks();
        first = chunks.end;
        if number < written {
            progress(frame.positions());
            continue;
        }
        let chunks = container.chunks[chunks].to_vec();
        let scores = unpack_frame(archive, container, &index, frame, &grid, &chunks, progress)?;
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores))?;
    }
    Ok((writer, written > 0))
}

/// The scores of a frame, in the order of their indices.
fn unpack_frame(
    archive: &Path,
    container: &mut Container,
    index: &RowIndex,
    frame: Frame,
    grid: &Grid,
    chunks: &[ChunkEntry],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<u8>, TableError> {
    let start = chunks[0].offset;
    let bytes = chunks.iter().map(|chunk| chunk.bytes as usize).sum();
    let packed = container::read_at(&mut container.file, start, bytes).map_err(TableError::io(archive))?;
    let (others, movers) = (RowOrder::new(index, frame.other), RowOrder::new(index, frame.mover));
    let unpacked: Vec<Vec<u8>> = chunks
        .par_iter()
        .enumerate()
        .map(|(number, entry)| {
            let (other_part, mover_part) = grid.chunk(number);
            let shape = Shape { others: others.parents(other_part), movers: movers.parents(mover_part) };
            let mut scores = zeroed(archive, shape.positions() as u64)?;
            let packed = &packed[(entry.offset - start) as usize..][..entry.bytes as usize];
            let max_score = (frame.mover + frame.other) as u8;
            let sound = xxh3_64(packed) == entry.checksum;
            let decode = || chunk::decode(&shape, packed, entry.content_bytes as usize, max_score, &mut scores);
            sound.then(decode).flatten().ok_or_else(|| {
                TableError::damaged_archive(archive, Damage::Part { part: Part::Chunk, offset: entry.offset })
            })?;
            progress(shape.positions() as u64);
            Ok(scores)
        })
        .collect::<Result<_, TableError>>()?;
    drop(packed);

    let mut places = vec![0; others.len()];
    for (place, &rank) in others.ranks().iter().enumerate() {
        places[rank as usize] = place;
    }
    let mut scores = zeroed(archive, frame.positions())?;
    scores.par_chunks_mut(movers.len()).zip(places).for_each(|(scores, place)| {
        let (chunks, row) = grid.run(place);
        for number in chunks {
            let part = grid.chunk(number).1;
            let run = &unpacked[number][row * part.len()..];
            for (&score, &rank) in run.iter().zip(&movers.ranks()[part]) {
                scores[rank as usize] = score;
            }
        }
    });
    Ok(scores)
}

/// The error for a directory that another process writes to.
fn in_use(error: LockError) -> TableError {
    match error {
        LockError::Held { path, holder } => TableError::InUse { directory: path, holder },
        LockError::Io { path, source } => TableError::Io { path, source },
    }
}
