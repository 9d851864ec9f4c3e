use std::ops::Range;

/// Bytes that one checksum covers.
pub const BLOCK_BYTES: usize = 1 << 16;

/// Every part of a file begins at a multiple of this many bytes, so that each group is a cache line of the mapping.
pub const ALIGNMENT: u64 = 64;

/// The bytes of a frame in a file: data, padded to a multiple of 64 bytes, then a checksum for each block of the data
/// ([`BLOCK_BYTES`]), padded, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of data, padding included; the checksums follow.
    pub data: u64,
    /// The first so many bytes of the data are read together with all others, so their blocks are compared with their
    /// checksums before any other block is.
    pub head: u64,
    /// What the checksums of its blocks are combined with, by exclusive or, so that a section written over another of
    /// the same size does not match: 0 in tables, whose sections differ in size, the seeds in the mover's row in bound
    /// tables.
    pub tag: u64,
    /// BLAKE3 of data and checksums.
    pub digest: [u8; 32],
}

impl Section {
    /// Blocks that have a checksum.
    pub fn blocks(&self) -> u64 {
        self.data.div_ceil(BLOCK_BYTES as u64)
    }

    /// The bytes of a block, counted from the start of the file.
    pub fn block_bytes(&self, block: u64) -> Range<u64> {
        let start = block * BLOCK_BYTES as u64;
        self.offset + start..self.offset + (start + BLOCK_BYTES as u64).min(self.data)
    }

    /// The blocks that must be compared before block `block` is: those of the head below it.
    pub fn blocks_before(&self, block: u64) -> Range<u64> {
        0..self.head.div_ceil(BLOCK_BYTES as u64).min(block)
    }

    /// Where the checksum of a block is, in bytes from the start of the file.
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
        // A head that ends in its first block, exactly at the end of its second one, and in its third one.
        for (head, head_blocks) in [(9, 1), (2 << 16, 2), ((2 << 16) + 1, 3)] {
            let section = Section { offset: 0, data: 5 << 16, head, tag: 0, digest: [0; 32] };
            for block in 0..section.blocks() {
                assert_eq!(section.blocks_before(block), 0..block.min(head_blocks), "{head} bytes");
            }
        }
    }
}
