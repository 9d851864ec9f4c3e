use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::HumanBytes;
use kalah::file::{create_directory, is_same, open, remove, remove_leftovers, replace};
use kalah::header::Kind;
use kalah::printable::{commas, hex};
use kalah::progress::Pulse;
use kalah::table::archive::{archive_path, read_info};
use kalah::table::{Damage, ManifestEntry, Table, TableError, TableKey, Tables};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::cli::{Context, Outcome, Progress, args, bail, examples, failed, failure, line, output, stopped_by_signal};

/// Prepare a folder of tables for a host of data
///
/// Use this to put tables on an object store or a data repository. The folder gets links to the files, or copies on
/// another disk; a manifest, checksums, an index, licences and a dataset card. All tables of the directory are
/// published, each checked against its checksums. A stopped run continues when started again. See docs/building.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Prepare all tables", "kalah publish --output published"),
    ("Prepare their archives, of half the size", "kalah publish --output published --archives"),
]))]
pub(crate) struct Publish {
    /// Folder to write, created if missing; files of its names are replaced
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Publish the archives of the tables instead, which `kalah archive pack` makes
    #[arg(long)]
    archives: bool,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// A file of the folder.
#[derive(Debug, Serialize)]
struct Published {
    name: String,
    #[serde(flatten)]
    key: TableKey,
    positions: u64,
    bytes: u64,
    /// Digest of the table, which is also that of its archive.
    digest: String,
    /// Checksum of the file, in hexadecimal.
    sha256: String,
}

/// The index of the folder.
#[derive(Debug, Serialize)]
struct Index {
    program: &'static str,
    version: &'static str,
    /// `tables` or `archives`.
    contents: &'static str,
    files: Vec<Published>,
}

impl Publish {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let (pulse, entries) = (stopped_by_signal(), self.entries()?);
        self.prepare_folder(&entries)?;
        let bytes = entries.iter().map(|entry| entry.bytes + entry.file.metadata().map_or(0, |file| file.len())).sum();
        let progress = Progress::of(bytes, "bytes").at("checking and hashing");
        let made = progress.complete(&pulse.positions, || {
            rayon::scope(|_| {
                entries.par_iter().map(|entry| self.publish(entry, &pulse)).collect::<failure::Result<Vec<_>>>()
            })
        });
        if pulse.check().is_err() {
            bail!("stopped: run the same command again to continue");
        }
        let (manifest, files): (Vec<ManifestEntry>, Vec<Published>) = made?.into_iter().unzip();
        let contents = if self.archives { "archives" } else { "tables" };
        let index = Index { program: "kalah", version: env!("CARGO_PKG_VERSION"), contents, files };
        write_texts(&self.output, &index, &manifest)?;
        output::answer(self.json, &index, || {
            let (files, folder) = (output::count(index.files.len(), "file"), self.output.display());
            let bytes = HumanBytes(index.files.iter().map(|file| file.bytes).sum());
            line!("{folder}: {files} of {contents}, {bytes}")
        })?;
        Ok(Outcome::Done)
    }

    /// Finds all tables, each with the file to publish.
    fn entries(&self) -> failure::Result<Vec<Source>> {
        let directory = self.tables.directory();
        let mut entries = Vec::new();
        for tables in Tables::open_all(directory)? {
            for table in tables.layers() {
                let (key, header) = (table.key(), table.header());
                let path = if self.archives { archive_path(directory, key) } else { table.path().to_owned() };
                if self.archives {
                    let digest = read_info(&path)
                        .with_context(|| format!("there is no archive of {key}; make one with `kalah archive pack`"))?
                        .digest;
                    if digest != header.digest {
                        return Err(TableError::damaged(Kind::Archive, &path, Damage::OtherDigest).into());
                    }
                }
                let file = path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
                let name = path.file_name().unwrap_or_default().to_owned();
                let to = self.output.join(&name);
                let (bytes, table) = (header.file_bytes, table.path().to_owned());
                entries.push(Source { key, bytes, table, file, to });
            }
        }
        if entries.is_empty() {
            bail!("there are no tables in {directory}");
        }
        Ok(entries)
    }

    /// Makes the folder, without the unfinished files of killed processes. It must not be that of the tables.
    fn prepare_folder(&self, entries: &[Source]) -> failure::Result<()> {
        let folder = &self.output;
        create_directory(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        if self.tables.directory().path().is_some_and(|directory| is_same(directory, folder)) {
            bail!("{} is the directory of the tables: choose another folder", folder.display());
        }
        let texts = NAMES.iter().map(|name| folder.join(name));
        Ok(entries.iter().map(|entry| entry.to.clone()).chain(texts).try_for_each(|path| remove_leftovers(&path))?)
    }

    /// Checks a table, and links or copies its file.
    fn publish(&self, source: &Source, pulse: &Pulse) -> failure::Result<(ManifestEntry, Published)> {
        pulse.check()?;
        let Source { file, to, .. } = source;
        let manifest = ManifestEntry::of(&Table::open(&source.table)?)?;
        pulse.positions.fetch_add(source.bytes, Ordering::Relaxed);
        link(file, to).with_context(|| format!("cannot link or copy {} to {}", file.display(), to.display()))?;
        let (bytes, sha256) = sha256(to, pulse)?;
        let (key, positions, digest) = (source.key, manifest.positions, manifest.digest.clone());
        let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((manifest, Published { name, key, positions, bytes, digest, sha256 }))
    }
}

/// A table to publish.
struct Source {
    key: TableKey,
    bytes: u64,
    table: PathBuf,
    /// The table or its archive, without links.
    file: PathBuf,
    /// Its name in the folder.
    to: PathBuf,
}

/// Makes `to` a link to the file `from`, which is no link, or a copy on another disk. An older file there is replaced.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    // The directory of the tables may have a link to the folder, which has the only copy.
    if !to.is_symlink() && is_same(from, to) {
        return Ok(());
    }
    remove(to)?;
    match std::fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(_) => replace(to, |copy| io::copy(&mut open(from)?, copy).map(drop)),
    }
}

/// Names of the documents. The checksums are in the last one, of all other files.
const NAMES: [&str; 6] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "manifest.jsonl", "index.json", "SHA256SUMS"];

const LICENCES: [&str; 2] = [include_str!("../../../LICENSE-APACHE"), include_str!("../../../LICENSE-MIT")];

/// Writes the documents of a folder, the checksums last.
fn write_texts(folder: &Path, index: &Index, manifest: &[ManifestEntry]) -> failure::Result<()> {
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
    replace(&path, |file| file.write_all(text.as_bytes())).with_context(|| format!("cannot write {}", path.display()))
}

/// The dataset card: Markdown, with the head that Hugging Face reads.
fn card(index: &Index) -> String {
    let mut boards: BTreeMap<(&str, usize), (usize, u64, u64)> = BTreeMap::new();
    for file in &index.files {
        let board = boards.entry((file.key.rules.name(), file.key.pits)).or_default();
        *board = (board.0.max(file.key.seeds), board.1 + file.positions, board.2 + file.bytes);
    }
    let rows = boards.iter().map(|((rules, pits), (seeds, positions, bytes))| {
        format!("| {rules} | {pits} | 2 to {seeds} | {} | {} |\n", commas(*positions), HumanBytes(*bytes))
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
/// If the file cannot be read, or `pulse` was stopped.
fn sha256(path: &Path, pulse: &Pulse) -> failure::Result<(u64, String)> {
    let cannot = || format!("cannot read {}", path.display());
    let (mut file, mut part) = (open(path).with_context(cannot)?, vec![0; PART_BYTES]);
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    loop {
        pulse.check()?;
        let count = file.read(&mut part).with_context(cannot)?;
        if count == 0 {
            return Ok((bytes, hex(&sum.finalize())));
        }
        sum.update(&part[..count]);
        bytes += count as u64;
        pulse.positions.fetch_add(count as u64, Ordering::Relaxed);
    }
}
