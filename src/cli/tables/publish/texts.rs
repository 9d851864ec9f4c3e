use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

use indicatif::{HumanBytes, HumanCount};
use kalah::file::Replacement;
use kalah::progress::Pulse;
use kalah::table::ManifestEntry;
use sha2::{Digest, Sha256};

use super::Index;
use crate::cli::{Context, failed, failure};

/// Names of the documents. The checksums are in the last one, of all other files.
pub(super) const NAMES: [&str; 6] =
    ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "manifest.jsonl", "index.json", "SHA256SUMS"];

const LICENCES: [&str; 2] = [include_str!("../../../../LICENSE-APACHE"), include_str!("../../../../LICENSE-MIT")];

/// Writes the documents of a folder, the checksums last.
pub(super) fn write(folder: &Path, index: &Index, manifest: &[ManifestEntry]) -> failure::Result<()> {
    let lines = manifest.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let texts = [
        card(index),
        LICENCES[0].to_owned(),
        LICENCES[1].to_owned(),
        lines.join("\n") + "\n",
        serde_json::to_string_pretty(index).map_err(failed)? + "\n",
    ];
    let mut sums: String = index.files.iter().map(|file| format!("{}  {}\n", file.sha256, file.name)).collect();
    for (name, text) in NAMES.into_iter().zip(&texts) {
        put(folder, name, text)?;
        sums += &format!("{}  {name}\n", sha256(&folder.join(name), &Pulse::default())?.1);
    }
    put(folder, "SHA256SUMS", &sums)
}

fn put(folder: &Path, name: &str, text: &str) -> failure::Result<()> {
    let path = folder.join(name);
    // The folder belongs to this command, so any older file is replaced.
    let write = || -> io::Result<()> {
        let mut file = Replacement::begin_own(&path)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// The dataset card: Markdown, with the head that Hugging Face reads.
fn card(index: &Index) -> String {
    let mut boards: BTreeMap<(&str, usize), (usize, u64, u64)> = BTreeMap::new();
    for file in &index.files {
        let board = boards.entry((file.key.rules.name(), file.key.pits)).or_default();
        *board = (board.0.max(file.key.seeds), board.1 + file.positions, board.2 + file.bytes);
    }
    let rows = boards.iter().map(|((rules, pits), (seeds, positions, bytes))| {
        format!("| {rules} | {pits} | 2 to {seeds} | {} | {} |\n", HumanCount(*positions), HumanBytes(*bytes))
    });
    let one = index.contents;
    let restore = match one {
        "archives" => "\nTo restore tables, byte for byte: `kalah archive unpack *.kalah.archive --tables tables`.\n",
        _ => "",
    };
    format!(
        "---
pretty_name: Kalah endgame tables
license:
- apache-2.0
- mit
tags:
- kalah
- mancala
- tablebase
- board-games
viewer: false
---

# Kalah endgame tables

Exact scores of every position of the sowing game Kalah with few seeds in play: the {one} of `kalah` {version}.

| rules | pits a side | seeds in play | positions | bytes |
|---|---|---|---|---|
{rows}
A score is the number of seeds in play that the mover collects with best play.
{restore}
- `kalah verify --all --manifest manifest.jsonl --tables .` compares tables with the manifest.
- `sha256sum --check SHA256SUMS` compares all files.
- `index.json` lists the files: board, positions, bytes, digest of the table, checksum.
",
        version = index.version,
        rows = rows.collect::<String>(),
    )
}

/// Bytes read at a time.
const PART_BYTES: usize = 4 << 20;

/// Returns the bytes of a file and its checksum in hexadecimal, and adds the bytes to `pulse.positions`.
///
/// # Errors
/// If the file cannot be read as far as its length, or `pulse` was stopped.
pub(super) fn sha256(path: &Path, pulse: &Pulse) -> io::Result<(u64, String)> {
    let (mut file, mut part) = (kalah::file::open(path)?, vec![0; PART_BYTES]);
    let length = file.metadata()?.len();
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    loop {
        pulse.check().map_err(io::Error::other)?;
        let count = file.read(&mut part)?;
        if count == 0 {
            break;
        }
        sum.update(&part[..count]);
        bytes += count as u64;
        pulse.positions.fetch_add(count as u64, Ordering::Relaxed);
    }
    require_whole(bytes, length)?;
    Ok((bytes, sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Returns an error unless all bytes of a file were read.
pub(super) fn require_whole(read: u64, length: u64) -> io::Result<()> {
    if read == length {
        return Ok(());
    }
    let message = format!("{read} bytes were read of a file of {length}");
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_ends_elsewhere_than_the_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "all").unwrap();
        assert_eq!(sha256(&path, &Pulse::default()).unwrap().0, 3);
        assert!(require_whole(2, 3).is_err());
        // Its length is 0.
        #[cfg(target_os = "linux")]
        assert!(sha256(Path::new("/proc/self/status"), &Pulse::default()).is_err());
    }
}
