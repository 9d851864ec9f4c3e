//! `kalah publish`.
//!
//! | module | contents |
//! |---|---|
//! | `sums` | checksums of files |
//! | `texts` | the documents of the folder |

mod sums;
mod texts;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::HumanBytes;
use kalah::file::{Replacement, create_directory, found};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::progress::Pulse;
use kalah::table::archive::{archive_path, read_info};
use kalah::table::{ManifestEntry, TableError, TableKey, Tables};
use kalah::verify::Survey;
use rayon::prelude::*;
use serde::Serialize;

use self::sums::Sums;
use crate::cli::flags::args;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::stopped_by_signal;

/// Prepare a folder of tables for a host of data
///
/// Use this to put tables on an object store or a data repository. The folder gets links to the files, or copies on
/// another disk; a manifest, checksums, an index, licences and a dataset card. All tables of the directories are
/// published, each checked against its checksums. See docs/building.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Prepare all tables", "kalah publish --output published"),
    ("Prepare their archives, of half the size", "kalah publish --output published --archives"),
]))]
pub struct Publish {
    /// Folder to write: a new or empty one, or one that this command wrote
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Publish the archives of the tables instead, which `kalah archive pack` makes
    #[arg(long)]
    archives: bool,
    #[command(flatten)]
    tables: args::Directories,
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
    rules: &'static str,
    pits: usize,
    seeds: usize,
    positions: u64,
    bytes: u64,
    /// Digest of the table, which is also that of its archive.
    digest: String,
    #[serde(flatten)]
    sums: Sums,
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
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.threads.start()?;
        let (pulse, entries) = (stopped_by_signal(), self.entries()?);
        self.prepare_folder(&entries)?;
        let bytes =
            entries.iter().map(|(table, file)| table.bytes + file.metadata().map_or(0, |file| file.len())).sum();
        let progress = Progress::of(bytes, "bytes").at("checking and hashing");
        let made = progress.complete(&pulse.positions, || {
            rayon::scope(|_| {
                entries.par_iter().map(|entry| self.publish(entry, &pulse)).collect::<anyhow::Result<Vec<_>>>()
            })
        });
        if pulse.check().is_err() {
            bail!("stopped: run the same command again to continue");
        }
        let (manifest, files): (Vec<ManifestEntry>, Vec<Published>) = made?.into_iter().unzip();
        let contents = if self.archives { "archives" } else { "tables" };
        let index = Index { program: "kalah", version: env!("CARGO_PKG_VERSION"), contents, files };
        texts::write(&self.output, &index, &manifest)?;
        if self.json {
            output::json(&index)?;
            return Ok(Outcome::Done);
        }
        let bytes = index.files.iter().map(|file| file.bytes).sum();
        output::line(format_args!(
            "{}: {} of {contents}, {}",
            self.output.display(),
            output::count(index.files.len(), "file"),
            HumanBytes(bytes)
        ))?;
        Ok(Outcome::Done)
    }

    /// Finds all tables, each with the file to publish.
    fn entries(&self) -> anyhow::Result<Vec<(Source, PathBuf)>> {
        let directories = &self.tables.paths;
        let survey = Survey::read(directories).with_context(|| format!("cannot list {directories}"))?;
        let mut entries = Vec::new();
        for (rules, pits, _) in &survey.boards {
            let tables = Tables::open(directories, *rules, *pits, MAX_TABLE_SEEDS)?;
            tables.require_all()?;
            for table in tables.layers() {
                let (key, header) = (table.key(), table.header());
                let file = if self.archives { archive_path(directories, key) } else { table.path().to_owned() };
                if self.archives {
                    let digest = read_info(&file)
                        .with_context(|| format!("there is no archive of {key}; make one with `kalah archive pack`"))?
                        .digest;
                    if digest != header.digest {
                        return Err(TableError::Copies { path: table.path().to_owned(), other: file }.into());
                    }
                }
                entries.push((Source { key, bytes: header.file_bytes, table: table.path().to_owned() }, file));
            }
        }
        if entries.is_empty() {
            bail!("there are no tables in {directories}");
        }
        Ok(entries)
    }

    /// Makes the folder. Files that this command would not write are an error, and so are the tables themselves.
    fn prepare_folder(&self, entries: &[(Source, PathBuf)]) -> anyhow::Result<()> {
        let folder = &self.output;
        create_directory(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let real = |path: &Path| path.canonicalize().ok();
        if self.tables.paths.paths().iter().any(|directory| real(directory) == real(folder)) {
            bail!("{} is a directory of the tables: choose another folder", folder.display());
        }
        let own: BTreeMap<&std::ffi::OsStr, &Path> =
            entries.iter().filter_map(|(_, file)| Some((file.file_name()?, file.as_path()))).collect();
        for entry in std::fs::read_dir(folder)? {
            let (name, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
            let known = own.contains_key(name.as_os_str()) || texts::NAMES.iter().any(|text| name == **text);
            if !known {
                bail!("{} is not a file of a published folder: choose an empty folder", path.display());
            }
        }
        Ok(())
    }

    /// Checks a table, and links or copies its file.
    fn publish(&self, (source, file): &(Source, PathBuf), pulse: &Pulse) -> anyhow::Result<(ManifestEntry, Published)> {
        pulse.check()?;
        let table = kalah::table::Table::open(&source.table)?;
        let manifest = ManifestEntry::of(&table)?;
        pulse.positions.fetch_add(source.bytes, Ordering::Relaxed);
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = self.output.join(&name);
        link(file, &path).with_context(|| format!("cannot link or copy {} to {}", file.display(), path.display()))?;
        let (bytes, sums) = Sums::of(&path, pulse).with_context(|| format!("cannot read {}", path.display()))?;
        let TableKey { rules, pits, seeds } = source.key;
        let (positions, digest) = (manifest.positions, manifest.digest.clone());
        let rules = rules.name();
        Ok((manifest, Published { name, rules, pits, seeds, positions, bytes, digest, sums }))
    }
}

/// A table to publish.
struct Source {
    key: TableKey,
    bytes: u64,
    table: PathBuf,
}

/// Makes `to` a link to the file `from`, or a copy on another disk. An older file there is replaced.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    found(std::fs::remove_file(to))?;
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let (mut source, mut copy) = (kalah::file::open(from)?, Replacement::begin_own(to)?);
    io::copy(&mut source, &mut copy)?;
    copy.finish()
}
