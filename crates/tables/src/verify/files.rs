use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use kalah_base::progress::Pulse;
use kalah_core::directory::Directory;
use kalah_core::file::found;
use kalah_core::game::Rules;
use kalah_core::header::Kind;
use kalah_core::table::{Blocks, Damage, Table, TableError, TableKey};

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
    let path = archive_path(directory, key);
    let found = archive::read_info(&path)?.key;
    if found != key {
        return Err(TableError::damaged(Kind::Archive, &path, Damage::Other { found, expected: key }).into());
    }
    Ok(archive::check(&path, pulse)?.positions)
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

/// The contents of a directory of tables, by the names of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    tables: BTreeSet<TableKey>,
    bounds: BTreeSet<TableKey>,
    archives: BTreeSet<TableKey>,
    /// Names of all other files, sorted: unfinished tables, logs, unrelated files.
    pub others: Vec<String>,
}

impl Survey {
    /// Lists `directory`. One that does not exist counts as empty.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn read(directory: impl Into<Directory>) -> io::Result<Survey> {
        let mut survey = Survey::default();
        for name in found(directory.into().names())?.into_iter().flatten() {
            let path = Path::new(&name);
            let archived = || TableKey::named(Path::new(name.strip_suffix(".archive")?));
            if let Some(key) = TableKey::named(path) {
                survey.tables.insert(key);
            } else if let Some(key) = TableKey::of_file(Kind::BoundTable, path) {
                survey.bounds.insert(key);
            } else if let Some(key) = archived() {
                survey.archives.insert(key);
            } else {
                survey.others.push(name);
            }
        }
        survey.others.sort_unstable();
        Ok(survey)
    }

    /// Rule sets and boards (pits a side) with tables, bound tables or archives, sorted.
    pub fn known_boards(&self) -> Vec<(Rules, usize)> {
        let keys = self.tables.iter().chain(&self.bounds).chain(&self.archives);
        let boards: BTreeSet<(Rules, usize)> = keys.map(|key| (key.rules, key.pits)).collect();
        boards.into_iter().collect()
    }

    /// Seeds of the existing layers of a board, ascending.
    pub fn layers(&self, rules: Rules, pits: usize) -> Vec<usize> {
        of_board(&self.tables, rules, pits)
    }

    /// Seeds of the layers of a board with bound tables, ascending.
    pub fn bound_layers(&self, rules: Rules, pits: usize) -> Vec<usize> {
        of_board(&self.bounds, rules, pits)
    }

    /// Seeds of the layers of a board with archives, which have the names of [`archive_path`], ascending.
    pub fn archived_layers(&self, rules: Rules, pits: usize) -> Vec<usize> {
        of_board(&self.archives, rules, pits)
    }
}

fn of_board(keys: &BTreeSet<TableKey>, rules: Rules, pits: usize) -> Vec<usize> {
    keys.iter().filter(|key| (key.rules, key.pits) == (rules, pits)).map(|key| key.seeds).collect()
}
