use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use kalah::build::Backend;
use kalah::build::cpu::Pulse;
use kalah::index::MAX_TABLE_SEEDS;
use kalah::isa::Isa;
use kalah::table::{Manifest, Table, Tables};
use kalah::verify::{Fault, Sample, check_against, check_checksums, check_consistency, check_manifest, check_sample};
use serde::Serialize;

use super::progress::Progress;
use super::{Outcome, advice, args, output};

/// Check that tables are right
///
/// Exits 3 at the first wrong score or damage.
/// Without a choice of checks: --checksums.
#[derive(Args)]
pub struct Verify {
    /// Check the layer with this many seeds [default: all layers]
    #[arg(long, value_parser = args::seeds)]
    seeds: Option<usize>,
    /// Every block against its checksum, every frame and the whole against their digests
    #[arg(long)]
    checksums: bool,
    /// Every score is the minimax of its children, found by an independent slow path
    #[arg(long)]
    consistency: bool,
    /// With --consistency: only about this many positions a layer (never fewer; all if it has no more): the first and the
    /// last of every frame, and random ones in proportion to its positions
    #[arg(long, value_name = "N", requires = "consistency")]
    sample: Option<u64>,
    /// With --sample: where the random numbers start; the same number draws the same positions
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    random_seed: u64,
    /// Compute the layer again and compare it bit for bit
    #[arg(long, value_name = "BACKEND")]
    against: Option<Against>,
    /// Compare the tables with those that this file tells of (tables/manifest.jsonl of the repository has the known ones)
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    gpu: args::GpuFlags,
    #[command(flatten)]
    common: args::Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum Against {
    /// The CPU builder
    Cpu,
    /// The GPU builder
    Gpu,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Check {
    Checksums,
    Manifest,
    Consistency,
    Cpu,
    Gpu,
}

/// One check of one layer.
#[derive(Serialize)]
struct Passed {
    seeds: usize,
    check: Check,
    /// Positions, or blocks of a checksum.
    checked: u64,
    /// Frames visited, of a consistency check.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<usize>,
    seconds: f64,
}

#[derive(Serialize)]
struct Wrong {
    seeds: usize,
    check: Check,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<u8>,
    message: String,
}

#[derive(Serialize)]
struct Report {
    rules: &'static str,
    pits: usize,
    ok: bool,
    passed: Vec<Passed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<Wrong>,
}

impl Verify {
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.common.threads.start()?;
        let args::Board { rules, pits } = self.common.board;
        let last = self.seeds.unwrap_or(MAX_TABLE_SEEDS);
        let tables = Tables::open(&self.common.tables.path, rules, pits, last)?;
        let layers = match self.seeds {
            Some(seeds) => seeds..=seeds,
            None => 2..=tables.max_seeds().unwrap_or(2),
        };
        for seeds in layers.clone() {
            tables.require(seeds)?;
        }
        let mut checks = Vec::new();
        let others = self.consistency || self.against.is_some() || self.manifest.is_some();
        if self.checksums || !others {
            checks.push(Check::Checksums);
        }
        let manifest = match &self.manifest {
            Some(path) => {
                checks.push(Check::Manifest);
                Manifest::read(path).with_context(|| format!("cannot read the manifest {}", path.display()))?
            }
            None => Manifest::default(),
        };
        if self.consistency {
            checks.push(Check::Consistency);
        }
        let backend = match self.against {
            Some(Against::Gpu) => Backend::Gpu(self.gpu.open()?),
            _ => Backend::Cpu(Isa::detect()),
        };
        checks.extend(self.against.map(|against| match against {
            Against::Cpu => Check::Cpu,
            Against::Gpu => Check::Gpu,
        }));

        let work = |check: Check, table: &Table| match (check, self.sample) {
            (Check::Checksums | Check::Manifest, _) => 0,
            (Check::Consistency, Some(count)) => self.sample(&tables, table.key().seeds, count).positions(),
            (Check::Consistency | Check::Cpu | Check::Gpu, _) => table.header().positions,
        };
        let every = || checks.iter().flat_map(|&check| layers.clone().map(move |seeds| (check, seeds)));
        let total = every().map(|(check, seeds)| tables.layer(seeds).map_or(0, |table| work(check, table))).sum();
        let progress = Progress::new(total);
        let pulse = Pulse::default();
        let mut report = Report { rules: rules.name(), pits, ok: true, passed: Vec::new(), wrong: None };
        for (check, seeds) in every() {
            let start = Instant::now();
            progress.stage(format!("layer {seeds}, {}", check.name()));
            let result =
                progress.watch(&pulse.positions, || self.check(check, (&backend, &manifest), &tables, seeds, &pulse));
            match result {
                Ok(checked) => {
                    // None is left out, see `Sample::frames`.
                    let frames = matches!(check, Check::Consistency).then_some(seeds - 1);
                    let passed = Passed { seeds, check, checked, frames, seconds: start.elapsed().as_secs_f64() };
                    let told = format!("{} {}, no fault, {:.2} s", HumanCount(checked), check.unit(), passed.seconds);
                    progress.step(passed.seconds, &format!("layer {seeds}: {told}"));
                    report.passed.push(passed);
                }
                Err(Fault::Failed(error)) => return Err(error.into()),
                // A directory may have more than is known.
                Err(Fault::NotInManifest(_)) if self.seeds.is_none() => {
                    progress.note(&format!("layer {seeds}: not in the manifest"));
                }
                Err(fault @ (Fault::Gpu(_) | Fault::NotInManifest(_))) => return Err(fault.into()),
                Err(fault) => {
                    report.ok = false;
                    report.wrong = Some(Wrong::new(seeds, check, &fault));
                    break;
                }
            }
        }
        progress.finish();
        self.tell(&report)?;
        Ok(if report.ok { Outcome::Done } else { Outcome::Wrong })
    }

    fn check(
        &self,
        check: Check,
        (backend, manifest): (&Backend, &Manifest),
        tables: &Tables,
        seeds: usize,
        pulse: &Pulse,
    ) -> Result<u64, Fault> {
        let checked: &AtomicU64 = &pulse.positions;
        match (check, self.sample) {
            (Check::Checksums, _) => check_checksums(tables.require(seeds)?),
            (Check::Manifest, _) => check_manifest(manifest, tables.require(seeds)?),
            (Check::Consistency, Some(count)) if count < tables.require(seeds)?.header().positions => {
                check_sample(tables, &self.sample(tables, seeds, count), checked)
            }
            (Check::Consistency, _) => check_consistency(tables, seeds, checked),
            // In the pool, see `Builder::run`.
            (Check::Cpu, _) => rayon::scope(|_| check_against(backend, tables, seeds, pulse)),
            (Check::Gpu, _) => check_against(backend, tables, seeds, pulse),
        }
    }

    /// The positions that --sample asks for.
    fn sample(&self, tables: &Tables, seeds: usize, count: u64) -> Sample {
        Sample::new(tables.key(seeds), count, self.random_seed)
    }

    fn tell(&self, report: &Report) -> anyhow::Result<()> {
        if self.common.json {
            output::json(report)?;
        } else if let Some(wrong) = &report.wrong {
            output::line(format_args!("WRONG: {}", wrong.message))?;
        } else {
            for check in [Check::Checksums, Check::Manifest, Check::Consistency, Check::Cpu, Check::Gpu] {
                let of_check = || report.passed.iter().filter(|passed| passed.check.name() == check.name());
                let checked: u64 = of_check().map(|passed| passed.checked).sum();
                let seconds: f64 = of_check().map(|passed| passed.seconds).sum();
                let frames: usize = of_check().filter_map(|passed| passed.frames).sum();
                if of_check().count() > 0 {
                    output::line(format_args!(
                        "{}: {} {} in {}{}, no fault, {seconds:.1} s",
                        check.name(),
                        HumanCount(checked),
                        check.unit(),
                        if frames > 0 { output::count(frames, "frame") + " of " } else { String::new() },
                        output::count(of_check().count(), "layer"),
                    ))?;
                }
            }
        }
        Ok(())
    }
}

impl Check {
    fn name(self) -> &'static str {
        match self {
            Check::Checksums => "checksums",
            Check::Manifest => "manifest",
            Check::Consistency => "consistency",
            Check::Cpu => "against the CPU",
            Check::Gpu => "against the GPU",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Check::Checksums => "blocks",
            Check::Manifest => "positions in tables with the same digest",
            Check::Consistency => "positions are the minimax of their children",
            Check::Cpu | Check::Gpu => "positions the same when computed again",
        }
    }
}

impl Wrong {
    fn new(seeds: usize, check: Check, fault: &Fault) -> Wrong {
        let message = advice::told(fault);
        match fault {
            Fault::Score { position, stored, right, .. } => Wrong {
                seeds,
                check,
                position: Some(position.to_string()),
                stored: Some(*stored),
                right: Some(*right),
                message,
            },
            _ => Wrong { seeds, check, position: None, stored: None, right: None, message },
        }
    }
}
