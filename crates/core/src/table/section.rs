use std::ops::Range;

/// Bytes that one checksum covers.
pub const BLOCK_BYTES: usize = 1 << 16;

/// Every part of a file begins at a multiple of this many bytes, so that each group is a cache line of the mapping.
pub const ALIGNMENT: u64 = 64;

/// The bytes of a frame in a file: data, padded to a multiple of 64 bytes, then a checksum for each
/// block of the data ([`BLOCK_BYTES`]), padded likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of data, padding included; the checksums follow.
    pub data: u64,
    /// Bytes at the start of the data that are read together with all others. Their blocks are
    /// compared with their checksums before any other block.
    pub head: u64,
    /// Combined with the checksums of the blocks by exclusive or, so that a section written over
    /// another of the same size does not match. It is 0 in tables, whose sections differ in size,
    /// and the seeds in the mover's row in bound tables.
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
    pub fn blocks_before(&self, block: u64) -> Range<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_is_compared_before_the_head_below_it() {
        // Heads that end in the first block, exactly at the end of the second one, and in the third
        // one.
        for (head, head_blocks) in [(9, 1), (2 << 16, 2), ((2 << 16) + 1, 3)] {
            let section = Section { offset: 0, data: 5 << 16, head, tag: 0, digest: [0; 32] };
            for block in 0..section.blocks() {
                assert_eq!(section.blocks_before(block), 0..block.min(head_blocks), "{head} bytes");
            }
        }
    }
}
