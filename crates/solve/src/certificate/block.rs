//! Blocks of claims: compressing and decompressing (docs/certificates.md in the repository).

use super::bytes::Bytes;
use super::key::{ClaimKeys, MAX_SEEDS};
use crate::leb128;

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
fn raw(claims: &[(u128, [u8; 2])]) -> Vec<u8> {
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
pub(super) fn compress(claims: &[(u128, [u8; 2])]) -> std::io::Result<(Vec<u8>, usize)> {
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
    claims: &mut Vec<(u128, [u8; 2])>,
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
    claims: &mut Vec<(u128, [u8; 2])>,
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
