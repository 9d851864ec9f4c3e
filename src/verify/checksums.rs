use super::Fault;
use crate::table::{Damage, Part, Table, TableError, check_in_parallel};

/// Checks every block of a table against its checksum and every frame against its digest; opening the table has already
/// checked header, directory and the table's digest. Returns the number of blocks.
///
/// # Errors
/// The first damaged block or frame.
pub fn check_checksums(table: &Table) -> Result<u64, Fault> {
    let blocks = check_in_parallel(table)?;
    for entry in &table.header().entries {
        if *blake3::hash(table.section(entry)).as_bytes() != entry.digest {
            // The blocks are valid, so the list of their checksums must be damaged.
            let damage = Damage::Part { part: Part::Checksums, offset: entry.offset + entry.checksums_at() };
            return Err(Fault::Damage(TableError::damaged(table.path(), damage)));
        }
    }
    Ok(blocks)
}
