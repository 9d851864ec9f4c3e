use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use indicatif::HumanBytes;
use kalah::build::PlanError;
use kalah::file::create_directory;
use kalah::index::MAX_TABLE_SEEDS;
use kalah::remote::{Address, Download};
use kalah::system::available_disk;
use kalah::table::{Manifest, TableKey};
use kalah::text::runs;
use serde::Serialize;

use crate::cli::{
    Context, Outcome, Progress, Stoppable, args, cancelled_by_signal, examples, failure, line, note, output,
};

/// Most seeds of a layer.
const MOST: u32 = MAX_TABLE_SEEDS as u32;

/// Download tables from an address
///
/// Layers that the server has as archives only are unpacked. Each layer is compared with all its checksums and
/// digests, and with the digest in the built-in manifest, before it gets its name. Layers that the manifest lacks are
/// named at the end. A stopped download goes on where it was. Layers that the directory has are kept. See
/// docs/remote.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Download the layers to 20 seeds", "kalah fetch https://example.org/tables --seeds 2..20"),
    (
        "Download a layer of another rule set from a bucket",
        "kalah fetch s3://BUCKET/tables --rules standard --seeds 24 --output standard",
    ),
]))]
pub(crate) struct Fetch {
    /// Address of the tables: https://HOST/PATH, s3://BUCKET/PATH or gs://BUCKET/PATH
    #[arg(value_name = "URL")]
    address: String,
    /// Layers: a number of seeds, or a range
    #[arg(long, value_name = "A..B", value_parser = args::range::<2, MOST>)]
    seeds: args::Range,
    /// Directory to write to, created if missing
    #[arg(long, short, value_name = "DIR", default_value = "tables")]
    output: PathBuf,
    #[command(flatten)]
    board: args::BoardFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The answer of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    address: String,
    directory: &'a Path,
    layers: Vec<LayerReport>,
    /// Bytes received by this command.
    received: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct LayerReport {
    #[serde(flatten)]
    key: TableKey,
    /// Bytes of the file.
    bytes: u64,
    /// True if the directory had the layer.
    present: bool,
    /// Bytes that an earlier download had received.
    resumed: u64,
    /// True if the built-in manifest has the digest of the layer.
    known: bool,
}

impl Fetch {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (address, directory) = (Address::parse(&self.address)?, &*self.output);
        let cancel = cancelled_by_signal();
        let download = Download::new(&address, directory, &cancel);
        let args::BoardFlags { rules, pits } = self.board;
        let keys: Vec<TableKey> =
            self.seeds.clone().map(|seeds| TableKey { rules, pits, seeds: seeds as usize }).collect();
        let failed = |key: TableKey| format!("cannot fetch layer {} from {address}", key.seeds);
        let sizes = output::progress::watch(&format!("asking {address} for sizes"), || {
            let size = |&key| download.size(key).with_context(|| failed(key));
            keys.iter().map(size).collect::<failure::Result<Vec<_>>>()
        })?;
        let missing: u64 = sizes.iter().map(|(bytes, have)| bytes - have).sum();
        create_directory(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        if let Some(free) = available_disk(directory).filter(|&free| free < missing) {
            return Err(PlanError::Disk { needed: missing, free, directory: directory.to_owned() }.into());
        }
        note!(
            "{} of {} are to be received from {address}",
            HumanBytes(missing),
            HumanBytes(sizes.iter().map(|&(bytes, _)| bytes).sum())
        );
        let (start, progress, received) = (Instant::now(), Progress::of(missing, "bytes"), AtomicU64::new(0));
        let mut layers = Vec::new();
        for (&key, &(bytes, _)) in keys.iter().zip(&sizes) {
            progress.stage(format!("layer {}", key.seeds));
            let got = progress.watch(&received, || download.layer(key, &received));
            let got = got.with_context(|| failed(key)).if_stopped(format_args!(
                "stopped in layer {}: what was received is kept, and the same command goes on",
                key.seeds
            ));
            let resumed = got?;
            let (present, resumed) = (resumed.is_none(), resumed.unwrap_or(0));
            let known = Manifest::built_in().entry(key).is_some();
            layers.push(LayerReport { key, bytes, present, resumed, known });
        }
        progress.finish();
        let received = received.load(Ordering::Relaxed);
        let seconds = start.elapsed().as_secs_f64();
        let report = Report { address: address.to_string(), directory, layers, received, seconds };
        output::answer(self.json, &report, || report.text())?;
        Ok(Outcome::Done)
    }
}

impl Report<'_> {
    fn text(&self) -> std::io::Result<()> {
        let new = self.layers.iter().filter(|layer| !layer.present).count();
        let unknown: Vec<usize> =
            self.layers.iter().filter(|layer| !layer.known).map(|layer| layer.key.seeds).collect();
        line!(
            "{} in {}: {new} received ({}), {} kept; {}",
            output::count(self.layers.len(), "layer"),
            self.directory.display(),
            HumanBytes(self.received),
            self.layers.len() - new,
            match &*unknown {
                [] => "all match the digests of the built-in manifest".to_owned(),
                _ => format!(
                    "all match their own digests, but the built-in manifest lacks layers {}: only the server vouches \
                     for their scores; check them with `kalah verify --consistency`",
                    runs(&unknown)
                ),
            },
        )
    }
}
