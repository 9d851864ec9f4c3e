use kalah_core::table::Table;

use super::{Fault, check_checksums};
use crate::table::{Manifest, score_counts};

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
