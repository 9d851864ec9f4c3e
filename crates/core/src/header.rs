//! Headers of binary files that end with their own checksum.

use bytemuck::{Pod, bytes_of, bytes_of_mut};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the checksum, the last field of a header.
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// Returns the header with its checksum: XXH3 of all its bytes, with zeros in place of the
/// checksum, the last field.
#[must_use]
pub fn sealed<H: Pod>(mut header: H) -> H {
    let checksum_at = size_of::<H>() - CHECKSUM_BYTES;
    bytes_of_mut(&mut header)[checksum_at..].fill(0);
    let checksum = xxh3_64(bytes_of(&header)).to_le_bytes();
    bytes_of_mut(&mut header)[checksum_at..].copy_from_slice(&checksum);
    header
}

/// Returns true if the checksum of a header is correct.
pub fn is_sealed<H: Pod>(header: &H) -> bool {
    bytes_of(&sealed(*header)) == bytes_of(header)
}
