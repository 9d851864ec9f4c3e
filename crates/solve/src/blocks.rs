//! Sorted claims in compressed blocks with a list of them (docs/certificates.md in the repository). Certificates, books
//! and the jobs of proofs consist of them.

use std::io;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use crate::bounds::{ClaimKeys, CodedClaim, MAX_SEEDS};

/// Bytes of an entry of the list of blocks.
pub const ENTRY_BYTES: usize = size_of::<BlockEntry>();

/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// Blocks that are compressed at a time, on all threads.
const BLOCKS_AT_A_TIME: usize = 32;

/// Number of claims in every block but the last, which may have fewer.
pub const BLOCK_CLAIMS: usize = 1 << 14;

/// zstd level.
const LEVEL: i32 = 19;

/// Maximum bytes before compression of a block of this many claims: the groups, then for each claim two bounds
/// and a difference of ranks. Ranks are below 2^120, so a difference takes at most 18 bytes.
fn most_raw_bytes(claims: usize) -> usize {
    10 + (MAX_SEEDS + 1) * 11 + claims * (18 + 2)
}

/// Appends a number in LEB128: groups of 7 bits, lowest first, each but the last with its highest bit set.
fn put_number(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes a number below 2^126 in LEB128 from the front; `None` unless it has the shortest form.
fn take_number(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..126).step_by(7) {
        let &byte = bytes.split_off_first()?;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (byte > 0 || shift == 0).then_some(number);
        }
    }
    None
}

/// Bytes of a block before compression. The claims are sorted by key.
fn raw(claims: &[CodedClaim]) -> Vec<u8> {
    let groups: Vec<_> = claims.chunk_by(|one, two| ClaimKeys::parts(one.0).0 == ClaimKeys::parts(two.0).0).collect();
    let mut raw = Vec::with_capacity(claims.len() * 8);
    put_number(&mut raw, groups.len() as u128);
    for group in &groups {
        raw.push(ClaimKeys::parts(group[0].0).0 as u8);
        put_number(&mut raw, group.len() as u128);
    }
    for group in &groups {
        let mut before = 0;
        for &(key, _) in *group {
            let (_, rank) = ClaimKeys::parts(key);
            put_number(&mut raw, rank - before);
            before = rank;
        }
    }
    raw.extend(claims.iter().map(|(_, [lower, _])| lower));
    raw.extend(claims.iter().map(|&(key, [_, upper])| ClaimKeys::parts(key).0 as u8 - upper));
    raw
}

/// The header of a block's zstd frame: magic number, descriptor, and content size in as few bytes as possible.
/// It has no window, dictionary or checksum.
fn frame_header(raw_bytes: usize) -> Vec<u8> {
    let mut header = vec![0x28, 0xb5, 0x2f, 0xfd];
    match raw_bytes {
        ..256 => header.extend([0x20, raw_bytes as u8]),
        256..65_792 => {
            header.push(0x60);
            header.extend((raw_bytes as u16).wrapping_sub(256).to_le_bytes());
        }
        _ => {
            header.push(0xa0);
            header.extend((raw_bytes as u32).to_le_bytes());
        }
    }
    header
}

/// Returns true if these bytes are one zstd frame with the only header that a block may have. zstd itself would
/// accept several frames, and empty ones.
fn is_frame(compressed: &[u8], raw_bytes: usize) -> bool {
    compressed.starts_with(&frame_header(raw_bytes))
        && zstd::zstd_safe::find_frame_compressed_size(compressed).is_ok_and(|bytes| bytes == compressed.len())
}

/// Compresses claims that are sorted by key: the list of blocks, and the blocks.
pub fn compressed(mut claims: impl Iterator<Item = CodedClaim>) -> io::Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let (mut directory, mut blocks) = (Vec::new(), Vec::new());
    loop {
        let some: Vec<_> = claims.by_ref().take(BLOCKS_AT_A_TIME * BLOCK_CLAIMS).collect();
        if some.is_empty() {
            return Ok((directory, blocks));
        }
        for (entry, block) in some.par_chunks(BLOCK_CLAIMS).map(BlockEntry::compress).collect::<io::Result<Vec<_>>>()? {
            directory.extend(bytemuck::bytes_of(&entry));
            blocks.push(block);
        }
    }
}

/// Parses the list of the blocks of `claims` claims; `None` if it is another list.
pub fn entries(list: &[u8], claims: u64) -> Option<Vec<BlockEntry>> {
    let blocks = list.chunks_exact(ENTRY_BYTES);
    let is_whole = blocks.remainder().is_empty() && blocks.len() as u64 == claims.div_ceil(BLOCK_CLAIMS as u64);
    let entry = |(block, entry): (usize, &[u8])| {
        let left = (claims - (block * BLOCK_CLAIMS) as u64).min(BLOCK_CLAIMS as u64);
        let entry: BlockEntry = bytemuck::pod_read_unaligned(entry);
        (entry.reserved == 0 && entry.claims() as u64 == left).then_some(entry)
    };
    is_whole.then(|| blocks.enumerate().map(entry).collect()).flatten()
}

/// Removes the list of the blocks of `claims` claims, and the blocks, from the front of `bytes`; `None` if they are
/// damaged.
pub fn take(bytes: &mut &[u8], claims: u64, keys: &ClaimKeys) -> Option<Vec<CodedClaim>> {
    let list_bytes = usize::try_from(claims.div_ceil(BLOCK_CLAIMS as u64)).ok()?.checked_mul(ENTRY_BYTES)?;
    let (list, mut rest) = bytes.split_at_checked(list_bytes)?;
    let mut all = Vec::new();
    for entry in entries(list, claims)? {
        let (compressed, others) = rest.split_at_checked(entry.compressed_bytes())?;
        rest = others;
        entry.decompress(compressed, keys, &mut all)?;
    }
    *bytes = rest;
    Some(all)
}

/// A block in the list of blocks, as stored.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct BlockEntry {
    claims: u32,
    raw_bytes: u32,
    compressed_bytes: u32,
    reserved: u32,
    checksum: u64,
}

impl BlockEntry {
    /// Compresses claims that are sorted by key. Returns the entry of the block, and the block.
    fn compress(claims: &[CodedClaim]) -> io::Result<(BlockEntry, Vec<u8>)> {
        let raw = raw(claims);
        let compressed = zstd::bulk::compress(&raw, LEVEL)?;
        let [claims, raw_bytes, compressed_bytes] =
            [claims.len(), raw.len(), compressed.len()].map(|number| (number as u32).to_le());
        let entry = BlockEntry { claims, raw_bytes, compressed_bytes, ..Zeroable::zeroed() };
        Ok((entry.sealed(&compressed), compressed))
    }

    /// Decompresses the block and appends its claims to `claims`.
    ///
    /// Returns `None` if the block is invalid: it has another checksum, a claim is not of a position of the board, out
    /// of order, or trivial, or [`compressed`] would write another frame header or other bytes before compression.
    pub fn decompress(&self, compressed: &[u8], keys: &ClaimKeys, claims: &mut Vec<CodedClaim>) -> Option<()> {
        let first = claims.len();
        self.decompress_again(compressed, keys, claims)?;
        let is_open = |&(key, _): &CodedClaim| keys.position(key).is_some_and(|position| !position.is_over());
        claims[first..].iter().all(is_open).then_some(())
    }

    /// As [`BlockEntry::decompress`], for a block whose positions it has checked: they are not checked again.
    pub fn decompress_again(&self, compressed: &[u8], keys: &ClaimKeys, claims: &mut Vec<CodedClaim>) -> Option<()> {
        let (count, raw_bytes) = (self.claims(), u32::from_le(self.raw_bytes) as usize);
        if self.sealed(compressed).checksum != self.checksum
            || count > BLOCK_CLAIMS
            || raw_bytes > most_raw_bytes(count)
            || !is_frame(compressed, raw_bytes)
        {
            return None;
        }
        let raw = zstd::bulk::decompress(compressed, raw_bytes).ok()?;
        if raw.len() != raw_bytes {
            return None;
        }
        let mut bytes = &raw[..];
        let groups = take_number(&mut bytes)?;
        let mut sizes = Vec::new();
        let mut left = count;
        for _ in 0..groups {
            let seeds = *bytes.split_off_first()?;
            let size = usize::try_from(take_number(&mut bytes)?).ok()?;
            left = left.checked_sub(size).filter(|_| size > 0)?;
            sizes.push((usize::from(seeds), size));
        }
        if left > 0 || !sizes.is_sorted_by(|one, two| one.0 < two.0) {
            return None;
        }
        let first = claims.len();
        for (seeds, size) in sizes {
            let sequences = keys.sequences(seeds)?;
            let mut rank = 0u128;
            for at in 0..size {
                let more = take_number(&mut bytes)?;
                rank = rank.checked_add(more).filter(|&rank| rank < sequences && (at == 0 || more > 0))?;
                let key = ClaimKeys::of_rank(seeds, rank);
                if claims.last().is_some_and(|&(before, _)| before >= key) {
                    return None;
                }
                claims.push((key, [0, seeds as u8]));
            }
        }
        let (lower, slack) = (bytes.split_off(..count)?, bytes.split_off(..count)?);
        for (((_, bounds), &lower), &slack) in claims[first..].iter_mut().zip(lower).zip(slack) {
            let upper = bounds[1].checked_sub(slack).filter(|&upper| lower <= upper && (lower, slack) != (0, 0))?;
            *bounds = [lower, upper];
        }
        bytes.is_empty().then_some(())
    }

    /// Number of claims.
    pub fn claims(&self) -> usize {
        u32::from_le(self.claims) as usize
    }

    /// Bytes in the file.
    pub fn compressed_bytes(&self) -> usize {
        u32::from_le(self.compressed_bytes) as usize
    }

    /// Sets the checksum, which covers the fields before it and the bytes of the block.
    fn sealed(mut self, compressed: &[u8]) -> BlockEntry {
        let mut hash = Xxh3Default::new();
        hash.update(&bytemuck::bytes_of(&self)[..ENTRY_BYTES - CHECKSUM_BYTES]);
        hash.update(compressed);
        self.checksum = hash.digest().to_le();
        self
    }
}
