use std::io;
#[cfg(not(any(unix, windows)))]
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::slice;

use xxhash_rust::xxh3::xxh3_64;

use super::blocks::Blocks;
use super::error::{TableError, TablePart};
use super::format::BLOCK_BYTES;
use super::read_at::ReadAt;
use super::section::Section;
use super::source::Origin;
use crate::cancel::Cancel;

/// Files of at most this many bytes are read from their origin as a whole, by one request. A score of a larger one
/// needs as many bytes: its block and the one with the head of its frame.
const SMALL_FILE_BYTES: usize = 2 * BLOCK_BYTES;

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
    /// Returns true if all bytes of the file can be read without its origin: a file on this machine, or one that was
    /// fetched as a whole, and whose frames match their digests. Only then may a search read bytes that it does not
    /// check.
    pub fn is_resident(&self) -> bool {
        self.origin.is_none() || (1..=self.sections().len()).all(|mover| self.has_matched(mover))
    }

    /// Reads these blocks from the origin of a file that is filled on demand, each given by the seeds in the mover's
    /// row of its frame and its number. A small file is read as a whole. Does nothing for other files.
    ///
    /// # Errors
    /// When they cannot be read, or are damaged.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn request(&self, places: impl IntoIterator<Item = Place>) -> Result<(), TableError> {
        match &self.origin {
            Some(origin) if !self.is_checked() => {
                let mut places = places.into_iter().peekable();
                if self.bytes().len() <= SMALL_FILE_BYTES && places.peek().is_some() {
                    return self.fill(origin, self.places());
                }
                self.fill(origin, places)
            }
            _ => Ok(()),
        }
    }

    /// The same as [`Blocks::request`], but reads the blocks once more, past caches, even if the file holds them: they
    /// match their checksums, and are wrong.
    pub(super) fn request_again(&self, places: impl IntoIterator<Item = Place>) -> Result<(), TableError> {
        let Some(origin) = &self.origin else { return Ok(()) };
        for batch in self.with_heads(places, |_| true).chunks(BATCH_BLOCKS) {
            let lacking = |&(mover, block)| self.unread((mover, block));
            self.read_damaged(origin, batch.iter().map(lacking).collect())?;
        }
        Ok(())
    }

    /// All blocks, each with the seeds in the mover's row of its frame.
    fn places(&self) -> impl Iterator<Item = Place> {
        let sections = (1..).zip(self.sections());
        sections.flat_map(|(mover, section)| (0..section.blocks()).map(move |block| (mover, block)))
    }

    /// Reads all blocks of a frame, as [`Blocks::request`] does.
    pub(super) fn request_blocks(&self, mover: usize) -> Result<(), TableError> {
        self.request((0..self.sections()[mover - 1].blocks()).map(|block| (mover, block)))
    }

    /// Reads the whole frame with `mover` seeds in the mover's row from the origin of a file that is filled on demand,
    /// and compares it with its digest the first time. Does nothing for other files.
    ///
    /// # Errors
    /// As [`Blocks::request`].
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn request_frame(&self, mover: usize) -> Result<(), TableError> {
        if self.origin.is_none() || self.has_matched(mover) {
            return Ok(());
        }
        self.check_digest(mover, &Cancel::new(), &|_| ())
    }

    /// Reads the whole file from its origin if it is filled on demand, and compares its frames with their digests.
    ///
    /// # Errors
    /// As [`Blocks::request`].
    pub fn request_all(&self) -> Result<(), TableError> {
        self.request(self.places())?;
        (1..=self.sections().len()).try_for_each(|mover| self.request_frame(mover))
    }

    /// These blocks that `which` selects, and those of the heads below them, in order.
    fn with_heads(&self, places: impl IntoIterator<Item = Place>, which: impl Fn(&Place) -> bool) -> Vec<Place> {
        let with_heads = places.into_iter().flat_map(|(mover, block)| {
            let heads = self.sections()[mover - 1].blocks_before(block);
            heads.chain([block]).map(move |block| (mover, block))
        });
        let mut places: Vec<Place> = with_heads.filter(which).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Makes these blocks, and those of the heads below them, valid in a file that is filled on demand, and marks
    /// them. Blocks that the file lacks are read from its origin.
    ///
    /// # Errors
    /// When they cannot be read, or do not match their checksums even if they are read again.
    fn fill(&self, origin: &Origin, places: impl IntoIterator<Item = Place>) -> Result<(), TableError> {
        let places = self.with_heads(places, |&(mover, block)| !self.is_block_checked(mover, block));
        for batch in places.chunks(BATCH_BLOCKS) {
            let mut lacking = Vec::new();
            for &place in batch {
                lacking.extend(self.lacking(origin, place)?);
            }
            let damaged = self.read_lacking(origin, lacking, false)?;
            self.read_damaged(origin, damaged)?;
        }
        Ok(())
    }

    /// Reads blocks and their checksums from the origin, past caches.
    fn read_damaged(&self, origin: &Origin, damaged: Vec<Lacking<'_>>) -> Result<(), TableError> {
        match self.read_lacking(origin, damaged, true)?.first() {
            Some(first) => {
                let part = if first.section.blocks() == 1 { TablePart::Frame } else { TablePart::Block };
                Err(TableError::damaged_part(self.path(), part, first.block().start))
            }
            None => Ok(()),
        }
    }

    /// Reads a frame that does not match its digest from the origin once more, past caches, and writes what differs to
    /// the file.
    ///
    /// # Errors
    /// When it cannot be read or written, or the origin's does not match either; an error names the file on this
    /// machine if that is at fault.
    pub(super) fn replace_frame(&self, origin: &Origin, mover: usize, cancel: &Cancel) -> Result<(), TableError> {
        const BATCH: usize = BATCH_BLOCKS * BLOCK_BYTES;
        let section = &self.sections()[mover - 1];
        let (mut hasher, mut other) = (blake3::Hasher::new(), Vec::new());
        for start in (section.offset..section.end()).step_by(BATCH) {
            cancel.check()?;
            let piece = start..section.end().min(start + BATCH as u64);
            for bytes in origin.read(slice::from_ref(&piece), true)? {
                hasher.update(&bytes);
                let held = self.bytes()[start as usize..piece.end as usize].chunks(BLOCK_BYTES);
                let blocks = (start..).step_by(BLOCK_BYTES).zip(bytes.chunks(BLOCK_BYTES).zip(held));
                let differ = blocks.filter(|(_, (read, held))| read != held);
                other.extend(differ.map(|(at, (read, _))| (at, read.to_vec())));
            }
        }
        let damaged = |path| TableError::damaged_part(path, TablePart::Frame, section.offset);
        if *hasher.finalize().as_bytes() != section.digest {
            return Err(damaged(self.path()));
        }
        // Only now, since other processes read this file.
        other.iter().try_for_each(|(at, bytes)| write(origin, bytes, *at))?;
        let written = *blake3::hash(self.section_bytes(section)).as_bytes() == section.digest;
        if written { Ok(()) } else { Err(damaged(origin.path())) }
    }

    /// A block whose contents in the file do not count.
    fn unread(&self, place: Place) -> Lacking<'_> {
        Lacking { place, section: &self.sections()[place.0 - 1], checksum: 0 }
    }

    /// Marks the block if the file holds it; returns it if the file lacks it.
    fn lacking(&self, origin: &Origin, place: Place) -> Result<Option<Lacking<'_>>, TableError> {
        let (mover, block) = place;
        let section = &self.sections()[mover - 1];
        let read = |range: Range<u64>| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            ReadAt::read_exact_at(&origin.file, &mut bytes, range.start).map_err(TableError::io(origin.path()))?;
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
        for (piece, bytes) in pieces.iter().zip(&checksums) {
            write(origin, bytes, piece.start)?;
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
                write(origin, bytes, lacking.block().start)?;
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

/// Writes to the file on this machine, which errors name.
fn write(origin: &Origin, bytes: &[u8], offset: u64) -> Result<(), TableError> {
    write_all_at(origin, bytes, offset).map_err(TableError::writing(origin.path(), "blocks read are kept"))
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
