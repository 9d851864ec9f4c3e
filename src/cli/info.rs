use std::ffi::OsStr;

use anyhow::Context;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use kalah::build::BuildRecord;
use kalah::table::{ManifestEntry, Table};
use serde::Serialize;

use super::{Outcome, args, output};

/// List the tables in the directory
#[derive(Args)]
pub struct Info {
    #[command(flatten)]
    tables: args::Directory,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print what `kalah verify --manifest` compares with: one JSON object a table (reads all scores)
    #[arg(long, conflicts_with = "json")]
    manifest: bool,
}

#[derive(Serialize)]
struct Entry {
    rules: &'static str,
    pits: usize,
    seeds: usize,
    positions: u64,
    bytes: u64,
    bits_per_position: f64,
    exceptions: u64,
    digest: String,
    /// How long the build took; absent if the log does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    tables: Vec<Entry>,
}

impl Info {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let directory = &self.tables.path;
        let files = std::fs::read_dir(directory).with_context(|| {
            format!("cannot list {}; make tables with: kalah build --seeds 24", directory.display())
        })?;
        let mut tables = Vec::new();
        let mut outcome = Outcome::Done;
        for file in files {
            let path = file?.path();
            if path.extension() != Some(OsStr::new("kalah")) {
                continue;
            }
            match Table::open(&path) {
                Ok(table) => tables.push(table),
                Err(error) => {
                    outcome = Outcome::Wrong;
                    output::tell(format_args!("kalah: {error}"));
                }
            }
        }
        tables.sort_by_key(|table| (table.key().rules.name(), table.key().pits, table.key().seeds));
        if self.manifest {
            for table in &tables {
                output::json(&ManifestEntry::of(table)?)?;
            }
            return Ok(outcome);
        }
        let entries = tables.iter().map(|table| {
            let (key, header) = (table.key(), table.header());
            Entry {
                rules: key.rules.name(),
                pits: key.pits,
                seeds: key.seeds,
                positions: header.positions,
                bytes: header.file_bytes,
                bits_per_position: output::bits(header.bits_per_position()),
                exceptions: header.exceptions(),
                digest: output::hex(&header.digest),
                seconds: BuildRecord::last(directory, key).map(|record| record.seconds),
            }
        });
        let report = Report { tables: entries.collect() };
        if self.json {
            output::json(&report)?;
            return Ok(outcome);
        }
        output::line("rules         pits seeds       positions       bytes  bits/pos  exceptions    built in  digest")?;
        for entry in &report.tables {
            let seconds = entry.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.2} s"));
            output::line(format_args!(
                "{:<13} {:>4} {:>5} {:>15} {:>11} {:>9.3} {:>11} {:>11}  {}",
                entry.rules,
                entry.pits,
                entry.seeds,
                HumanCount(entry.positions).to_string(),
                HumanBytes(entry.bytes).to_string(),
                entry.bits_per_position,
                HumanCount(entry.exceptions).to_string(),
                seconds,
                &entry.digest[..16],
            ))?;
        }
        let (positions, bytes) =
            report.tables.iter().fold((0, 0), |(p, b), entry| (p + entry.positions, b + entry.bytes));
        output::line(format_args!(
            "{}, {} positions, {}",
            output::count(report.tables.len(), "table"),
            HumanCount(positions),
            HumanBytes(bytes)
        ))?;
        Ok(outcome)
    }
}
