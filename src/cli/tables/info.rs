use std::io;

use clap::Args;
use indicatif::HumanBytes;
use kalah::answer::TablesAnswer;
use kalah::build::{BuildLog, BuildRecord};
use kalah::diagnostic::Diagnostic;
use kalah::evaluation::SEED;
use kalah::printable::commas;
use kalah::table::{BoundTable, Listing, ManifestEntry, Table, TableKey, missing_layers};
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
struct InfoReport<'a> {
    #[serde(flatten)]
    tables: TablesAnswer,
    bounds: Vec<BoundEntry>,
    /// The last build of each table, as far as the directory has a log.
    builds: Vec<&'a BuildRecord>,
}

impl Info {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let directory = self.tables.directory();
        let listing = Listing::read(directory).with_context(|| format!("cannot list {directory}"))?;
        let mut outcome = Outcome::Done;
        for (_, error) in &listing.damaged {
            outcome = outcome.and(if error.is_damage() { Outcome::Wrong } else { Outcome::Failed });
            message!("kalah: {}", error.advised());
        }
        if outcome == Outcome::Failed && listing.tables.is_empty() && listing.bounds.is_empty() {
            return Ok(outcome);
        }
        if self.manifest {
            for table in &listing.tables {
                output::json(&ManifestEntry::of(table)?)?;
            }
            return Ok(outcome);
        }
        for (rules, pits, missing) in listing.gaps() {
            let (pits, missing) = (output::count(pits, "pit"), missing_layers(&missing));
            note!("{rules} with {pits}: {missing}, so the layers above are not used");
        }
        let log = directory.path().map(BuildLog::read);
        let build = |table: &Table| log.as_ref()?.last(table.key());
        let report = InfoReport {
            tables: (&listing).into(),
            bounds: listing.bounds.iter().map(BoundEntry::new).collect(),
            builds: listing.tables.iter().filter_map(build).collect(),
        };
        output::answer(self.json, &report, || report.text(&listing))?;
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

impl InfoReport<'_> {
    fn text(&self, listing: &Listing) -> io::Result<()> {
        let mut grid =
            Grid::new("rules,pits,seeds,positions,bytes,bits/pos,exceptions,built in,on,by,digest".split(','));
        for table in &listing.tables {
            let (key, header) = (table.key(), table.header());
            let build = self.builds.iter().find(|build| build.key == key);
            let cells = [
                format!("{:.3}", header.bits_per_position()),
                commas(header.exceptions()),
                build.map_or("-".to_owned(), |build| format!("{:.2} s", build.seconds)),
                build.map_or("-", |build| build.finished.split('T').next().unwrap_or_default()).to_owned(),
                build.map_or("-", |build| &build.version).to_owned(),
                output::hex(&header.digest)[..16].to_owned(),
            ];
            grid.row(first_cells(key, header.positions, header.file_bytes).into_iter().chain(cells));
        }
        grid.print()?;
        self.bounds_text()?;
        let headers = listing.tables.iter().map(Table::header);
        let (positions, bytes) = headers.fold((0, 0), |(p, b), header| (p + header.positions, b + header.file_bytes));
        line!(
            "{}, {}, {}",
            output::count(listing.tables.len(), "table"),
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
