use super::Fault;
use crate::table::{Manifest, Table};

/// Compares a table with what a manifest tells of it. Returns its positions.
///
/// The table's digest is taken from its header, which opening checked against the directory;
/// [`check_checksums`](super::check_checksums) checks the directory against the scores.
///
/// # Errors
/// What differs, or that the manifest does not tell of it.
pub fn check_manifest(manifest: &Manifest, table: &Table) -> Result<u64, Fault> {
    let key = table.key();
    let entry = manifest.entry(key).ok_or(Fault::NotInManifest(key))?;
    match entry.difference(table) {
        Some(figure) => Err(Fault::Manifest { key, figure }),
        None => Ok(entry.positions),
    }
}
