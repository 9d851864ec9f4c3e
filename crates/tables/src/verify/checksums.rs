use kalah_core::table::{Blocks, Damage, TableError, TablePart};

use super::Fault;
use crate::table::check_in_parallel;

/// Checks every block of a table or bound table against its checksum and every frame against its
/// digest. Opening the table has already checked header, directory and the table's digest. Returns
/// the number of blocks.
///
/// # Errors
/// The first damaged block or frame.
pub fn check_checksums(blocks: &Blocks) -> Result<u64, Fault> {
    let checked = check_in_parallel(blocks)?;
    for section in blocks.sections() {
        if *blake3::hash(blocks.section_bytes(section)).as_bytes() != section.digest {
            // The blocks are valid, so the list of their checksums must be damaged.
            let damage = Damage::Part { part: TablePart::Checksums, offset: section.checksum_at(0) };
            return Err(Fault::Damage(TableError::damaged(blocks.path(), damage)));
        }
    }
    Ok(checked)
}
