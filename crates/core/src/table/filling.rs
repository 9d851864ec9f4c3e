//! Files that are not in memory: their blocks are read when they are needed.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::{AHEAD_BLOCKS, Blocks, Place};
use super::error::{Damage, TableError};
use super::format::BLOCK_BYTES;
use super::section::Section;
use crate::file;
use crate::source::{LocalFile, Source, SourceError};

/// Files of at most this many bytes are read from another machine as a whole, by one request. A score of a larger one
/// needs as many bytes: its block and the one with the head of its frame.
const SMALL_FILE_BYTES: u64 = 2 * BLOCK_BYTES as u64;

/// Checksums are read in pieces of this many bytes.
const CHECKSUM_PIECE: u64 = 4096;

/// Blocks that are read at a time: 32 MiB.
const BATCH_BLOCKS: usize = 512;

/// Where bytes are read from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// The file on this machine, if the source has one. It may lack them.
    Here,
    /// The source.
    Source,
    /// The source, past caches on the way.
    Origin,
}

/// A block to be read.
struct Wanted<'a> {
    place: Place,
    section: &'a Section,
    /// The checksum in the file; 0 if it is not known.
    checksum: u64,
    /// The bytes, once they match the checksum.
    bytes: Option<Arc<[u8]>>,
}

impl Wanted<'_> {
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
    /// Returns true if the file is on another machine, so that asking for blocks early saves time.
    pub fn is_remote(&self) -> bool {
        self.source.is_remote()
    }

    /// Reads these blocks of a [remote](Blocks::is_remote) file, each given by the seeds in the mover's row of its
    /// frame and its number. A small file is read as a whole. Does nothing for other files and known blocks.
    pub(super) fn request(&self, places: impl IntoIterator<Item = Place>) -> Result<(), TableError> {
        let Some(source) = self.not_resident().filter(|source| source.is_remote()) else { return Ok(()) };
        let mut places = self.with_heads(places, |&(mover, block)| !self.checked.is_marked(mover, block));
        if source.bytes() <= SMALL_FILE_BYTES && !places.is_empty() {
            places = self.places().collect();
        }
        self.read_all(source, &places)
    }

    /// All bytes, in memory or mapped. Those of a [remote](Blocks::is_remote) file are fetched, and its frames are
    /// compared with their digests.
    ///
    /// # Errors
    /// When they cannot be read, are damaged, or do not fit in memory.
    pub fn whole(&self) -> Result<&[u8], TableError> {
        if let Some(source) = self.not_resident() {
            let _one = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.is_resident() {
                let is_fetched = source.is_remote() && source.local().is_some();
                let _ = self.bytes.set(if is_fetched { self.fetch(source)? } else { self.bytes_of(source)? });
            }
        }
        Ok(self.bytes())
    }

    /// These bytes of the file, which are not compared with anything.
    pub(super) fn bytes_at(&self, part: Range<u64>) -> Result<Cow<'_, [u8]>, TableError> {
        match self.resident() {
            Some(bytes) => Ok(bytes[part.start as usize..part.end as usize].into()),
            None => self.read_one(&*self.source, part).map(Cow::Owned),
        }
    }

    /// Compares the frame with `mover` seeds in the mover's row, checksums included, with its digest, even if that was
    /// done before. Checksums find accidental damage. Only the digest finds bytes forged together with them. `take`
    /// receives all bytes, part by part, before they are compared.
    ///
    /// # Errors
    /// When the frame does not match its digest, or cannot be read; or an error of `take`.
    pub fn check_digest(
        &self,
        mover: usize,
        mut take: impl FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        const PIECE: u64 = AHEAD_BLOCKS * BLOCK_BYTES as u64;
        if self.is_remote() {
            self.whole()?;
        }
        let section = self.section(mover);
        self.read_ahead(mover, 0..AHEAD_BLOCKS);
        let mut hasher = blake3::Hasher::new();
        for start in (section.offset..section.end()).step_by(PIECE as usize) {
            let next = (start - section.offset) / BLOCK_BYTES as u64 + AHEAD_BLOCKS;
            self.read_ahead(mover, next..next + AHEAD_BLOCKS);
            let piece = self.bytes_at(start..section.end().min(start + PIECE))?;
            hasher.update(&piece);
            take(&piece)?;
        }
        if *hasher.finalize().as_bytes() != section.digest {
            return Err(self.damaged_part("frame", section.offset));
        }
        (0..section.blocks()).for_each(|block| self.checked.mark(mover, block));
        Ok(())
    }

    /// A part of the frame with `mover` seeds in the mover's row of a file that is not in memory, counted from the
    /// start of the frame. Its blocks are compared with their checksums the first time. Damage is an error.
    pub fn part(&self, mover: usize, part: Range<u64>) -> Result<Vec<u8>, TableError> {
        Ok(self.parts(mover, &[part])?.pop().unwrap_or_default())
    }

    /// The same for several parts of a frame, which are read together.
    pub(super) fn parts(&self, mover: usize, parts: &[Range<u64>]) -> Result<Vec<Vec<u8>>, TableError> {
        let blocks = |part: &Range<u64>| part.start / BLOCK_BYTES as u64..part.end.div_ceil(BLOCK_BYTES as u64);
        let mut all = parts.iter().flat_map(blocks);
        self.request(all.clone().map(|block| (mover, block)))?;
        if self.source.local().is_some() && all.all(|block| self.checked.is_marked(mover, block)) {
            let start = self.section(mover).offset;
            let parts: Vec<_> = parts.iter().map(|part| start + part.start..start + part.end).collect();
            return self.read(&*self.source, &parts, From::Here);
        }
        let within_blocks = |part: &Range<u64>| {
            let mut bytes = Vec::new();
            for block in blocks(part) {
                let (first, read) = (block * BLOCK_BYTES as u64, self.block(mover, block)?);
                let [from, to] =
                    [part.start, part.end].map(|at| at.saturating_sub(first).min(read.len() as u64) as usize);
                bytes.extend_from_slice(&read[from..to]);
            }
            Ok(bytes)
        };
        parts.iter().map(within_blocks).collect()
    }

    /// A block of a file that is not in memory, which matches its checksum.
    pub(super) fn block(&self, mover: usize, block: u64) -> Result<Arc<[u8]>, TableError> {
        // Adjacent blocks of a frame, and the first blocks of adjacent frames, have different places in the cache.
        let place = (block as usize).wrapping_add(mover * 7) % self.cache.len();
        let lock = || self.cache[place].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached, bytes)) = &*lock()
            && *cached == (mover, block)
        {
            return Ok(Arc::clone(bytes));
        }
        let is_needed = |&place: &Place| place == (mover, block) || !self.checked.is_marked(place.0, place.1);
        // The blocks of the head are below it.
        let read = self.read_blocks(&*self.source, &self.with_heads([(mover, block)], is_needed))?.pop();
        let bytes = read.expect("a block is asked for");
        *lock() = Some(((mover, block), Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// The source of a file that is not in memory; `None` if it is.
    fn not_resident(&self) -> Option<&dyn Source> {
        if self.is_resident() { None } else { Some(&*self.source) }
    }

    /// All blocks, each with the seeds in the mover's row of its frame.
    fn places(&self) -> impl Iterator<Item = Place> {
        let sections = (1..).zip(self.sections());
        sections.flat_map(|(mover, section)| (0..section.blocks()).map(move |block| (mover, block)))
    }

    /// These blocks, and those of the heads below them, that `which` selects, in order.
    fn with_heads(&self, places: impl IntoIterator<Item = Place>, which: impl Fn(&Place) -> bool) -> Vec<Place> {
        let with_heads = places.into_iter().flat_map(|(mover, block)| {
            let heads = self.section(mover).blocks_before(block);
            heads.chain([block]).map(move |block| (mover, block))
        });
        let mut places: Vec<Place> = with_heads.filter(which).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// All bytes, as they are, of a source whose local file lacks none.
    fn bytes_of(&self, source: &dyn Source) -> Result<Bytes, TableError> {
        source.whole().map_or_else(|| self.read_one(source, 0..source.bytes()).map(Bytes::from), Ok)
    }

    /// Reads all of a remote file, and compares its frames with their digests. Returns the bytes of the local file.
    fn fetch(&self, source: &dyn Source) -> Result<Bytes, TableError> {
        self.read_all(source, &self.places().collect::<Vec<_>>())?;
        let bytes = self.bytes_of(source)?;
        for section in self.sections() {
            let frame = &bytes[section.offset as usize..section.end() as usize];
            if *blake3::hash(frame).as_bytes() != section.digest {
                return Err(self.damaged_part("frame", section.offset));
            }
        }
        self.mark_all();
        Ok(bytes)
    }

    /// Reads blocks as [`Blocks::read_blocks`] does, some at a time. Those of a remote file are in its local file then.
    fn read_all(&self, source: &dyn Source, places: &[Place]) -> Result<(), TableError> {
        places.chunks(BATCH_BLOCKS).try_for_each(|batch| self.read_blocks(source, batch).map(drop))
    }

    /// Reads blocks and marks them, first from this machine, then those that do not match from further away.
    fn read_blocks(&self, source: &dyn Source, places: &[Place]) -> Result<Vec<Arc<[u8]>>, TableError> {
        let wanted = |&place: &Place| Wanted { place, section: self.section(place.0), checksum: 0, bytes: None };
        let mut wanted: Vec<Wanted> = places.iter().map(wanted).collect();
        self.try_read(source, &mut wanted, From::Here)?;
        if source.is_remote() {
            self.try_read(source, &mut wanted, From::Source)?;
            self.try_read(source, &mut wanted, From::Origin)?;
        }
        let bytes = |Wanted { section, bytes, place, .. }: Wanted| {
            let part = if section.blocks() == 1 { "frame" } else { "block of scores" };
            bytes.ok_or_else(|| self.damaged_part(part, section.block_bytes(place.1).start))
        };
        wanted.into_iter().map(bytes).collect()
    }

    /// Reads the blocks that were not found yet.
    fn try_read(&self, source: &dyn Source, wanted: &mut [Wanted], from: From) -> Result<(), TableError> {
        let mut wanted: Vec<&mut Wanted> = wanted.iter_mut().filter(|wanted| wanted.bytes.is_none()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let is_unknown =
            |wanted: &&&mut Wanted| from != From::Source || wanted.checksum == 0 || wanted.section.blocks() == 1;
        let mut pieces: Vec<Range<u64>> = wanted.iter().filter(is_unknown).map(|wanted| wanted.checksums()).collect();
        pieces.dedup();
        let parts: Vec<Range<u64>> = wanted.iter().map(|wanted| wanted.block()).chain(pieces.iter().cloned()).collect();
        let mut blocks = self.read(source, &parts, from)?;
        let checksums = blocks.split_off(wanted.len());
        let local = source.local().filter(|_| from != From::Here);
        let keep = |bytes: &[u8], offset| local.map_or(Ok(()), |local| keep(local, bytes, offset));
        for (piece, bytes) in pieces.iter().zip(&checksums) {
            keep(bytes, piece.start)?;
        }
        for (wanted, bytes) in wanted.iter_mut().zip(blocks) {
            let piece = pieces.iter().position(|piece| *piece == wanted.checksums()).map(|index| &*checksums[index]);
            if let Some(piece) = piece {
                let at = (wanted.section.checksum_at(wanted.place.1) - wanted.checksums().start) as usize;
                wanted.checksum = u64::from_le_bytes(*piece[at..].first_chunk().expect("checksums do not span pieces"));
            }
            // Other processes read the local file, so only valid bytes may be written.
            if is_valid(wanted.section, wanted.checksum, &bytes, piece.unwrap_or_default()) {
                keep(&bytes, wanted.block().start)?;
                self.checked.mark(wanted.place.0, wanted.place.1);
                wanted.bytes = Some(bytes.into());
            }
        }
        Ok(())
    }

    /// Reads one part from the file on this machine, or else from the source.
    fn read_one(&self, source: &dyn Source, part: Range<u64>) -> Result<Vec<u8>, TableError> {
        Ok(self.read(source, &[part], From::Here)?.pop().unwrap_or_default())
    }

    fn read(&self, source: &dyn Source, parts: &[Range<u64>], from: From) -> Result<Vec<Vec<u8>>, TableError> {
        let read = match source.local().filter(|_| from == From::Here) {
            Some(local) => local.read(parts, false),
            None => source.read(parts, from == From::Origin),
        };
        let fits = |read: &[Vec<u8>]| {
            let mut pairs = read.iter().zip(parts);
            read.len() == parts.len() && pairs.all(|(bytes, part)| bytes.len() as u64 == part.end - part.start)
        };
        match read {
            Ok(read) if fits(&read) => Ok(read),
            Ok(_) => Err(self.unread(std::io::Error::from(ErrorKind::UnexpectedEof))),
            Err(error) => Err(self.unread(error)),
        }
    }

    /// The error of a failed read.
    fn unread(&self, error: impl Into<SourceError>) -> TableError {
        match error.into() {
            SourceError::Io(error) if error.kind() == ErrorKind::UnexpectedEof && !self.is_remote() => {
                self.damaged(Damage::Shrunk)
            }
            error => TableError::reading(self.path(), error),
        }
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

/// Writes bytes of a remote file to its local one, which errors name.
fn keep(local: &LocalFile, bytes: &[u8], offset: u64) -> Result<(), TableError> {
    let written = file::write_all_at(&local.file, bytes, offset);
    written.map_err(TableError::io(&local.path))
}
