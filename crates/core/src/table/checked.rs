use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::format::{BLOCK_BYTES, FrameEntry};

/// Which blocks of a table were compared with their checksums and found valid.
///
/// A valid block stays valid: the bytes of a finished table never change. The marks publish no other data, so relaxed
/// ordering is enough. The blocks of a frame's profile are marked before any other block of that frame
/// ([`Checked::profile_blocks`]): if the block of a group is marked, the profile may be read, too.
pub(super) struct Checked {
    /// A bit for each block: first those of the frame with one seed in the mover's row, then two, ...
    marks: Box<[AtomicU64]>,
    /// By seeds in the mover's row, from 1.
    frames: Box<[FrameBlocks]>,
    /// Blocks of all frames without a mark.
    left: AtomicU64,
}

/// The blocks of a frame.
struct FrameBlocks {
    /// The mark of the first one.
    first: u64,
    blocks: u64,
    /// Blocks without a mark.
    left: AtomicU64,
}

impl Checked {
    /// No marks yet, for the blocks of the frames with these entries.
    pub fn none(entries: &[FrameEntry]) -> Checked {
        let mut first = 0;
        let frame = |entry: &FrameEntry| {
            let blocks = entry.blocks();
            first += blocks;
            FrameBlocks { first: first - blocks, blocks, left: AtomicU64::new(blocks) }
        };
        let frames = entries.iter().map(frame).collect();
        let marks = (0..first.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Checked { marks, frames, left: AtomicU64::new(first) }
    }

    /// Whether all blocks of the table are marked.
    #[inline]
    pub fn all(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Whether all blocks of the frame with `mover` seeds in the mover's row are marked.
    #[inline]
    pub fn frame(&self, mover: usize) -> bool {
        self.frames[mover - 1].left.load(Ordering::Relaxed) == 0
    }

    /// Whether block `block` of that frame is marked.
    #[inline]
    pub fn is_marked(&self, mover: usize, block: u64) -> bool {
        let mark = self.frames[mover - 1].first + block;
        self.marks[(mark / 64) as usize].load(Ordering::Relaxed) >> (mark % 64) & 1 != 0
    }

    /// Marks block `block` of that frame.
    pub fn mark(&self, mover: usize, block: u64) {
        let frame = &self.frames[mover - 1];
        debug_assert!(block < frame.blocks);
        let mark = frame.first + block;
        let bit = 1 << (mark % 64);
        if self.marks[(mark / 64) as usize].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            frame.left.fetch_sub(1, Ordering::Relaxed);
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Blocks without a mark.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// The blocks of a frame that must be marked before block `block` is: those of the profile below it. Groups of scores begin
    /// in the last block of the profile, or behind it.
    pub fn blocks_before(entry: &FrameEntry, block: u64) -> Range<u64> {
        0..entry.rows.div_ceil(BLOCK_BYTES as u64).min(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_mark_of_its_own() {
        let entry =
            |rows, groups| FrameEntry { offset: 0, rows, groups, patch_bytes: 0, exceptions: 0, digest: [0; 32] };
        let entries = [entry(2, 1), entry(70_000, 5000), entry(9, 70_000), entry(3, 1)];
        let checked = Checked::none(&entries);
        let blocks: Vec<(usize, u64)> = entries
            .iter()
            .enumerate()
            .flat_map(|(index, entry)| (0..entry.blocks()).map(move |block| (index + 1, block)))
            .collect();
        assert_eq!((blocks.len(), Checked::blocks_before(&entries[1], 5)), (1 + 6 + 69 + 1, 0..2));
        for (done, &(mover, block)) in blocks.iter().enumerate() {
            assert!(!checked.is_marked(mover, block) && !checked.frame(mover) && !checked.all());
            checked.mark(mover, block);
            // Marking again changes nothing.
            checked.mark(mover, block);
            assert!(checked.is_marked(mover, block));
            assert_eq!(checked.left(), (blocks.len() - done - 1) as u64);
            assert_eq!(checked.frame(mover), block + 1 == entries[mover - 1].blocks());
        }
        assert!(checked.all());
    }

    #[test]
    fn no_block_is_marked_before_the_profile_below_it() {
        let entry = |rows| FrameEntry { offset: 0, rows, groups: 5000, patch_bytes: 0, exceptions: 0, digest: [0; 32] };
        // A profile that ends in its first block, exactly at the end of its second one, and in its third one.
        for (rows, profile_blocks) in [(9, 1), (2 << 16, 2), ((2 << 16) + 1, 3)] {
            for block in 0..entry(rows).blocks() {
                assert_eq!(Checked::blocks_before(&entry(rows), block), 0..block.min(profile_blocks), "{rows} rows");
            }
        }
    }
}
