//! Byte format of books, described in docs/book.md.

use bytemuck::{Pod, Zeroable};
use kalah_core::game::{MAX_PITS, Rules};
use kalah_core::header::{Kind, Start, is_sealed, sealed};

use super::book::Book;
use super::error::BookError;
use crate::bounds::{ClaimKeys, compressed, take};

/// The version that this program reads and writes.
pub(super) const VERSION: u32 = 2;

/// Maximum number of positions.
const MAX_ENTRIES: u64 = 1 << 26;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    start: Start,
    rules: u8,
    pits: u8,
    reserved: u16,
    entries: u64,
    digest: [u8; 32],
    checksum: u64,
}

const HEADER_BYTES: usize = size_of::<RawHeader>();

impl Book {
    /// BLAKE3 of the contents. Two books are equal exactly if their digests are.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        hash.update(&[self.rules().code(), self.pits() as u8]);
        for (key, bounds) in &self.entries {
            hash.update(&key.to_le_bytes()).update(bounds);
        }
        *hash.finalize().as_bytes()
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (list, blocks) = compressed(self.entries.iter().copied()).expect("memory is written without errors");
        let header = sealed(RawHeader {
            start: Start::new(Kind::Book, VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            reserved: 0,
            entries: (self.len() as u64).to_le(),
            digest: self.digest(),
            checksum: 0,
        });
        [bytemuck::bytes_of(&header), &list, &blocks.concat()].concat()
    }

    /// Parses the `bytes` of a file.
    ///
    /// # Errors
    /// If they are not a complete and unchanged book.
    pub fn from_bytes(bytes: &[u8]) -> Result<Book, BookError> {
        Start::read(bytes, Kind::Book, &[VERSION])?;
        let (header, mut blocks) =
            bytes.split_at_checked(HEADER_BYTES).ok_or(BookError::Damaged("its header is incomplete"))?;
        let raw: RawHeader = bytemuck::pod_read_unaligned(header);
        let damaged = || BookError::Damaged("its header is wrong");
        if !is_sealed(&raw) || raw.reserved != 0 {
            return Err(damaged());
        }
        let rules = Rules::from_code(raw.rules).ok_or_else(damaged)?;
        let pits = Some(usize::from(raw.pits)).filter(|pits| (1..=MAX_PITS).contains(pits)).ok_or_else(damaged)?;
        let count = Some(u64::from_le(raw.entries)).filter(|&count| count <= MAX_ENTRIES).ok_or_else(damaged)?;
        let keys = ClaimKeys::new(pits);
        let entries = take(&mut blocks, count, &keys).filter(|_| blocks.is_empty());
        let book = entries.map(|entries| Book::of(rules, keys, entries));
        book.filter(|book| book.digest() == raw.digest).ok_or(BookError::Damaged("its entries are wrong"))
    }
}
