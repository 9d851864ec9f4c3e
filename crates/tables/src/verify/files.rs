use kalah_base::progress::Pulse;
use kalah_core::directory::Directory;
use kalah_core::table::{Blocks, Table, TableKey};

use super::Fault;
use crate::table::archive::{self, archive_path};
use crate::table::{Manifest, check_in_parallel, score_counts};

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
            return Err(Fault::Table(blocks.damaged_part("list of checksums", section.checksum_at(0))));
        }
    }
    Ok(checked)
}

/// Checks the archive of `key` in `directory`: every chunk against its
/// checksum, and the table that it decompresses to against the digest of the compressed one. Returns its
/// positions, which `pulse` counts meanwhile.
///
/// Memory: [`archive::decompress_memory`]. Nothing is written.
///
/// # Errors
/// The first damaged chunk, another table than that of its name or header, or [`Fault::Stopped`]
/// when `pulse` was stopped.
pub fn check_archive(directory: impl Into<Directory>, key: TableKey, pulse: &Pulse) -> Result<u64, Fault> {
    Ok(archive::check(archive_path(directory, key), pulse)?.positions)
}

/// Compares a table with its entry in a manifest: positions, bytes, exceptions, digest, and the
/// number of positions with each score. Returns its positions.
///
/// All figures are checked against the scores themselves: blocks and frames are compared with their
/// checksums and digests, which determine the table's digest, and the scores are counted.
///
/// # Errors
/// A difference, damage, or a table that the manifest does not list.
pub fn check_manifest(manifest: &Manifest, table: &Table) -> Result<u64, Fault> {
    let key = table.key();
    let entry = manifest.entry(key).ok_or(Fault::NotInManifest(key))?;
    let differs = |figure| Fault::Manifest { key, figure };
    if let Some(figure) = entry.difference(table) {
        return Err(differs(figure));
    }
    check_checksums(table.blocks())?;
    if entry.scores != score_counts(table)? {
        return Err(differs("number of positions with each score"));
    }
    Ok(entry.positions)
}
