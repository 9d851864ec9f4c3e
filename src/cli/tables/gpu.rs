use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use kalah::build::ComputeError;
use kalah::build::gpu::{max_seeds, self_test};
use kalah::game::Rules;
use kalah::gpu::{Adapter, AdapterReport, Gpu, GpuOptions, Tier, VULKAN_PARTS};
use serde::Serialize;

use crate::cli::{Outcome, examples, failure, line, output};

/// List the GPUs of this machine, and test them
///
/// Use this to find out if tables can be built on a GPU, and to get numbers and names for --adapter. Each adapter
/// computes small layers as a self-test.
#[derive(Args)]
#[command(after_help = examples(&[
    ("List all adapters", "kalah gpu"),
    ("Print them for another program", "kalah gpu --json"),
]))]
pub(crate) struct GpuCommand {
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
    /// Seeds of the largest layer of 6 pits that its limits allow, memory aside.
    max_seeds: usize,
    /// `passed`, or the reason why it cannot be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<String>,
}

/// Maximum time without progress of an adapter in its self-test.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes an adapter compute small layers. Returns `passed`, or why it cannot be trusted; `None` if it is unfit
/// anyway.
fn tested(adapter: &Adapter) -> Option<String> {
    let test = || {
        let mut options = GpuOptions::default();
        options.patience = PATIENCE;
        let gpu = Arc::new(Gpu::open(adapter, options)?);
        Rules::ALL.into_iter().try_for_each(|rules| self_test(&gpu, rules))
    };
    let tested = |error: ComputeError| error.to_string();
    (adapter.report.tier != Tier::Unfit).then(|| test().map_or_else(tested, |()| "passed".to_owned()))
}

impl GpuCommand {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
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
        if report.adapters.iter().all(|adapter| adapter.report.tier == Tier::Software) {
            let only = if report.adapters.is_empty() { "no adapter" } else { "no GPU, only software adapters" };
            line!("{only}: tables are built on the CPU; {VULKAN_PARTS}")?;
        }
        for ListedAdapter { report: adapter, max_seeds, self_test } in &report.adapters {
            line!("{}: {} ({}, {})", adapter.number, adapter.name, adapter.device, adapter.backend)?;
            if let Some(address) = &adapter.pci {
                line!("  PCI address      {address}")?;
            }
            line!("  driver           {}", adapter.driver)?;
            line!("  tier             {}", explanation(adapter))?;
            if let Some(result) = self_test {
                line!("  self-test        {result}")?;
            }
            line!("  largest layer    {max_seeds} seeds of 6 pits, memory aside")?;
        }
        Ok(Outcome::Done)
    }
}

/// Explains a tier.
fn explanation(adapter: &AdapterReport) -> String {
    match adapter.tier {
        Tier::Full => "full: --backend auto uses it; kalah bench measures kernel times".to_owned(),
        Tier::Untimed => "untimed: --backend auto uses it; kalah bench cannot measure kernel times".to_owned(),
        Tier::Software => "software: for tests, slower than the CPU; used only if --adapter names it".to_owned(),
        Tier::Unfit => format!("unfit: {}", adapter.lacks.as_deref().unwrap_or("unknown")),
    }
}
