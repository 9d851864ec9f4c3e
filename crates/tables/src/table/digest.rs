//! Checksums and digests of frames, on all threads.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use kalah_core::table::BLOCK_BYTES;
use kalah_core::table::format::ALIGNMENT;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that one task hashes: a power of two, as subtrees of the hash are.
const TASK_BYTES: usize = 1 << 20;

/// Makes the data of a frame the frame of a file: pads it, and adds the checksums of its blocks. Returns the digest.
/// `tag` is that of [`kalah_core::table::Section`].
pub(super) fn seal(frame: &mut Vec<u8>, tag: u64) -> [u8; 32] {
    let pad = |frame: &mut Vec<u8>| frame.resize(frame.len().next_multiple_of(ALIGNMENT as usize), 0);
    pad(frame);
    let checksums: Vec<u64> = frame.par_chunks(BLOCK_BYTES).map(|block| xxh3_64(block) ^ tag).collect();
    frame.extend(checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
    pad(frame);
    digest(frame)
}

/// The BLAKE3 hash of `bytes`, on all threads of the current pool.
fn digest(bytes: &[u8]) -> [u8; 32] {
    let hash = if bytes.len() <= TASK_BYTES {
        blake3::hash(bytes)
    } else {
        let (left, right) = halves(bytes, 0);
        merge_subtrees_root(&left, &right, Mode::Hash)
    };
    *hash.as_bytes()
}

/// Values of the two subtrees of more than [`TASK_BYTES`], which begin at `offset` of all bytes.
fn halves(bytes: &[u8], offset: u64) -> (ChainingValue, ChainingValue) {
    let (left, right) = bytes.split_at(left_subtree_len(bytes.len() as u64) as usize);
    let end = offset + left.len() as u64;
    rayon::join(|| value(left, offset), || value(right, end))
}

/// Value of the subtree of `bytes`, which begin at `offset` of all bytes.
fn value(bytes: &[u8], offset: u64) -> ChainingValue {
    if bytes.len() <= TASK_BYTES {
        return Hasher::new().set_input_offset(offset).update(bytes).finalize_non_root();
    }
    let (left, right) = halves(bytes, offset);
    merge_subtrees_non_root(&left, &right, Mode::Hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hash_of_all_bytes() {
        let bytes: Vec<u8> = (0..5 * TASK_BYTES as u32).map(|index| (index % 251) as u8).collect();
        for length in [0, 1, 1024, TASK_BYTES - 1, TASK_BYTES, TASK_BYTES + 1, 2 * TASK_BYTES, 3 * TASK_BYTES + 64] {
            assert_eq!(digest(&bytes[..length]), *blake3::hash(&bytes[..length]).as_bytes(), "{length} bytes");
        }
        assert_eq!(digest(&bytes), *blake3::hash(&bytes).as_bytes());
    }
}
