use std::io;
use std::path::Path;
use std::sync::LazyLock;

use kalah_core::file;
use kalah_core::table::{Table, TableError, TableKey};
use serde::{Deserialize, Serialize};

use super::score_counts;

/// The manifest's record of a table: enough to decide whether another build gave the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// The table.
    #[serde(flatten)]
    pub key: TableKey,
    /// Positions.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Scores that are exceptions.
    pub exceptions: u64,
    /// Element `v` is the number of positions with score `v`.
    pub scores: Vec<u64>,
    /// The digest of the table, in hexadecimal.
    pub digest: String,
}

/// Entries of many tables: a file with one JSON object per line.
#[derive(Clone, Debug, Default)]
pub struct Manifest(Vec<ManifestEntry>);

impl ManifestEntry {
    /// Makes the entry of a table. This reads all its scores.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn of(table: &Table) -> Result<ManifestEntry, TableError> {
        let header = table.header();
        Ok(ManifestEntry {
            key: header.key,
            positions: header.positions,
            bytes: header.file_bytes,
            exceptions: header.exceptions(),
            scores: score_counts(table)?,
            digest: blake3::Hash::from_bytes(header.digest).to_hex().to_string(),
        })
    }

    /// Name of the first figure in the header of `table` that differs from this entry.
    ///
    /// The digest covers the digests of all frames, so tables with the same digest are equal if
    /// their checksums match. The scores are not counted here.
    pub(crate) fn difference(&self, table: &Table) -> Option<&'static str> {
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
    /// The built-in manifest.
    pub fn built_in() -> &'static Manifest {
        static BUILT_IN: LazyLock<Manifest> =
            LazyLock::new(|| Manifest::parse(include_str!("../../manifest.jsonl")).expect("a test reads it"));
        &BUILT_IN
    }

    /// Returns true if the built-in manifest has the table `key` with another digest.
    pub fn contradicts(key: TableKey, digest: &[u8; 32]) -> bool {
        let known = Manifest::built_in().entry(key);
        known.is_some_and(|entry| entry.digest != blake3::Hash::from_bytes(*digest).to_hex().as_str())
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is not an entry of a possible table.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Manifest> {
        let path = path.as_ref();
        Manifest::parse(&file::read_to_string(path)?)
    }

    /// Reads the text of a manifest.
    ///
    /// # Errors
    /// As [`Manifest::read`], for its text.
    pub fn parse(text: &str) -> io::Result<Manifest> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let entry = |(number, line)| {
            let failed = |error| io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", number + 1));
            serde_json::from_str(line).map_err(failed)
        };
        lines.map(entry).collect::<io::Result<_>>().map(Manifest)
    }

    /// The entry of a table.
    pub fn entry(&self, key: TableKey) -> Option<&ManifestEntry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.0
    }
}
