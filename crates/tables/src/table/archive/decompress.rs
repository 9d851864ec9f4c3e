use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use kalah_base::file::remove_leftovers;
use kalah_base::progress::Pulse;
use kalah_core::header::Kind;
use kalah_core::index::{Frame, RowIndex};
use kalah_core::isa::Isa;
use kalah_core::table::{Damage, Table, TableError};
use rayon::prelude::*;

use super::chunk::{self, Shape, zeroed};
use super::container::{self, Archive, ArchiveInfo, Chunk};
use super::order::{Grid, RowOrder};
use crate::table::contents::Contents;
use crate::table::piece::temporary;
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

/// Decompresses an archive to its table in the locked directory, and returns the path of the table.
///
/// `pulse` counts the positions decompressed. The table is written under a temporary name. A valid table with the
/// archive's digest is left unchanged, and a damaged one is replaced.
///
/// # Errors
/// When the archive is damaged or foreign, the table's name has another file that may not be
/// replaced, or reading or writing fails. A table whose digest is not that of the compressed one is never left
/// behind. [`TableError::Stopped`] when `pulse` was stopped.
pub fn decompress(archive: impl AsRef<Path>, lock: &DirectoryLock, pulse: &Pulse) -> Result<PathBuf, TableError> {
    let (archive, directory) = (archive.as_ref(), lock.directory());
    let reader = ArchiveReader::open(archive)?;
    let &ArchiveInfo { key, digest, positions, .. } = reader.info();
    let path = key.path(directory);
    let there = unless_other(&path, Table::open(&path), archive, |table| {
        (table.key(), table.header().digest) == (key, digest)
    })?;
    if there.is_some_and(|table| check_in_parallel(table.blocks()).is_ok()) {
        pulse.positions.fetch_add(positions, Ordering::Relaxed);
        return Ok(path);
    }
    remove_leftovers(&path).map_err(TableError::io(&path))?;
    let temporary = temporary(&path)?.into_temp_path();
    let mut writer = TableWriter::open_at(path, temporary.to_path_buf(), Contents::new(key, None))?;
    reader.each_frame(pulse, |packed| writer.write(packed))?;
    if writer.digest() != digest {
        return Err(TableError::damaged(Kind::Archive, archive, Damage::Digest));
    }
    let path = writer.finish()?;
    // It has another name now.
    let _ = temporary.keep();
    Ok(path)
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
    reader.check(pulse)?;
    Ok(reader.info().clone())
}

/// Chunks for each thread that are encoded or decoded together. Few, since all of them are in
/// memory at the same time.
const BATCH: usize = 2;

/// Number of chunks that are encoded or decoded together on the threads of the current pool.
pub(super) fn batch() -> usize {
    BATCH * rayon::current_num_threads()
}

/// Bytes of a frame in memory with the chunks that `threads` threads encode or decode together.
pub(super) fn scores_and_chunks(frame: Frame, side: usize, threads: usize, chunk_bytes: u64, work_bytes: u64) -> u64 {
    let grid = Grid::new(frame, side);
    let (chunks, most) = (grid.chunks() as u64, grid.most_positions() as u64);
    let (batch, threads) = ((BATCH * threads) as u64, threads as u64);
    let rows = frame.mover_rows() as u64 + frame.mirrored().mover_rows() as u64;
    frame.positions() + most * (batch.min(chunks) * chunk_bytes + threads.min(chunks) * work_bytes) + rows * ROW_BYTES
}

/// Bytes for each row of a frame: its place, its parents, and memory for sorting.
const ROW_BYTES: u64 = 64;

/// An open archive, from which single frames are decompressed.
pub(super) struct ArchiveReader {
    file: Archive,
    info: ArchiveInfo,
    index: RowIndex,
}

impl ArchiveReader {
    /// Opens an archive and checks everything except its frames.
    pub(super) fn open(path: &Path) -> Result<ArchiveReader, TableError> {
        container::open(path).map(ArchiveReader::of)
    }

    /// Reads from an open archive.
    pub(super) fn of(file: Archive) -> ArchiveReader {
        let info = ArchiveInfo::new(file.header());
        let index = RowIndex::new(info.key.pits, info.key.seeds).expect("pits and seeds of tables");
        ArchiveReader { file, info, index }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The description of the archive.
    pub(super) fn info(&self) -> &ArchiveInfo {
        &self.info
    }

    /// Decompresses a frame to `scores`, in index order. The frame is compared with its digest first. `pulse` counts
    /// the positions.
    ///
    /// # Panics
    /// When `scores` does not have a byte for each position.
    fn decompress(&self, frame: Frame, scores: &mut [u8], pulse: &Pulse) -> Result<(), TableError> {
        assert_eq!(scores.len() as u64, frame.positions(), "a byte for each position of {frame:?}");
        let (all, blocks, index) = (container::chunks(&self.file, frame)?, self.file.blocks(), &self.index);
        let frame_at = self.file.header().entries[frame.mover - 1].offset;
        let grid = Grid::new(frame, self.info.chunk_side);
        let (others, movers) = (RowOrder::new(index, frame.other), RowOrder::new(index, frame.mover));
        let mut places = vec![0; others.len()];
        for (place, &rank) in others.ranks().iter().enumerate() {
            places[rank as usize] = place;
        }
        let max_score = (frame.mover + frame.other) as u8;
        for start in (0..grid.chunks()).step_by(batch()) {
            let numbers = start..(start + batch()).min(grid.chunks());
            let chunks = &all[numbers.clone()];
            let offset = chunks[0].offset;
            let bytes: u64 = chunks.iter().map(|chunk| u64::from(chunk.bytes)).sum();
            let compressed = blocks.part(frame.mover, offset..offset + bytes)?;
            let decompress = |(number, chunk): (usize, &Chunk)| {
                let (other_part, mover_part) = grid.chunk(number);
                let shape = Shape { others: others.parents(other_part), movers: movers.parents(mover_part) };
                let mut scores = zeroed(self.path(), shape.positions() as u64)?;
                let compressed = &compressed[(chunk.offset - offset) as usize..][..chunk.bytes as usize];
                let decoded = chunk::decode(&shape, compressed, max_score, &mut scores);
                decoded.ok_or_else(|| blocks.damaged_part("chunk", frame_at + chunk.offset))?;
                pulse.positions.fetch_add(shape.positions() as u64, Ordering::Relaxed);
                Ok(scores)
            };
            let decompressed: Vec<Vec<u8>> =
                numbers.clone().into_par_iter().zip(chunks).map(decompress).collect::<Result<_, TableError>>()?;
            // The other rows of these chunks. Those of other chunks are left as they are.
            let rows = grid.chunk(numbers.start).0.start..grid.chunk(numbers.end - 1).0.end;
            scores.par_chunks_mut(movers.len()).zip(&places).filter(|(_, place)| rows.contains(place)).for_each(
                |(scores, &place)| {
                    let (chunks, row) = grid.run(place);
                    for number in chunks.start.max(numbers.start)..chunks.end.min(numbers.end) {
                        let part = grid.chunk(number).1;
                        let run = &decompressed[number - numbers.start][row * part.len()..];
                        for (&score, &rank) in run.iter().zip(&movers.ranks()[part]) {
                            scores[rank as usize] = score;
                        }
                    }
                },
            );
        }
        Ok(())
    }

    /// Decompresses the whole archive, frame by frame, and compares the resulting table with the compressed
    /// one.
    pub(super) fn check(&self, pulse: &Pulse) -> Result<(), TableError> {
        let &ArchiveInfo { key, digest, table_bytes, .. } = self.info();
        let mut contents = Contents::new(key, None);
        self.each_frame(pulse, |packed| {
            contents.add_packed(packed);
            Ok(())
        })?;
        if (contents.end, contents.digest()) != (table_bytes, digest) {
            return Err(self.file.blocks().damaged(Damage::Digest));
        }
        Ok(())
    }

    /// Decompresses all frames, in file order, and packs each as tables do.
    fn each_frame(
        &self,
        pulse: &Pulse,
        mut take: impl FnMut(&PackedFrame) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let largest = self.info.key.frames().map(Frame::positions).max().unwrap_or(0);
        // One buffer for all frames.
        let (mut scores, mut buffer) = (zeroed(self.path(), largest)?, Vec::new());
        for frame in self.info.key.frames() {
            pulse.check()?;
            let scores = &mut scores[..frame.positions() as usize];
            self.decompress(frame, scores, pulse)?;
            let packed = PackedFrame::pack_in(Isa::detect(), frame, scores, buffer);
            take(&packed)?;
            buffer = packed.into_buffer();
        }
        Ok(())
    }
}
