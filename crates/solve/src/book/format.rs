//! Byte format of books, described in docs/book.md.

use std::io;

use bytemuck::{Pod, Zeroable};
use kalah_core::game::{MAX_PITS, Rules};
use kalah_core::header::{is_sealed, sealed};
use xxhash_rust::xxh3::xxh3_64;
use zstd::zstd_safe::DCtx;

use super::book::{Book, Entry};
use super::error::BookError;
use super::key;
use crate::leb128;

const MAGIC: [u8; 8] = *b"KALAHBK\n";

/// The version that this program reads and writes.
pub(super) const VERSION: u32 = 1;

/// Maximum bytes of the content of a book.
const MAX_CONTENT: u64 = 1 << 30;

/// zstd level. A book is written once and read often.
const LEVEL: i32 = 19;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    magic: [u8; 8],
    version: u32,
    rules: u8,
    pits: u8,
    reserved: u16,
    entries: u64,
    content_bytes: u64,
    frame_bytes: u64,
    digest: [u8; 32],
    frame_checksum: u64,
    checksum: u64,
}

const HEADER_BYTES: usize = size_of::<RawHeader>();

/// BLAKE3 of the rule set's number, the pits, and the content.
fn digest(rules: Rules, pits: usize, content: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(&[rules.code(), pits as u8]).update(content).finalize().as_bytes()
}

/// Removes a LEB128 number from the front; `None` unless it fits 64 bits and has the shortest form.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    u64::try_from(leb128::take(bytes)?).ok()
}

impl Book {
    /// The entries, layer by layer: seeds, number of entries, differences of keys, lower bounds, upper minus
    /// lower bounds.
    fn content(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for layer in self.entries.chunk_by(|one, next| one.seeds == next.seeds) {
            leb128::put(&mut bytes, layer[0].seeds.into());
            leb128::put(&mut bytes, layer.len() as u128);
            let mut before = 0;
            for entry in layer {
                leb128::put(&mut bytes, (entry.key - before).into());
                before = entry.key;
            }
            bytes.extend(layer.iter().map(|entry| entry.lower));
            bytes.extend(layer.iter().map(|entry| entry.upper - entry.lower));
        }
        bytes
    }

    /// BLAKE3 of the contents. Two books are equal exactly if their digests are.
    pub fn digest(&self) -> [u8; 32] {
        digest(self.rules(), self.pits(), &self.content())
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = self.content();
        let frame = zstd::bulk::compress(&content, LEVEL).expect("memory is written without errors");
        let header = RawHeader {
            magic: MAGIC,
            version: VERSION.to_le(),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            reserved: 0,
            entries: (self.len() as u64).to_le(),
            content_bytes: (content.len() as u64).to_le(),
            frame_bytes: (frame.len() as u64).to_le(),
            digest: digest(self.rules(), self.pits(), &content),
            frame_checksum: xxh3_64(&frame).to_le(),
            checksum: 0,
        };
        [bytemuck::bytes_of(&sealed(header)), &frame].concat()
    }

    /// Parses the `bytes` of a file.
    ///
    /// # Errors
    /// If they are not a complete and unchanged book, or there is not enough memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Book, BookError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(BookError::Foreign);
        }
        let (header, frame) =
            bytes.split_at_checked(HEADER_BYTES).ok_or(BookError::Damaged("its header is incomplete"))?;
        let raw: RawHeader = bytemuck::pod_read_unaligned(header);
        let version = u32::from_le(raw.version);
        if version != VERSION {
            return Err(BookError::Version { found: version, known: VERSION });
        }
        let damaged = || BookError::Damaged("its header is wrong");
        if !is_sealed(&raw) || raw.reserved != 0 {
            return Err(damaged());
        }
        let rules = Rules::from_code(raw.rules).ok_or_else(damaged)?;
        let pits = Some(usize::from(raw.pits)).filter(|pits| (1..=MAX_PITS).contains(pits)).ok_or_else(damaged)?;
        let content_bytes = Some(u64::from_le(raw.content_bytes)).filter(|&bytes| bytes <= MAX_CONTENT);
        let content_bytes = content_bytes.ok_or_else(damaged)? as usize;
        if frame.len() as u64 != u64::from_le(raw.frame_bytes) || xxh3_64(frame) != u64::from_le(raw.frame_checksum) {
            return Err(BookError::Damaged("its entries do not match their checksum"));
        }
        let damaged = || BookError::Damaged("its entries are wrong");
        let mut context = DCtx::try_create().ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut content = Vec::with_capacity(content_bytes);
        let is_whole = context.decompress(&mut content, frame) == Ok(content_bytes);
        if !is_whole || digest(rules, pits, &content) != raw.digest {
            return Err(damaged());
        }
        let entries = entries(pits, &content).ok_or_else(damaged)?;
        if entries.len() as u64 != u64::from_le(raw.entries) {
            return Err(damaged());
        }
        Ok(Book::of(rules, pits, entries))
    }
}

/// Parses the entries of a content; `None` if it has another form.
fn entries(pits: usize, mut content: &[u8]) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    while !content.is_empty() {
        let seeds = u8::try_from(take_number(&mut content)?).ok()?;
        let count = usize::try_from(take_number(&mut content)?).ok()?;
        // Every entry takes at least three bytes.
        let is_next = entries.last().is_none_or(|last| last.seeds < seeds);
        let positions = key::positions(pits, seeds.into())?;
        if !is_next || count == 0 || count > content.len() {
            return None;
        }
        let mut key: Option<u64> = None;
        let first = entries.len();
        for _ in 0..count {
            let step = take_number(&mut content)?;
            let next = key.unwrap_or(0).checked_add(step)?;
            if next >= positions || (key.is_some() && step == 0) {
                return None;
            }
            key = Some(next);
            entries.push(Entry { seeds, key: next, lower: 0, upper: 0 });
        }
        let (lower, rest) = content.split_at_checked(count)?;
        let (width, rest) = rest.split_at_checked(count)?;
        for ((entry, &lower), &width) in entries[first..].iter_mut().zip(lower).zip(width) {
            entry.lower = lower;
            entry.upper = lower.checked_add(width).filter(|&upper| upper <= seeds)?;
        }
        content = rest;
    }
    Some(entries)
}
