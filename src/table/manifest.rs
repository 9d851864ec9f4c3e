use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Table, TableError, TableKey, score_counts};
use crate::file;
use crate::game::Rules;
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};

/// What is known of a table without its file: enough to tell whether another build gave the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// The rule set.
    pub rules: String,
    /// Pits a side.
    pub pits: usize,
    /// Seeds in play.
    pub seeds: usize,
    /// Positions.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Scores that are exceptions.
    pub exceptions: u64,
    /// Positions in which the mover collects exactly as many seeds as the index says.
    pub scores: Vec<u64>,
    /// The digest of the table, in hexadecimal.
    pub digest: String,
}

/// Entries of many tables: a file with one JSON object a line.
#[derive(Clone, Debug, Default)]
pub struct Manifest(Vec<ManifestEntry>);

impl ManifestEntry {
    /// The entry of a table; all its scores are read.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn of(table: &Table) -> Result<ManifestEntry, TableError> {
        let (key, header) = (table.key(), table.header());
        Ok(ManifestEntry {
            rules: key.rules.name().to_owned(),
            pits: key.pits,
            seeds: key.seeds,
            positions: header.positions,
            bytes: header.file_bytes,
            exceptions: header.exceptions(),
            scores: score_counts(table)?,
            digest: blake3::Hash::from_bytes(header.digest).to_hex().to_string(),
        })
    }

    /// The table that it is about; `None` if there can be no such table.
    pub fn key(&self) -> Option<TableKey> {
        let (rules, pits, seeds): (Rules, _, _) = (self.rules.parse().ok()?, self.pits, self.seeds);
        let can_be = (1..=MAX_TABLE_PITS).contains(&pits) && (2..=MAX_TABLE_SEEDS).contains(&seeds);
        can_be.then_some(TableKey { rules, pits, seeds })
    }

    /// What of `table`'s header is not as told here: the name of the first such figure.
    ///
    /// The digest covers the digests of all frames, so tables with the same are the same if their checksums hold. The scores
    /// are not counted here.
    pub fn difference(&self, table: &Table) -> Option<&'static str> {
        let header = table.header();
        let digest = blake3::Hash::from_bytes(header.digest).to_hex();
        let figures = [
            ("digest", self.digest == digest.as_str()),
            ("number of positions", self.positions == header.positions),
            ("number of bytes", self.bytes == header.file_bytes),
            ("number of exceptions", self.exceptions == header.exceptions()),
        ];
        figures.into_iter().find(|(_, same)| !same).map(|(name, _)| name)
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When the file cannot be read or is no manifest: a line is no entry, no table can be what it tells of, or two lines tell
    /// different things of one table. An entry that could never be compared would pass as one that was.
    pub fn read(path: &Path) -> io::Result<Manifest> {
        let text = file::read_to_string(path)?;
        let mut entries: Vec<ManifestEntry> = Vec::new();
        // The line and the place of the first entry of a table.
        let mut known: HashMap<TableKey, (usize, usize)> = HashMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let unusable = |what: &dyn std::fmt::Display| {
                io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {what}", number + 1))
            };
            let entry: ManifestEntry = serde_json::from_str(line).map_err(|error| unusable(&error))?;
            let key = entry.key().ok_or_else(|| {
                let ManifestEntry { rules, pits, seeds, .. } = &entry;
                unusable(&format_args!("there is no table of {seeds} seeds for {rules} with {pits} pits"))
            })?;
            let &mut (first, place) = known.entry(key).or_insert((number + 1, entries.len()));
            if entries.get(place).is_some_and(|first| *first != entry) {
                return Err(unusable(&format_args!("it does not agree with line {first} on {key}")));
            }
            entries.push(entry);
        }
        Ok(Manifest(entries))
    }

    /// The entry of a table.
    pub fn entry(&self, key: TableKey) -> Option<&ManifestEntry> {
        self.0.iter().find(|entry| entry.key() == Some(key))
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.0
    }
}
