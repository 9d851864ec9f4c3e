//! `kalah publish`.
//!
//! | module | contents |
//! |---|---|
//! | `texts` | the documents of the folder |

mod texts;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::HumanBytes;
use kalah::file::{Replacement, create_directory, found, is_same, remove_leftovers};
use kalah::header::Kind;
use kalah::index::MAX_TABLE_SEEDS;
use kalah::progress::Pulse;
use kalah::table::archive::{archive_path, read_info};
use kalah::table::{Damage, ManifestEntry, Table, TableError, TableKey, Tables, unless_other};
use kalah::verify::Survey;
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::{Context, Outcome, Progress, args, bail, examples, failure, line, output, stopped_by_signal};

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
    /// Folder to write: a new or empty one, or one that this command wrote
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
        texts::write(&self.output, &index, &manifest)?;
        output::answer(self.json, &index, || {
            let (files, folder) = (output::count(index.files.len(), "file"), self.output.display());
            let bytes = HumanBytes(index.files.iter().map(|file| file.bytes).sum());
            line!("{folder}: {files} of {contents}, {bytes}")
        })?;
        Ok(Outcome::Done)
    }

    /// Finds all tables, each with the file to publish.
    fn entries(&self) -> failure::Result<Vec<Source>> {
        let directory = &self.tables.directory;
        let survey = Survey::read(directory).with_context(|| format!("cannot list {directory}"))?;
        let mut entries = Vec::new();
        for (rules, pits, _) in &survey.boards {
            let tables = Tables::open(directory, *rules, *pits, MAX_TABLE_SEEDS)?;
            tables.require_all()?;
            for table in tables.layers() {
                let (key, header) = (table.key(), table.header());
                let path = if self.archives { archive_path(directory, key) } else { table.path().to_owned() };
                if self.archives {
                    let digest = read_info(&path)
                        .with_context(|| format!("there is no archive of {key}; make one with `kalah archive pack`"))?
                        .digest;
                    if digest != header.digest {
                        return Err(TableError::damaged_as(Kind::Archive, &path, Damage::OtherDigest).into());
                    }
                }
                let file = path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
                let name = path.file_name().unwrap_or_default().to_owned();
                let to = self.output.join(&name);
                let (bytes, table) = (header.file_bytes, table.path().to_owned());
                entries.push(Source { key, digest: header.digest, bytes, table, file, to });
            }
        }
        if entries.is_empty() {
            bail!("there are no tables in {directory}");
        }
        Ok(entries)
    }

    /// Makes the folder. Files that this command would not write are an error, and so are the tables themselves.
    fn prepare_folder(&self, entries: &[Source]) -> failure::Result<()> {
        let folder = &self.output;
        create_directory(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let real = |path: &Path| path.canonicalize().ok();
        if self.tables.directory.path().is_some_and(|directory| real(directory) == real(folder)) {
            bail!("{} is the directory of the tables: choose another folder", folder.display());
        }
        let texts = texts::NAMES.iter().map(|name| folder.join(name));
        let own: BTreeSet<PathBuf> = entries.iter().map(|entry| entry.to.clone()).chain(texts).collect();
        let strangers = || -> io::Result<Vec<PathBuf>> {
            let paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
            let paths: io::Result<Vec<PathBuf>> = paths.collect();
            Ok(paths?.into_iter().filter(|path| !own.contains(path)).collect())
        };
        let is_temporary = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tmp");
        let mut found = strangers()?;
        if found.iter().all(is_temporary) {
            // An earlier run was killed while it wrote.
            own.iter().try_for_each(|path| remove_leftovers(path))?;
            found = strangers()?;
        }
        if let Some(path) = found.iter().find(|path| !is_temporary(path)).or(found.first()) {
            bail!("{} is not a file of a published folder: choose an empty folder", path.display());
        }
        entries.iter().try_for_each(|entry| self.require_replaceable(entry))
    }

    /// Returns an error if the folder has a file of this name that must stay.
    fn require_replaceable(&self, Source { key, digest, file, to, .. }: &Source) -> failure::Result<()> {
        if is_same(file, to)? {
            return Ok(());
        }
        let found = match self.archives {
            true => read_info(to).map(|info| (info.key, info.digest)),
            false => Table::open(to).map(|table| (table.key(), table.header().digest)),
        };
        unless_other(to, found, file, |found| *found == (*key, *digest))?;
        Ok(())
    }

    /// Checks a table, and links or copies its file.
    fn publish(&self, source: &Source, pulse: &Pulse) -> failure::Result<(ManifestEntry, Published)> {
        pulse.check()?;
        let Source { file, to, .. } = source;
        let manifest = ManifestEntry::of(&Table::open(&source.table)?)?;
        pulse.positions.fetch_add(source.bytes, Ordering::Relaxed);
        link(file, to).with_context(|| format!("cannot link or copy {} to {}", file.display(), to.display()))?;
        let (bytes, sha256) = texts::sha256(to, pulse).with_context(|| format!("cannot read {}", to.display()))?;
        let (key, positions, digest) = (source.key, manifest.positions, manifest.digest.clone());
        let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((manifest, Published { name, key, positions, bytes, digest, sha256 }))
    }
}

/// A table to publish.
struct Source {
    key: TableKey,
    digest: [u8; 32],
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
    if !to.is_symlink() && is_same(from, to)? {
        return Ok(());
    }
    found(std::fs::remove_file(to))?;
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let (mut source, mut copy) = (kalah::file::open(from)?, Replacement::begin_own(to)?);
    let (bytes, copied) = (source.metadata()?.len(), io::copy(&mut source, &mut copy)?);
    texts::require_whole(copied, bytes)?;
    copy.finish()
}
