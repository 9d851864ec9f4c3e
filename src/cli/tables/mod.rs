//! Commands that build and check tables.
//!
//! | module | command |
//! |---|---|
//! | `build` | `kalah build` |
//! | `plan` | `kalah plan`: `build`, `layers`, `search` |
//! | `train` | `kalah train` |
//! | `bounds` | `kalah bounds` |
//! | `verify` | `kalah verify` |
//! | `info` | `kalah info` |
//! | `stats` | `kalah stats` |
//! | `export` | `kalah export` |
//! | `fetch` | `kalah fetch`, in a program with tables at addresses |
//! | `archive` | `kalah archive`: `pack`, `unpack` |
//! | `publish` | `kalah publish` |
//! | `bench` | `kalah bench` |
//! | `gpu` | `kalah gpu`; `no_gpu`: the same in a program without GPUs |

mod archive;
mod bench;
mod bounds;
mod build;
mod export;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "gpu")]
mod gpu;
mod info;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
mod plan;
mod publish;
mod stats;
mod train;
mod verify;

use clap::Subcommand;
#[cfg(not(feature = "gpu"))]
use no_gpu as gpu;

use crate::cli::process::outcome::Outcome;

/// The commands, in the order of help.
#[derive(Subcommand)]
pub enum Tables {
    Build(build::Build),
    Plan(plan::Plan),
    Train(train::Train),
    Bounds(bounds::Bounds),
    Verify(verify::Verify),
    Info(info::Info),
    Stats(stats::Stats),
    Export(export::Export),
    Archive(archive::Archive),
    #[cfg(feature = "remote")]
    Fetch(fetch::Fetch),
    Publish(publish::Publish),
    Bench(bench::Bench),
    Gpu(gpu::GpuCommand),
}

impl Tables {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self {
            Tables::Build(build) => build.run(),
            Tables::Plan(plan) => plan.run(),
            Tables::Train(train) => train.run(),
            Tables::Bounds(bounds) => bounds.run(),
            Tables::Verify(verify) => verify.run(),
            Tables::Info(info) => info.run(),
            Tables::Stats(stats) => stats.run(),
            Tables::Export(export) => export.run(),
            Tables::Archive(archive) => archive.run(),
            #[cfg(feature = "remote")]
            Tables::Fetch(fetch) => fetch.run(),
            Tables::Publish(publish) => publish.run(),
            Tables::Bench(bench) => bench.run(),
            Tables::Gpu(gpu) => gpu.run(),
        }
    }
}
