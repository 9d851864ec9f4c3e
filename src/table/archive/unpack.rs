use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::chunk::{self, Shape, zeroed};
use super::container::{self, ChunkEntry, Container};
use super::order::{Grid, RowOrder};
use crate::index::{Frame, RowIndex};
use crate::isa::Isa;
use crate::table::{
    Damage, DirectoryLock, LockError, PackedFrame, Part, Table, TableError, TableWriter, check_in_parallel,
};

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
        .is_ok_and(|table| table.header().digest == digest && check_in_parallel(&table).is_ok())
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
