//! Checksums and digests of frames, on all threads.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use kalah_core::table::BLOCK_BYTES;
use kalah_core::table::format::ALIGNMENT;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that one task seals: whole blocks, and a power of two, as subtrees of the hash are.
const TASK_BYTES: usize = 1 << 20;

/// Makes the data of a frame the frame of a file: pads it, and adds the checksums of its blocks. Returns the digest.
/// `tag` is that of [`kalah_core::table::Section`].
pub(super) fn seal(frame: &mut Vec<u8>, tag: u64) -> [u8; 32] {
    seal_filled(frame, 0, tag, |_, _| ())
}

/// The same for the data in `frame` from `start` on, which `fill` writes first: the block that begins at a place of the
/// data. Each byte is hashed while a cache still has it.
pub(super) fn seal_filled(
    frame: &mut Vec<u8>,
    start: usize,
    tag: u64,
    fill: impl Fn(usize, &mut [u8]) + Sync,
) -> [u8; 32] {
    let pad = |frame: &mut Vec<u8>| frame.resize(start + (frame.len() - start).next_multiple_of(ALIGNMENT as usize), 0);
    pad(frame);
    let data = &mut frame[start..];
    let mut checksums = vec![0; data.len().div_ceil(BLOCK_BYTES)];
    let seal_block = |at: usize, block: &mut [u8]| {
        fill(at, block);
        xxh3_64(block) ^ tag
    };
    let whole = data.len() - data.len() % TASK_BYTES;
    let (tasks, rest) = data.split_at_mut(whole);
    let (of_tasks, of_rest) = checksums.split_at_mut(whole / BLOCK_BYTES);
    let parts = tasks.par_chunks_mut(TASK_BYTES).zip(of_tasks.par_chunks_mut(TASK_BYTES / BLOCK_BYTES));
    let seal_part = |(number, (part, checksums)): (usize, (&mut [u8], &mut [u64]))| {
        let mut hasher = Hasher::new();
        hasher.set_input_offset((number * TASK_BYTES) as u64);
        let mut at = number * TASK_BYTES;
        for (block, checksum) in part.chunks_mut(BLOCK_BYTES).zip(checksums) {
            *checksum = seal_block(at, block);
            hasher.update(block);
            at += block.len();
        }
        hasher.finalize_non_root()
    };
    let values: Vec<ChainingValue> = parts.enumerate().map(seal_part).collect();
    for (number, (block, checksum)) in rest.chunks_mut(BLOCK_BYTES).zip(of_rest).enumerate() {
        *checksum = seal_block(whole + number * BLOCK_BYTES, block);
    }
    frame.extend(checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
    pad(frame);
    digest(&frame[start..], &values)
}

/// The BLAKE3 hash of `bytes`, given the values of its first subtrees of [`TASK_BYTES`].
fn digest(bytes: &[u8], values: &[ChainingValue]) -> [u8; 32] {
    let hash = if bytes.len() <= TASK_BYTES {
        blake3::hash(bytes)
    } else {
        let (left, right) = halves(bytes, 0, values);
        merge_subtrees_root(&left, &right, Mode::Hash)
    };
    *hash.as_bytes()
}

/// Values of the two subtrees of more than [`TASK_BYTES`], which begin at `offset` of all bytes.
fn halves(bytes: &[u8], offset: usize, values: &[ChainingValue]) -> (ChainingValue, ChainingValue) {
    let (left, right) = bytes.split_at(left_subtree_len(bytes.len() as u64) as usize);
    (value(left, offset, values), value(right, offset + left.len(), values))
}

/// Value of the subtree of `bytes`, which begin at `offset` of all bytes.
fn value(bytes: &[u8], offset: usize, values: &[ChainingValue]) -> ChainingValue {
    if bytes.len() > TASK_BYTES {
        let (left, right) = halves(bytes, offset, values);
        return merge_subtrees_non_root(&left, &right, Mode::Hash);
    }
    let hashed = values.get(offset / TASK_BYTES);
    hashed.copied().unwrap_or_else(|| Hasher::new().set_input_offset(offset as u64).update(bytes).finalize_non_root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hash_of_all_bytes_also_of_data_that_is_copied_behind_others() {
        let bytes: Vec<u8> = (0..5 * TASK_BYTES as u32).map(|index| (index % 251) as u8).collect();
        let lengths = [0, 1, 1024, TASK_BYTES - 1, TASK_BYTES, TASK_BYTES + 1, 2 * TASK_BYTES, 3 * TASK_BYTES + 64];
        for length in lengths.into_iter().chain([4 * TASK_BYTES - 64, bytes.len()]) {
            let data = &bytes[..length];
            let mut frame = data.to_vec();
            let hash = seal(&mut frame, 7);
            assert_eq!(hash, *blake3::hash(&frame).as_bytes(), "{length} bytes");
            let (padded, checksums) = frame.split_at(length.next_multiple_of(64));
            assert!(padded[..length] == *data && padded[length..].iter().all(|&byte| byte == 0));
            for (block, checksum) in padded.chunks(BLOCK_BYTES).zip(checksums.as_chunks().0) {
                assert_eq!(u64::from_le_bytes(*checksum), xxh3_64(block) ^ 7, "{length} bytes");
            }
            let mut copied = vec![1; 100 + length];
            let fill = |at: usize, block: &mut [u8]| {
                let part = &data[at..length.min(at + block.len())];
                block[..part.len()].copy_from_slice(part);
            };
            assert_eq!(seal_filled(&mut copied, 100, 7, fill), hash, "{length} bytes");
            assert!(copied[100..] == frame, "{length} bytes");
        }
    }
}
