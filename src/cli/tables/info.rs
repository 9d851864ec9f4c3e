use std::ffi::OsStr;
use std::io;
use std::path::Path;

use clap::Args;
use indicatif::HumanBytes;
use kalah::build::BuildLog;
use kalah::diagnostic::Diagnostic;
use kalah::evaluation::SEED;
use kalah::printable::commas;
use kalah::table::{BoundTable, ManifestEntry, Table, TableKey, gaps, missing_layers};
use serde::Serialize;

use crate::cli::{Context, Grid, Outcome, args, examples, failure, line, message, note, output};

/// List the tables and bound tables in a directory
///
/// Use this to see which layers exist, their sizes and digests, and gaps.
#[derive(Args)]
#[command(after_help = examples(&[
    ("List the tables with sizes and digests", "kalah info"),
    ("Print a manifest, with which others compare their tables", "kalah info --manifest"),
]))]
pub(crate) struct Info {
    #[command(flatten)]
    tables: args::Directory,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print one JSON object a table, for `kalah verify --manifest`; reads all scores
    #[arg(long, conflicts_with = "json")]
    manifest: bool,
}

#[derive(Serialize)]
struct Entry {
    #[serde(flatten)]
    key: TableKey,
    positions: u64,
    bytes: u64,
    bits_per_position: f64,
    exceptions: u64,
    digest: String,
    /// Duration of the build; absent if the log has no entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Version and commit of the kalah that built it, and when it was finished; absent as `seconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<String>,
}

/// A bound table.
#[derive(Serialize)]
pub(super) struct BoundEntry {
    #[serde(flatten)]
    pub key: TableKey,
    pub positions: u64,
    pub bytes: u64,
    pub bits: u32,
    /// Cuts in seeds; `None` if frames have different ones.
    cuts: Option<Vec<f64>>,
    /// Positions with each code, from the lowest interval up.
    pub codes: Vec<u64>,
    network: String,
    digest: String,
}

#[derive(Serialize)]
struct InfoReport {
    tables: Vec<Entry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bounds: Vec<BoundEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<Gap>,
}

/// Missing layers below others of a board.
#[derive(Serialize)]
struct Gap {
    rules: &'static str,
    pits: usize,
    /// Seeds of the missing layers.
    missing: Vec<usize>,
}

impl Info {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (mut tables, mut bounds) = (Vec::new(), Vec::new());
        let mut outcome = Outcome::Done;
        let directory = self.tables.directory();
        for name in directory.names().with_context(|| format!("cannot list {directory}"))? {
            let opened = match Path::new(&name).extension().and_then(OsStr::to_str) {
                Some("kalah") => Table::open_in(directory, &name).map(|table| tables.push(table)),
                Some("bounds") => BoundTable::open_in(directory, &name).map(|table| bounds.push(table)),
                _ => continue,
            };
            if let Err(error) = opened {
                outcome = outcome.and(if error.is_damage() { Outcome::Wrong } else { Outcome::Failed });
                message!("kalah: {}", error.advised());
            }
        }
        if outcome == Outcome::Failed && tables.is_empty() && bounds.is_empty() {
            return Ok(outcome);
        }
        bounds.sort_by_key(|table| (table.key().rules.name(), table.key().pits, table.key().seeds));
        tables.sort_by_key(|table| (table.key().rules.name(), table.key().pits, table.key().seeds));
        if self.manifest {
            for table in &tables {
                output::json(&ManifestEntry::of(table)?)?;
            }
            return Ok(outcome);
        }
        let log = directory.path().map(BuildLog::read);
        let entries = tables.iter().map(|table| {
            let (key, header) = (table.key(), table.header());
            let record = log.as_ref().and_then(|log| log.last(key));
            Entry {
                key,
                positions: header.positions,
                bytes: header.file_bytes,
                bits_per_position: output::bits(header.bits_per_position()),
                exceptions: header.exceptions(),
                digest: output::hex(&header.digest),
                seconds: record.map(|record| record.seconds),
                version: record.map(|record| record.version.clone()),
                commit: record.and_then(|record| record.commit.clone()),
                finished: record.map(|record| record.finished.clone()),
            }
        });
        let boards = tables.chunk_by(|a, b| (a.key().rules, a.key().pits) == (b.key().rules, b.key().pits));
        let mut all_gaps = Vec::new();
        for board in boards {
            let TableKey { rules, pits, .. } = board[0].key();
            let missing = gaps(&board.iter().map(|table| table.key().seeds).collect::<Vec<_>>());
            if !missing.is_empty() {
                note!(
                    "{rules} with {}: {}, so the layers above are not used",
                    output::count(pits, "pit"),
                    missing_layers(&missing)
                );
                all_gaps.push(Gap { rules: rules.name(), pits, missing });
            }
        }
        let bounds = bounds.iter().map(BoundEntry::new).collect();
        let report = InfoReport { tables: entries.collect(), bounds, gaps: all_gaps };
        output::answer(self.json, &report, || report.text())?;
        Ok(outcome)
    }
}

impl BoundEntry {
    /// Describes a bound table.
    pub(super) fn new(table: &BoundTable) -> BoundEntry {
        let (key, header) = (table.key(), table.header());
        let cuts = header.entries[0].cuts;
        let same = header.entries.iter().all(|entry| entry.cuts == cuts);
        let seeds = |&cut: &i16| f64::from(cut) / f64::from(SEED);
        BoundEntry {
            key,
            positions: header.positions,
            bytes: header.file_bytes,
            bits: header.bits(),
            cuts: same.then(|| cuts.sixteenths().iter().map(seeds).collect()),
            codes: header.counts()[..1 << header.bits()].to_vec(),
            network: output::hex(&table.network().digest()),
            digest: output::hex(&header.digest),
        }
    }
}

impl InfoReport {
    fn text(&self) -> io::Result<()> {
        let mut grid =
            Grid::new("rules,pits,seeds,positions,bytes,bits/pos,exceptions,built in,on,by,digest".split(','));
        for entry in &self.tables {
            let cells = [
                format!("{:.3}", entry.bits_per_position),
                commas(entry.exceptions),
                entry.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.2} s")),
                entry.finished.as_ref().map_or("-", |time| time.split('T').next().unwrap_or(time)).to_owned(),
                entry.version.clone().unwrap_or("-".to_owned()),
                entry.digest[..16].to_owned(),
            ];
            grid.row(first_cells(entry.key, entry.positions, entry.bytes).into_iter().chain(cells));
        }
        grid.print()?;
        self.bounds_text()?;
        let (positions, bytes) =
            self.tables.iter().fold((0, 0), |(p, b), entry| (p + entry.positions, b + entry.bytes));
        line!(
            "{}, {}, {}",
            output::count(self.tables.len(), "table"),
            output::many(positions, "position"),
            HumanBytes(bytes)
        )
    }

    /// Prints the bound tables.
    fn bounds_text(&self) -> io::Result<()> {
        if self.bounds.is_empty() {
            return Ok(());
        }
        let mut grid = Grid::new("rules,pits,seeds,positions,bytes,bits,cuts,codes,network,digest".split(','));
        for entry in &self.bounds {
            let shares = entry.codes.iter().map(|&count| (100.0 * count as f64 / entry.positions as f64).round());
            let cells = [
                entry.bits.to_string(),
                entry.cuts.as_ref().map_or("by frame".to_owned(), |cuts| output::joined(cuts, ",")),
                output::joined(shares, ":") + " %",
                entry.network[..16].to_owned(),
                entry.digest[..16].to_owned(),
            ];
            grid.row(first_cells(entry.key, entry.positions, entry.bytes).into_iter().chain(cells));
        }
        line!("bound tables")?;
        grid.print()
    }
}

/// The first cells of a row about a table.
fn first_cells(TableKey { rules, pits, seeds }: TableKey, positions: u64, bytes: u64) -> [String; 5] {
    let (positions, bytes) = (commas(positions), HumanBytes(bytes).to_string());
    [rules.to_string(), pits.to_string(), seeds.to_string(), positions, bytes]
}
