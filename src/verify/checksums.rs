use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::Fault;
use crate::table::{BLOCK_BYTES, Damage, Table, TableError};

/// Checks every block of a table against its checksum and every frame against its digest; opening the table has checked
/// header, directory and the digest of the whole. Returns the number of blocks.
///
/// # Errors
/// The first damaged block, or frame.
pub fn check_checksums(table: &Table) -> Result<u64, Fault> {
    let mut blocks = 0;
    for frame in table.key().frames() {
        let entry = &table.header().entries[frame.mover - 1];
        let section = table.section(entry);
        let (data, checksums) = section.split_at(entry.checksums_at() as usize);
        let damage = |part, at: usize| {
            let offset = entry.offset + at as u64;
            Fault::Damage(TableError::damaged(table.path(), Damage::Part { part, offset }))
        };
        let wrong = data
            .par_chunks(BLOCK_BYTES)
            .zip(checksums.as_chunks().0)
            .position_first(|(block, &checksum)| xxh3_64(block) != u64::from_le_bytes(checksum));
        if let Some(block) = wrong {
            return Err(damage("block of scores", block * BLOCK_BYTES));
        }
        if *blake3::Hasher::new().update(section).finalize().as_bytes() != entry.digest {
            return Err(damage("list of checksums", data.len()));
        }
        blocks += entry.blocks();
    }
    Ok(blocks)
}
