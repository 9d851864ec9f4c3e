//! `kalah archive`.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand};
use indicatif::HumanBytes;
use kalah::file;
use kalah::index::MAX_TABLE_SEEDS;
use kalah::system::check_memory;
use kalah::table::archive::{self, ArchiveInfo, archive_path};
use kalah::table::{DirectoryLock, TableKey, Tables};
use serde::Serialize;

use crate::cli::{
    Outcome, Progress, Stoppable, args, examples, failure, line, output, return_freed_memory, stopped_by_signal,
};

/// Compress tables for storage and download, and restore them
#[derive(Subcommand)]
pub(crate) enum Archive {
    Pack(Pack),
    Unpack(Unpack),
}

impl Archive {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        match self {
            Archive::Pack(pack) => pack.run(),
            Archive::Unpack(unpack) => unpack.run(),
        }
    }
}

/// Compress tables into archives
///
/// Use this to store or publish tables in half the space. The archive of TABLE.kalah is TABLE.kalah.archive; the table
/// is kept. Archives cannot be probed. A table is packed completely or not at all. Existing archives of the same
/// tables are checked and kept, so run the same command again after an interruption (Ctrl-C). Packing needs a byte of
/// memory for each position of the largest frame, and about 50 MiB a thread. See docs/archive.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Pack all layers into another directory", "kalah archive pack --output archives"),
    ("Pack one layer", "kalah archive pack --seeds 20"),
]))]
pub(crate) struct Pack {
    /// Pack only the layer with this many seeds [default: all layers, which must have no gap]
    #[arg(long, value_parser = args::seeds)]
    seeds: Option<usize>,
    /// Write the archives to DIR [default: the directory of the tables]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Limit the memory of packing, page cache excluded, such as 4GiB [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    #[command(flatten)]
    common: args::Common,
}

/// Restore tables from archives, and check them
///
/// Use this after downloading archives. The tables are compared with the digests in the archives. Archives are
/// unpacked frame by frame, so run the same command again after an interruption (Ctrl-C). Unpacking needs a byte and
/// a half of memory for each position of the largest frame, and about 20 MiB a thread: 1.1 GiB for 34 seeds.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Restore one table", "kalah archive unpack archives/empty-capture-6-24.kalah.archive"),
    ("Restore all tables into a directory", "kalah archive unpack archives/*.kalah.archive --tables tables"),
]))]
pub(crate) struct Unpack {
    /// Archives to unpack, such as empty-capture-6-24.kalah.archive
    #[arg(required = true)]
    archives: Vec<PathBuf>,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    threads: args::Threads,
    /// Limit the memory of unpacking, page cache excluded, such as 4GiB [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Packed {
    #[serde(flatten)]
    key: TableKey,
    positions: u64,
    archive: PathBuf,
    bytes: u64,
    bits_per_position: f64,
    digest: String,
    seconds: f64,
    /// True if the archive existed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    kept: bool,
}

impl Pack {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        return_freed_memory();
        self.common.threads.start()?;
        let args::BoardFlags { rules, pits } = self.common.board;
        let tables = Tables::open(self.common.tables.path(), rules, pits, self.seeds.unwrap_or(MAX_TABLE_SEEDS))?;
        if self.seeds.is_none() {
            tables.require_all()?;
        }
        let layers = match self.seeds {
            Some(seeds) => seeds..=seeds,
            None => 2..=tables.max_seeds().unwrap_or(2),
        };
        let chosen = layers.map(|seeds| tables.require(seeds)).collect::<Result<Vec<_>, _>>()?;
        for table in &chosen {
            let needed = archive::compress_memory(table.key(), rayon::current_num_threads());
            check_memory(needed, self.memory, || format!("packing {} takes", table.path().display()))?;
        }
        let directory = self.output.as_deref().unwrap_or(self.common.tables.path());
        // Only one process packs at a time, so an unfinished archive is that of a killed one.
        let _lock = DirectoryLock::take(directory)?;

        let pulse = stopped_by_signal();
        let progress = Progress::new(chosen.iter().map(|table| table.header().positions).sum());
        let mut archives = Vec::new();
        for table in chosen {
            let (key, start) = (table.key(), Instant::now());
            let path = archive_path(directory, key);
            file::remove_leftovers(&path)?;
            progress.stage(format!("layer {}", key.seeds));
            let keep = archive::is_compressed(table, &path, &pulse.cancel).and_then(|kept| {
                let info = if kept {
                    progress.skip(table.header().positions);
                    archive::read_info(&path)
                } else {
                    progress.watch(&pulse.positions, || archive::compress(table, &path, &pulse))
                };
                Ok((info?, kept))
            });
            let (info, kept) = keep.if_stopped(format_args!(
                "stopped while packing {key}: finished archives are kept; run the same command again to continue"
            ))?;
            archives.push(Packed::new(info, path, start.elapsed().as_secs_f64(), kept));
        }
        progress.finish();
        print(&archives, "packed", self.common.json)
    }
}

impl Unpack {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        return_freed_memory();
        self.threads.start()?;
        let infos = self.archives.iter().map(archive::read_info).collect::<Result<Vec<_>, _>>()?;
        for (path, info) in self.archives.iter().zip(&infos) {
            let needed = archive::decompress_memory(info, rayon::current_num_threads());
            check_memory(needed, self.memory, || format!("unpacking {} takes", path.display()))?;
        }
        let lock = DirectoryLock::take(self.tables.path())?;
        let progress = Progress::new(infos.iter().map(|info| info.positions).sum());
        let pulse = stopped_by_signal();
        let mut archives = Vec::new();
        for (path, info) in self.archives.into_iter().zip(infos) {
            let start = Instant::now();
            progress.stage(format!("layer {}", info.key.seeds));
            let table = progress.watch(&pulse.positions, || archive::decompress(&path, &lock, &pulse));
            table.if_stopped(format_args!(
                "stopped while unpacking {}; run the same command again to continue",
                path.display()
            ))?;
            archives.push(Packed::new(info, path, start.elapsed().as_secs_f64(), false));
        }
        progress.finish();
        print(&archives, "unpacked", self.json)
    }
}

impl Packed {
    fn new(info: ArchiveInfo, archive: PathBuf, seconds: f64, kept: bool) -> Packed {
        Packed {
            key: info.key,
            positions: info.positions,
            archive,
            bytes: info.archive_bytes,
            bits_per_position: output::bits(info.bits_per_position()),
            digest: output::hex(&info.digest),
            seconds,
            kept,
        }
    }
}

fn print(archives: &[Packed], done: &str, json: bool) -> failure::Result<Outcome> {
    output::answer(json, &serde_json::json!({ "archives": archives }), || {
        archives.iter().try_for_each(|archive| {
            line!(
                "{}: {}, {}, {}, {:.3} bits a position, {:.2} s",
                archive.archive.display(),
                if archive.kept { "kept" } else { done },
                output::many(archive.positions, "position"),
                HumanBytes(archive.bytes),
                archive.bits_per_position,
                archive.seconds,
            )
        })
    })?;
    Ok(Outcome::Done)
}
