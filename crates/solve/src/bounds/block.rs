//! Sorted positions with bounds, in compressed blocks with a list of them (docs/certificates.md in the repository).
//! Certificates, books and the jobs of proofs consist of them.

use std::io;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use super::bytes::Bytes;
use super::key::{ClaimKeys, MAX_SEEDS};
use crate::leb128;

/// A claim as stored: key, lower and upper bound.
pub(crate) type CodedClaim = (u128, [u8; 2]);

/// Bytes of an entry of the list of blocks.
pub(super) const ENTRY_BYTES: usize = size_of::<RawEntry>();

/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// Blocks that are compressed at a time, on all threads.
const BLOCKS_AT_A_TIME: usize = 64;

/// Number of claims in every block but the last, which may have fewer.
pub(super) const BLOCK_CLAIMS: usize = 1 << 14;

/// zstd level.
const LEVEL: i32 = 19;

/// Maximum bytes before compression of a block of this many claims: the groups, then for each claim two bounds
/// and a difference of ranks. Ranks are below 2^120, so a difference takes at most 18 bytes.
pub(super) fn most_raw_bytes(claims: usize) -> usize {
    10 + (MAX_SEEDS + 1) * 11 + claims * (18 + 2)
}

/// Bytes of a block before compression. The claims are sorted by key.
fn raw(claims: &[CodedClaim]) -> Vec<u8> {
    let groups: Vec<_> = claims.chunk_by(|one, two| ClaimKeys::parts(one.0).0 == ClaimKeys::parts(two.0).0).collect();
    let mut raw = Vec::with_capacity(claims.len() * 8);
    leb128::put(&mut raw, groups.len() as u128);
    for group in &groups {
        raw.push(ClaimKeys::parts(group[0].0).0 as u8);
        leb128::put(&mut raw, group.len() as u128);
    }
    for group in &groups {
        let mut before = 0;
        for &(key, _) in *group {
            let (_, rank) = ClaimKeys::parts(key);
            leb128::put(&mut raw, rank - before);
            before = rank;
        }
    }
    raw.extend(claims.iter().map(|(_, [lower, _])| lower));
    raw.extend(claims.iter().map(|&(key, [_, upper])| ClaimKeys::parts(key).0 as u8 - upper));
    raw
}

/// Compresses claims that are sorted by key. Returns the compressed bytes and the size before compression.
pub(super) fn compress(claims: &[CodedClaim]) -> io::Result<(Vec<u8>, usize)> {
    let raw = raw(claims);
    Ok((zstd::bulk::compress(&raw, LEVEL)?, raw.len()))
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

/// Decompresses a block of `count` claims, which has `raw_bytes` bytes before compression, and appends them to
/// `claims`.
///
/// Returns `None` if the block is invalid: a claim is not of a position of the board, out of order, or trivial,
/// or [`compress`] would write another frame header or other bytes before compression.
pub(super) fn decompress(
    compressed: &[u8],
    raw_bytes: usize,
    count: usize,
    keys: &ClaimKeys,
    claims: &mut Vec<CodedClaim>,
) -> Option<()> {
    let first = claims.len();
    decompress_again(compressed, raw_bytes, count, keys, claims)?;
    claims[first..].iter().all(|&(key, _)| keys.position(key).is_some_and(|position| !position.is_over())).then_some(())
}

/// As [`decompress`], for a block whose positions it has checked: they are not checked again.
pub(super) fn decompress_again(
    compressed: &[u8],
    raw_bytes: usize,
    count: usize,
    keys: &ClaimKeys,
    claims: &mut Vec<CodedClaim>,
) -> Option<()> {
    if count > BLOCK_CLAIMS || raw_bytes > most_raw_bytes(count) || !is_frame(compressed, raw_bytes) {
        return None;
    }
    let raw = zstd::bulk::decompress(compressed, raw_bytes).ok()?;
    if raw.len() != raw_bytes {
        return None;
    }
    let mut bytes = Bytes::new(&raw);
    let groups = bytes.number()?;
    let mut sizes = Vec::new();
    let mut left = count;
    for _ in 0..groups {
        let seeds = bytes.u8()?;
        let size = usize::try_from(bytes.number()?).ok()?;
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
            let more = bytes.number()?;
            rank = rank.checked_add(more).filter(|&rank| rank < sequences && (at == 0 || more > 0))?;
            let key = ClaimKeys::of_rank(seeds, rank);
            if claims.last().is_some_and(|&(before, _)| before >= key) {
                return None;
            }
            claims.push((key, [0, seeds as u8]));
        }
    }
    let (lower, slack) = (bytes.take(count)?, bytes.take(count)?);
    for (((_, bounds), &lower), &slack) in claims[first..].iter_mut().zip(lower).zip(slack) {
        let upper = bounds[1].checked_sub(slack).filter(|&upper| lower <= upper && (lower, slack) != (0, 0))?;
        *bounds = [lower, upper];
    }
    bytes.is_empty().then_some(())
}

/// Compresses claims that are sorted by key: the list of blocks, and the blocks.
pub(crate) fn compressed(mut claims: impl Iterator<Item = CodedClaim>) -> io::Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let (mut directory, mut blocks) = (Vec::new(), Vec::new());
    loop {
        let some: Vec<_> = claims.by_ref().take(BLOCKS_AT_A_TIME * BLOCK_CLAIMS).collect();
        if some.is_empty() {
            return Ok((directory, blocks));
        }
        let compressed = some.par_chunks(BLOCK_CLAIMS).map(|claims| Ok((claims.len(), compress(claims)?)));
        for (claims, (compressed, raw_bytes)) in compressed.collect::<io::Result<Vec<_>>>()? {
            directory.extend(bytemuck::bytes_of(&RawEntry::new(claims, raw_bytes, &compressed)));
            blocks.push(compressed);
        }
    }
}

/// Parses the list of the blocks of `claims` claims; `None` if it is another list.
pub(super) fn entries(list: &[u8], claims: u64) -> Option<Vec<RawEntry>> {
    let blocks = list.chunks_exact(ENTRY_BYTES);
    let is_whole = blocks.remainder().is_empty() && blocks.len() as u64 == claims.div_ceil(BLOCK_CLAIMS as u64);
    let entry = |(block, entry): (usize, &[u8])| {
        let left = (claims - (block * BLOCK_CLAIMS) as u64).min(BLOCK_CLAIMS as u64);
        let entry: RawEntry = bytemuck::pod_read_unaligned(entry);
        (entry.reserved == 0 && entry.claims() as u64 == left).then_some(entry)
    };
    is_whole.then(|| blocks.enumerate().map(entry).collect()).flatten()
}

/// Removes the list of the blocks of `claims` claims, and the blocks, from the front of `bytes`; `None` if they are
/// damaged.
pub(crate) fn take(bytes: &mut &[u8], claims: u64, keys: &ClaimKeys) -> Option<Vec<CodedClaim>> {
    let list_bytes = usize::try_from(claims.div_ceil(BLOCK_CLAIMS as u64)).ok()?.checked_mul(ENTRY_BYTES)?;
    let (list, mut rest) = bytes.split_at_checked(list_bytes)?;
    let mut all = Vec::new();
    for entry in entries(list, claims)? {
        let (compressed, others) = rest.split_at_checked(entry.compressed_bytes())?;
        rest = others;
        let raw_bytes = entry.is_of(compressed).then(|| entry.raw_bytes())?;
        decompress(compressed, raw_bytes, entry.claims(), keys, &mut all)?;
    }
    *bytes = rest;
    Some(all)
}

/// A block in the list of blocks, as stored.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RawEntry {
    claims: u32,
    raw_bytes: u32,
    compressed_bytes: u32,
    reserved: u32,
    checksum: u64,
}

impl RawEntry {
    /// The entry of a block of `claims` claims, which has `raw_bytes` bytes before compression.
    pub(crate) fn new(claims: usize, raw_bytes: usize, compressed: &[u8]) -> RawEntry {
        let [claims, raw_bytes, compressed_bytes] =
            [claims, raw_bytes, compressed.len()].map(|number| (number as u32).to_le());
        RawEntry { claims, raw_bytes, compressed_bytes, ..Zeroable::zeroed() }.sealed(compressed)
    }

    /// Number of claims.
    pub(crate) fn claims(&self) -> usize {
        u32::from_le(self.claims) as usize
    }

    /// Bytes before compression.
    pub(crate) fn raw_bytes(&self) -> usize {
        u32::from_le(self.raw_bytes) as usize
    }

    /// Bytes in the file.
    pub(crate) fn compressed_bytes(&self) -> usize {
        u32::from_le(self.compressed_bytes) as usize
    }

    /// Returns true if `compressed` has the checksum of the block.
    pub(crate) fn is_of(&self, compressed: &[u8]) -> bool {
        self.sealed(compressed).checksum == self.checksum
    }

    /// Sets the checksum, which covers the fields before it and the bytes of the block.
    fn sealed(mut self, compressed: &[u8]) -> RawEntry {
        let mut hash = Xxh3Default::new();
        hash.update(&bytemuck::bytes_of(&self)[..ENTRY_BYTES - CHECKSUM_BYTES]);
        hash.update(compressed);
        self.checksum = hash.digest().to_le();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_is_decompressed() {
        let keys = ClaimKeys::new(6);
        let mut random = fastrand::Rng::with_seed(5);
        for count in [0, 1, 2, 300, BLOCK_CLAIMS] {
            let mut claims = std::collections::BTreeMap::new();
            while claims.len() < count {
                let seeds = random.usize(20..=72);
                let key = ClaimKeys::of_rank(seeds, random.u128(0..keys.sequences(seeds).expect("few seeds")));
                let upper = random.usize(0..=seeds);
                let lower = random.usize(0..=upper);
                let says_nothing = (lower, upper) == (0, seeds);
                if !says_nothing && !keys.position(key).expect("a rank below the number").is_over() {
                    claims.insert(key, [lower as u8, upper as u8]);
                }
            }
            let claims: Vec<_> = claims.into_iter().collect();
            let (compressed, raw_bytes) = compress(&claims).expect("compression in memory");
            assert!(raw_bytes <= most_raw_bytes(count));
            let mut decompressed = Vec::new();
            assert_eq!(decompress(&compressed, raw_bytes, count, &keys, &mut decompressed), Some(()));
            assert_eq!(decompressed, claims);
            // Any other number of claims or bytes is detected.
            for (raw_bytes, count) in [(raw_bytes + 1, count), (raw_bytes - 1, count), (raw_bytes, count + 1)] {
                assert_eq!(decompress(&compressed, raw_bytes, count, &keys, &mut Vec::new()), None);
            }
        }
    }
}
