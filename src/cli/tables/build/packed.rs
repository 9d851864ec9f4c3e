//! `kalah build --packed`: the upper layers are kept as archives only.

use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration};
use kalah::build::{ArchiveReads, BuildEvent, BuildPlan, BuildRecord, Builder, layer_plans};
use kalah::system::available_memory;
use kalah::table::TableKey;
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::tables::build::events;

#[derive(Serialize)]
struct ArchivesReport<'a> {
    rules: &'a str,
    pits: usize,
    seeds: usize,
    /// Seeds of the lowest layer kept as an archive.
    packed_from: usize,
    kept: usize,
    built: &'a [BuildRecord],
    /// Number of packed layers.
    packed: usize,
    /// Amount read from archives.
    reads: ArchiveReads,
    positions: u64,
    seconds: f64,
}

/// Builds the layers up to `seeds` and keeps those from `first` up as archives.
pub fn build_packed(common: &args::Common, seeds: usize, first: usize, memory: Option<u64>) -> anyhow::Result<Outcome> {
    let args::BoardFlags { rules, pits } = common.board;
    let (directory, threads) = (&common.tables.path, rayon::current_num_threads());
    let last = TableKey { rules, pits, seeds };
    let plan = BuildPlan::of_archives(directory, last, first, threads);
    if !plan.missing.is_empty() {
        let (board, team) = (output::count(pits, "pit"), output::count(threads, "thread"));
        output::note(format_args!(
            "{} to build for {rules} with {board}, those from {first} seeds up as archives: {} positions, {} of \
             memory at least, {} of disk, about {} to compute with {team}, and longer to pack and unpack",
            output::count(plan.missing.len(), "layer"),
            HumanCount(plan.positions),
            HumanBytes(plan.memory),
            HumanBytes(plan.disk),
            HumanDuration(Duration::from_secs_f64(plan.seconds)),
        ));
    }
    plan.check(directory, memory)?;
    let memory = memory.unwrap_or_else(usual_memory).max(plan.memory);
    // Unpacking a position takes longer than computing one.
    let layers = layer_plans(last, Some(first), (memory, threads), |key| !plan.missing.contains(&key));
    let unpacked: u64 = layers.iter().map(|layer| layer.decompressed_positions).sum();
    let progress = Progress::of(plan.positions + unpacked, "positions to compute or unpack");
    let on_event = |event: BuildEvent| events::print(&progress, &event);
    let builder = Builder::new(directory, last).archives(first, memory);
    let (report, seconds) = events::run(&progress, |pulse| builder.run(pulse, &on_event))?;
    let positions = report.positions();
    if common.json {
        let (rules, kept, built) = (rules.name(), report.kept, &report.built[..]);
        let (packed_from, packed, reads) = (first, report.compressed, report.reads);
        output::json(&ArchivesReport {
            rules,
            pits,
            seeds,
            packed_from,
            kept,
            built,
            packed,
            reads,
            positions,
            seconds,
        })?;
        return Ok(Outcome::Done);
    }
    if report.built.is_empty() && report.compressed == 0 {
        let directory = directory.display();
        output::line(format_args!("nothing to build: all layers to {seeds} seeds are in {directory}"))?;
        return Ok(Outcome::Done);
    }
    output::line(format_args!(
        "{} built and {} packed in {seconds:.1} s ({} positions; {} positions unpacked from {} of archives), {} \
         kept, in {}",
        output::count(report.built.len(), "layer"),
        output::count(report.compressed, "layer"),
        HumanCount(positions),
        HumanCount(report.reads.positions),
        HumanBytes(report.reads.bytes),
        report.kept,
        directory.display(),
    ))?;
    Ok(Outcome::Done)
}

/// Default memory of a build into archives: most of the available memory, since each frame kept in memory is unpacked
/// once less.
pub fn usual_memory() -> u64 {
    available_memory().map_or(0, |bytes| bytes / 4 * 3)
}
