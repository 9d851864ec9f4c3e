use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah_base::file::Replacement;
use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::header::Kind;
use kalah_core::index::{Frame, RowIndex};
use kalah_core::isa::Isa;
use kalah_core::source::LocalFile;
use kalah_core::table::format::{TableHeader, prefix};
use kalah_core::table::{Damage, FrameScores, RUN_MARGIN, Table, TableError, TableKey};
use rayon::prelude::*;

use super::chunk::{self, Shape, zeroed};
use super::container::{Archive, ArchiveEntry, ArchiveHeader, ArchiveInfo, CHUNK_SIDE, CHUNK_SIDES};
use super::decompress::{ArchiveReader, PROGRAM_BYTES, batch, decompress_frame_memory, scores_and_chunks};
use super::order::{Grid, RowOrder};
use crate::table::digest::seal;
use crate::table::{PackedFrame, frame_in_parallel, unless_other};

/// Bytes per position of a chunk waiting to be written.
const CHUNK_BYTES: u64 = 1;

/// Bytes per position for encoding a chunk: its scores, their contexts and residuals, symbols and
/// streams.
const WORK_BYTES: u64 = 10;

/// Maximum bytes of memory that [`compress()`] takes for a table on `threads` threads, page cache
/// excluded. It holds a byte a position of the largest frame, and that frame as packed in the
/// table.
pub fn compress_memory(key: TableKey, threads: usize) -> u64 {
    // A position takes four bits at most, but for rare escapes.
    let chunks = |frame: Frame| frame.positions() / 2;
    let encode = |frame| scores_and_chunks(frame, CHUNK_SIDE, threads, CHUNK_BYTES, WORK_BYTES) + chunks(frame);
    let check = |frame| decompress_frame_memory(frame, CHUNK_SIDE, threads) + PackedFrame::most_bytes(frame);
    key.frames().map(|frame| encode(frame).max(check(frame))).max().unwrap_or(0) + PROGRAM_BYTES
}

/// Compresses a table into the file `archive`, on all threads of the current pool.
///
/// `pulse` counts the positions compressed. The bytes depend only on the table. An existing file is
/// replaced once the archive is complete. It is decompressed again from the written bytes, and compared with the table.
///
/// # Errors
/// When the table is damaged, or the archive cannot be written or does not restore the table;
/// [`TableError::Stopped`] when `pulse` was stopped early. Nothing of the archive is left then.
pub fn compress(table: &Table, archive: impl AsRef<Path>, pulse: &Pulse) -> Result<ArchiveInfo, TableError> {
    compress_in_chunks(table, archive, CHUNK_SIDE, pulse)
}

/// The same as [`compress`] with chunks of at most `side` x `side` positions. Smaller chunks are faster
/// to read, larger ones compress better.
///
/// # Errors
/// As [`compress`].
///
/// # Panics
/// When `side` is not a power of two in `CHUNK_SIDES`.
pub fn compress_in_chunks(
    table: &Table,
    archive: impl AsRef<Path>,
    side: usize,
    pulse: &Pulse,
) -> Result<ArchiveInfo, TableError> {
    assert!(CHUNK_SIDES.contains(&side) && side.is_power_of_two(), "chunks of {side} x {side} positions");
    let path = archive.as_ref();
    let mut file = Replacement::begin(path).map_err(TableError::io(path))?;
    let &TableHeader { key, digest, .. } = table.header();
    let index = RowIndex::new(key.pits, key.seeds).expect("pits and seeds of tables");
    let (mut entries, mut at) = (Vec::new(), ArchiveHeader::prefix_bytes(key, key.seeds - 1) as u64);
    file.seek(SeekFrom::Start(at)).map_err(TableError::io(path))?;
    for frame in key.frames() {
        let (mut bytes, lengths) = compress_frame(table, &index, frame, side, pulse)?;
        let (chunk_bytes, chunks) = (bytes.len() as u64, lengths.len() as u64);
        bytes.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
        let digest = seal(&mut bytes, 0);
        file.write_all(&bytes).map_err(TableError::io(path))?;
        let table_bytes = table.header().entries[frame.mover - 1].section().bytes();
        let entry = ArchiveEntry { offset: at, chunk_bytes, chunks, table_bytes, digest };
        at += bytes.len() as u64;
        entries.push((frame.mover, entry));
    }
    entries.sort_unstable_by_key(|&(mover, _)| mover);
    let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
    let prefix = prefix(Kind::Archive, key, side.ilog2() as u8, digest, &[], &entries);
    file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&prefix)).map_err(TableError::io(path))?;
    let written = file.reopen().and_then(|file| LocalFile::of(path, file)).map_err(TableError::io(path))?;
    let reader = ArchiveReader::of(Archive::of(Kind::Archive, Box::new(written))?);
    reader.check(&Pulse::new(pulse.cancel.clone())).map_err(|error| match error {
        // Scores can be packed in several ways; unpacking makes the usual one.
        TableError::Damaged { damage: Damage::Digest, .. } => {
            table.blocks().damaged_part("packing of a frame", key.prefix_bytes())
        }
        error => error,
    })?;
    file.finish().map_err(TableError::io(path))?;
    Ok(reader.info().clone())
}

/// Returns true if the file `archive` is the one that [`compress()`] makes of a table: it is complete,
/// and decompresses to the table. The positions are not counted. `false` means that it may be replaced:
/// it does not exist, is damaged, or has the table in chunks of another size.
///
/// # Errors
/// When it holds another table, is of another kind or newer than this program, or cannot be read; there
/// is not enough memory ([`compress_memory`]), or `cancel` is cancelled.
pub fn is_compressed(table: &Table, archive: impl AsRef<Path>, cancel: &Cancel) -> Result<bool, TableError> {
    let archive = archive.as_ref();
    let found = unless_other(archive, ArchiveReader::open(archive), table.path(), |reader| {
        (reader.info().key, reader.info().digest) == (table.key(), table.header().digest)
    })?;
    let Some(reader) = found.filter(|reader| reader.info().chunk_side == CHUNK_SIDE) else { return Ok(false) };
    match reader.check(&Pulse::new(cancel.clone())) {
        Err(error) if error.is_worthless() => Ok(false),
        checked => checked.map(|()| true),
    }
}

/// Returns the chunks of a frame, one after another, and their lengths. `pulse` counts the positions.
fn compress_frame(
    table: &Table,
    index: &RowIndex,
    frame: Frame,
    side: usize,
    pulse: &Pulse,
) -> Result<(Vec<u8>, Vec<u32>), TableError> {
    pulse.check()?;
    let packed = frame_in_parallel(table, frame.mover)?;
    // A modified table could be compressed, but never decompressed.
    table.blocks().check_digest(frame.mover, |_| Ok(()))?;
    let (others, movers) = (RowOrder::new(index, frame.other), RowOrder::new(index, frame.mover));
    let scores = lexicographic_scores(table, packed, &others, &movers)?;
    let grid = Grid::new(frame, side);
    let encode = |number| {
        let (other_part, mover_part) = grid.chunk(number);
        let mut chunk = Vec::with_capacity(grid.positions(number));
        for place in other_part.clone() {
            chunk.extend_from_slice(&scores[place * movers.len()..][mover_part.clone()]);
        }
        let shape = Shape { others: others.parents(other_part), movers: movers.parents(mover_part) };
        let compressed = chunk::encode(&shape, &mut chunk);
        pulse.positions.fetch_add(shape.positions() as u64, Ordering::Relaxed);
        compressed
    };
    let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
    for start in (0..grid.chunks()).step_by(batch()) {
        pulse.check()?;
        let numbers = start..(start + batch()).min(grid.chunks());
        let chunks: Result<Vec<_>, _> = numbers.into_par_iter().map(encode).collect();
        for chunk in chunks.map_err(TableError::io(table.path()))? {
            lengths.push(chunk.len() as u32);
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok((bytes, lengths))
}

/// Scores of a frame: for each other row, one for each mover's row, both in lexicographic order.
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
                packed.unpack_run(isa, 0, other, count, run, RUN_MARGIN)?;
                let run = &run[RUN_MARGIN..];
                scores.iter_mut().zip(movers.ranks()).for_each(|(score, &rank)| *score = run[rank as usize]);
                Ok(())
            },
        )
        .map_err(|group| table.damaged_group(group))?;
    Ok(scores)
}
