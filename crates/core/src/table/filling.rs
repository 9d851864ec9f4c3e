use std::io;
#[cfg(not(any(unix, windows)))]
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::blocks::Blocks;
use super::error::{TableError, TablePart};
use super::read_at::ReadAt;
use super::section::Section;
use super::source::Origin;

/// Checksums are read in pieces of this many bytes.
const CHECKSUM_PIECE: u64 = 4096;

/// Blocks that are read from the origin at a time: 32 MiB.
const BATCH_BLOCKS: usize = 512;

/// A block, with the seeds in the mover's row of its frame.
pub(super) type Place = (usize, u64);

/// A block that the file lacks.
struct Lacking<'a> {
    place: Place,
    section: &'a Section,
    /// The checksum in the file; 0 if the file lacks it, too.
    checksum: u64,
}

impl Lacking<'_> {
    /// Bytes of the block in the file.
    fn block(&self) -> Range<u64> {
        self.section.block_bytes(self.place.1)
    }

    /// Bytes of the piece of checksums that has the block's.
    fn checksums(&self) -> Range<u64> {
        let start = self.section.offset + self.section.data;
        let from = start + (self.section.checksum_at(self.place.1) - start) / CHECKSUM_PIECE * CHECKSUM_PIECE;
        from..(from + CHECKSUM_PIECE).min(self.section.end())
    }
}

impl Blocks {
    /// Makes these blocks, and those of the heads below them, valid in a file that is filled on demand, and marks
    /// them. Blocks that the file lacks are read from its origin.
    ///
    /// # Errors
    /// When they cannot be read, or do not match their checksums even if they are read again.
    pub(super) fn fill(&self, origin: &Origin, places: impl IntoIterator<Item = Place>) -> Result<(), TableError> {
        let with_heads = places.into_iter().flat_map(|(mover, block)| {
            let heads = self.sections()[mover - 1].blocks_before(block);
            heads.chain([block]).map(move |block| (mover, block))
        });
        let mut places: Vec<Place> =
            with_heads.filter(|&(mover, block)| !self.is_block_checked(mover, block)).collect();
        places.sort_unstable();
        places.dedup();
        for batch in places.chunks(BATCH_BLOCKS) {
            let mut lacking = Vec::new();
            for &place in batch {
                lacking.extend(self.lacking(origin, place)?);
            }
            let damaged = self.read_lacking(origin, lacking, false)?;
            if let Some(first) = self.read_lacking(origin, damaged, true)?.first() {
                let part = if first.section.blocks() == 1 { TablePart::Frame } else { TablePart::Block };
                return Err(TableError::damaged_part(self.path(), part, first.block().start));
            }
        }
        Ok(())
    }

    /// Marks the block if the file holds it; returns it if the file lacks it.
    fn lacking(&self, origin: &Origin, place: Place) -> Result<Option<Lacking<'_>>, TableError> {
        let (mover, block) = place;
        let section = &self.sections()[mover - 1];
        let read = |range: Range<u64>| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            ReadAt::read_exact_at(&origin.file, &mut bytes, range.start).map_err(TableError::io(self.path()))?;
            Ok::<_, TableError>(bytes)
        };
        let at = section.checksum_at(block);
        let checksum = u64::from_le_bytes(*read(at..at + 8)?.first_chunk().expect("8 bytes"));
        let lacking = Lacking { place, section, checksum };
        if checksum == 0 {
            return Ok(Some(lacking));
        }
        let bytes = read(lacking.block())?;
        let checksums = if section.blocks() == 1 { read(lacking.checksums())? } else { Vec::new() };
        if is_valid(section, checksum, &bytes, &checksums) {
            self.mark(mover, block);
            return Ok(None);
        }
        Ok(Some(lacking))
    }

    /// Reads blocks from the origin into the file and marks them. Returns those that do not match their checksums.
    /// With `again`, their checksums are read again, too.
    fn read_lacking<'a>(
        &self,
        origin: &Origin,
        lacking: Vec<Lacking<'a>>,
        again: bool,
    ) -> Result<Vec<Lacking<'a>>, TableError> {
        if lacking.is_empty() {
            return Ok(lacking);
        }
        let wanted = |lacking: &&Lacking| again || lacking.checksum == 0 || lacking.section.blocks() == 1;
        let mut pieces: Vec<Range<u64>> = lacking.iter().filter(wanted).map(Lacking::checksums).collect();
        pieces.dedup();
        let parts: Vec<Range<u64>> = lacking.iter().map(Lacking::block).chain(pieces.iter().cloned()).collect();
        let mut blocks = origin.read(&parts, again)?;
        let checksums = blocks.split_off(lacking.len());
        let write = |range: &Range<u64>, bytes: &[u8]| {
            write_all_at(origin, bytes, range.start).map_err(TableError::writing(self.path(), "blocks read are kept"))
        };
        for (piece, bytes) in pieces.iter().zip(&checksums) {
            write(piece, bytes)?;
        }
        let mut damaged = Vec::new();
        for (lacking, bytes) in lacking.into_iter().zip(&blocks) {
            let (mover, block) = lacking.place;
            let piece = pieces.iter().position(|piece| *piece == lacking.checksums()).map(|index| &checksums[index]);
            let read = piece.map(|piece| {
                let at = (lacking.section.checksum_at(block) - lacking.checksums().start) as usize;
                u64::from_le_bytes(*piece[at..].first_chunk().expect("checksums do not span pieces"))
            });
            let (checksum, piece) = (read.unwrap_or(lacking.checksum), piece.map_or(&[][..], |piece| piece));
            // Another process may have read and marked the block. So only valid bytes may be written.
            if is_valid(lacking.section, checksum, bytes, piece) {
                write(&lacking.block(), bytes)?;
                self.mark(mover, block);
            } else {
                damaged.push(lacking);
            }
        }
        Ok(damaged)
    }
}

/// Returns true if a block has this checksum. `checksums` are those of a section with one block, which must also match
/// its digest.
fn is_valid(section: &Section, checksum: u64, block: &[u8], checksums: &[u8]) -> bool {
    if xxh3_64(block) != checksum ^ section.tag {
        return false;
    }
    let digest = || *blake3::Hasher::new().update(block).update(checksums).finalize().as_bytes();
    section.blocks() > 1 || digest() == section.digest
}

#[cfg(unix)]
fn write_all_at(origin: &Origin, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(&origin.file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(origin: &Origin, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(&origin.file, bytes, offset)?;
        (bytes, offset) = (&bytes[written..], offset + written as u64);
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn write_all_at(origin: &Origin, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut file = &origin.file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
