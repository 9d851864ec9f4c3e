use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::HumanBytes;
use kalah::build::ComputeError;
use kalah::build::gpu::{max_seeds, self_test};
use kalah::game::Rules;
use kalah::gpu::{Adapter, AdapterReport, Gpu, GpuOptions, Tier};
use serde::Serialize;

use crate::cli::errors::statement;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// List the adapters that tables could be built on
#[derive(Args)]
#[command(after_help = examples(&[
    ("What tables could be built on", "kalah gpu"),
]))]
pub struct GpuCommand {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct GpuReport {
    adapters: Vec<ListedAdapter>,
}

#[derive(Serialize)]
struct ListedAdapter {
    #[serde(flatten)]
    report: AdapterReport,
    /// The largest layer of 6 pits that its limits allow, memory aside.
    max_seeds: usize,
    /// `passed`, or why it cannot be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<String>,
}

/// How long an adapter may do nothing in its self-test.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has an adapter compute small layers: `passed`, or why it cannot be trusted; `None` if it lacks something anyway.
fn tested(adapter: &Adapter) -> Option<String> {
    let test = || {
        let gpu = Arc::new(Gpu::open(adapter, GpuOptions::default().patience(PATIENCE))?);
        Rules::ALL.into_iter().try_for_each(|rules| self_test(&gpu, rules))
    };
    let tested = |error: ComputeError| statement::statement(&error);
    (adapter.report.tier != Tier::Unfit).then(|| test().map_or_else(tested, |()| "passed".to_owned()))
}

impl GpuCommand {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let listed = |adapter: Adapter| ListedAdapter {
            max_seeds: max_seeds(&adapter.report, 6),
            self_test: tested(&adapter),
            report: adapter.report,
        };
        let report = GpuReport { adapters: Adapter::all().into_iter().map(listed).collect() };
        if self.json {
            output::json(&report)?;
            return Ok(Outcome::Done);
        }
        if report.adapters.is_empty() {
            output::line("no adapter: tables are built on the CPU (on Linux a GPU needs its driver's Vulkan part)")?;
        }
        for ListedAdapter { report: adapter, max_seeds, self_test } in &report.adapters {
            let subgroup = adapter.subgroup;
            output::line(format_args!("{} ({}, {})", adapter.name, adapter.device, adapter.backend))?;
            output::line(format_args!("  driver           {}", adapter.driver))?;
            output::line(format_args!("  tier             {}", told(adapter)))?;
            if let Some(result) = self_test {
                output::line(format_args!("  self-test        {result}"))?;
            }
            output::line(format_args!("  largest layer    {max_seeds} seeds of 6 pits, memory aside"))?;
            output::line(format_args!(
                "  limits           {} a binding, {} a buffer, {} storage buffers, workgroups of {}, subgroups of {} to {}",
                HumanBytes(adapter.max_binding_bytes),
                HumanBytes(adapter.max_buffer_bytes),
                adapter.max_storage_buffers,
                adapter.max_workgroup,
                subgroup.0,
                subgroup.1,
            ))?;
            output::line(format_args!("  timestamps       {}", if adapter.timestamps { "yes" } else { "no" }))?;
        }
        Ok(Outcome::Done)
    }
}

/// What a tier means.
fn told(adapter: &AdapterReport) -> String {
    match adapter.tier {
        Tier::Full => "full: --backend auto takes it; kalah bench measures the time of kernels".to_owned(),
        Tier::Untimed => "untimed: --backend auto takes it; kalah bench cannot tell the time of kernels".to_owned(),
        Tier::Software => "software: for tests, slower than the CPU; only when named with --adapter".to_owned(),
        Tier::Unfit => format!("unfit: {}", adapter.lacks.as_deref().unwrap_or("unknown")),
    }
}
