use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that one checksum covers.
pub const BLOCK_BYTES: usize = 1 << 16;

/// Every part of a file begins at a multiple of this many bytes, so that each group is a cache line of the mapping.
pub const ALIGNMENT: u64 = 64;

/// The bytes of a frame in a file: data, padded to a multiple of 64 bytes, then a checksum for each block of the data
/// ([`BLOCK_BYTES`]), padded likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of data, padding included; the checksums follow.
    pub data: u64,
    /// Bytes at the start of the data that are read together with all others. Their blocks are compared with their
    /// checksums before any other block.
    pub head: u64,
    /// Combined with the checksums of the blocks by exclusive or, so that a section written over another of the same
    /// size does not match. It is 0 in tables, and the seeds in the mover's row in bound tables.
    pub tag: u64,
    /// BLAKE3 of data and checksums.
    pub digest: [u8; 32],
}

impl Section {
    /// Number of blocks with a checksum.
    pub fn blocks(&self) -> u64 {
        self.data.div_ceil(BLOCK_BYTES as u64)
    }

    /// Bytes of a block, counted from the start of the file.
    pub fn block_bytes(&self, block: u64) -> Range<u64> {
        let start = block * BLOCK_BYTES as u64;
        self.offset + start..self.offset + (start + BLOCK_BYTES as u64).min(self.data)
    }

    /// Blocks that must be compared before block `block`: those of the head below it.
    pub(super) fn blocks_before(&self, block: u64) -> Range<u64> {
        0..self.head.div_ceil(BLOCK_BYTES as u64).min(block)
    }

    /// Offset of the checksum of a block in the file.
    pub fn checksum_at(&self, block: u64) -> u64 {
        self.offset + self.data + 8 * block
    }

    /// Bytes of data and checksums, padding included.
    pub fn bytes(&self) -> u64 {
        self.data + (self.blocks() * 8).next_multiple_of(ALIGNMENT)
    }

    /// Where the next section begins.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes()
    }
}

/// Marks of the blocks that have been compared with their checksums and found valid.
///
/// A valid block stays valid, since the bytes of a finished table never change. A caller that cannot rely on this reads
/// a copy, or compares digests again ([`super::Blocks::check_digest`]). A mark publishes that the bytes were compared,
/// so it is stored with release and loaded with acquire ordering.
///
/// The blocks of a section's head (the profile of a frame) are marked before its other blocks. So if the block of a
/// group is marked, the profile may be read, too.
pub(super) struct Checked {
    /// By seeds in the mover's row, from 1.
    frames: Box<[Marks]>,
    /// Blocks of all frames without a mark.
    left: AtomicU64,
}

/// The marks of a frame.
struct Marks {
    /// A bit for each block.
    bits: Box<[AtomicU64]>,
    /// Blocks without a mark.
    left: AtomicU64,
}

impl Checked {
    /// Makes marks for these sections, all unmarked.
    pub(super) fn none(sections: &[Section]) -> Checked {
        let marks = |section: &Section| {
            let bits = (0..section.blocks().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
            Marks { bits, left: AtomicU64::new(section.blocks()) }
        };
        let left = AtomicU64::new(sections.iter().map(Section::blocks).sum());
        Checked { frames: sections.iter().map(marks).collect(), left }
    }

    /// Returns true if all blocks of the table are marked.
    #[inline]
    pub(super) fn all(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Returns true if all blocks of the frame with `mover` seeds in the mover's row are marked.
    #[inline]
    pub(super) fn frame(&self, mover: usize) -> bool {
        self.frames[mover - 1].left.load(Ordering::Acquire) == 0
    }

    /// Returns true if block `block` of that frame is marked.
    #[inline]
    pub(super) fn is_marked(&self, mover: usize, block: u64) -> bool {
        self.frames[mover - 1].bits[(block / 64) as usize].load(Ordering::Acquire) >> (block % 64) & 1 != 0
    }

    /// Marks block `block` of that frame.
    pub(super) fn mark(&self, mover: usize, block: u64) {
        let (frame, bit) = (&self.frames[mover - 1], 1 << (block % 64));
        if frame.bits[(block / 64) as usize].fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            frame.left.fetch_sub(1, Ordering::AcqRel);
            self.left.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
