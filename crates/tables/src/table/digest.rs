//! Checksums and digests of frames, on all threads.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use kalah_core::table::format::ALIGNMENT;
use kalah_core::table::format::BLOCK_BYTES;
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
