use std::path::{Path, PathBuf};

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::beside;
use kalah_base::system::{MemoryShortage, available_disk, check_memory, check_process_limits};
use kalah_core::game::Rules;
use kalah_core::index::{Frame, layer_positions, row_count};
use kalah_core::table::{PairKey, TableKey};
use kalah_core::text::size;
use serde::Serialize;

use super::backend::Backend;
use super::computer::{ARRIVING_FRAMES, SMALL_ARRIVING_FRAMES};
use super::cpu::Workspace;
use crate::table::PackedFrame;

/// Positions per second and thread on a current machine. For relays see [`RELAY_RATE`].
const ROW_RATE: f64 = 200e6;
const RELAY_RATE: f64 = 60e6;

/// Bytes of a table besides its frames, rounded up.
const HEADER_BYTES: u64 = 4096;

/// The requirements of one layer of a build.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LayerPlan {
    /// The layer; in a document, its seeds.
    #[serde(rename = "seeds", serialize_with = "TableKey::serialize_seeds")]
    pub key: TableKey,
    /// Number of positions.
    pub positions: u64,
    /// Maximum bytes of memory, page cache excluded.
    pub memory: u64,
    /// Bytes of disk for the table. A shared build also has its pieces, as many bytes, until it joins
    /// them.
    pub disk: u64,
    /// Bytes of all tables below. The layer reads at least this much from the page cache or the disk,
    /// and large frames several times.
    pub read: u64,
    /// Estimated seconds, based only on the backend and the threads.
    pub seconds: f64,
}

/// The requirements of a build.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BuildPlan {
    /// Layers that do not exist yet.
    #[serde(rename = "layers")]
    pub missing: Vec<LayerPlan>,
    /// Number of positions in these layers.
    pub positions: u64,
    /// Maximum bytes of memory, without the page cache that holds the tables. An allocator that
    /// keeps freed blocks of some MiB, as glibc's does by default, may take a fifth more.
    pub memory: u64,
    /// Minimum bytes of GPU memory; 0 for the CPU.
    #[serde(rename = "gpu_memory")]
    pub device_memory: u64,
    /// Bytes of disk for the new tables.
    pub disk: u64,
    /// Estimated seconds, based only on the backend and the threads.
    pub seconds: f64,
}

/// Reasons why a build cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The build needs more memory than is allowed or available.
    #[error("{0}")]
    Memory(#[from] MemoryShortage),
    /// The build needs more disk than is free.
    #[error(
        "{} of disk space are needed, but {} has only {} free",
        size(*needed), directory.display(), size(*free)
    )]
    Disk {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The directory.
        directory: PathBuf,
    },
}

impl Diagnostic for PlanError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            PlanError::Memory(MemoryShortage::Available { available, .. }) => {
                Outcome::Failed.help(format!("{}, or build fewer seeds", available.help()))
            }
            PlanError::Memory(_) => Outcome::Failed.help("allow more with --memory, or build fewer seeds"),
            PlanError::Disk { .. } => Outcome::Failed.help("free disk space, or choose another directory"),
        }
    }
}

impl BuildPlan {
    /// Plans the build of the layers up to that of `last` that are not in `directory`.
    pub fn new(directory: &Path, last: TableKey, backend: &Backend, threads: usize) -> BuildPlan {
        let TableKey { rules, pits, seeds } = last;
        let rate = rate(rules, backend, threads);
        let (mut missing, mut read) = (Vec::new(), 0);
        for key in (2..=seeds).map(|seeds| TableKey { seeds, ..last }) {
            let positions = layer_positions(pits, key.seeds);
            let bytes = packed_bytes(positions);
            if !key.path(directory).exists() {
                let (memory, disk) = (working_memory(key, backend), bytes + HEADER_BYTES);
                missing.push(LayerPlan { key, positions, memory, disk, read, seconds: positions as f64 / rate });
            }
            read += bytes;
        }
        let positions = missing.iter().map(|layer| layer.positions).sum::<u64>();
        let device_memory = match (backend, missing.last()) {
            (Backend::Gpu(gpu), Some(last)) => gpu.least_memory(pits, last.key.seeds),
            _ => 0,
        };
        let partial = |layer: &LayerPlan| beside(&layer.key.path(directory), ".partial").metadata();
        let partial: u64 = missing.iter().filter_map(|layer| Some(partial(layer).ok()?.len())).sum();
        let disk = packed_bytes(positions) + HEADER_BYTES * missing.len() as u64;
        BuildPlan {
            positions,
            memory: missing.iter().map(|layer| layer.memory).max().unwrap_or(0),
            device_memory,
            disk: disk.saturating_sub(partial),
            seconds: positions as f64 / rate,
            missing,
        }
    }

    /// Checks that the build fits.
    ///
    /// The memory must be within `budget`, if given, and within the memory currently available.
    ///
    /// # Errors
    /// The resource that is too small.
    pub fn check(&self, directory: &Path, budget: Option<u64>) -> Result<(), PlanError> {
        let what = || "this build needs".to_owned();
        check_memory(self.memory, budget, what)?;
        // The tables are mapped beside that.
        check_process_limits(self.memory + STACK_BYTES, self.mapped(), what)?;
        // If the free space is unknown, the writer will find out, and nothing is lost.
        match available_disk(directory).filter(|&free| self.disk > free) {
            Some(free) => Err(PlanError::Disk { needed: self.disk, free, directory: directory.to_owned() }),
            None => Ok(()),
        }
    }

    /// Bytes of the tables that are mapped at once: at most those of all layers up to the last one.
    fn mapped(&self) -> u64 {
        let of_layer = |key: TableKey, seeds| packed_bytes(layer_positions(key.pits, seeds));
        self.missing.last().map_or(0, |last| (2..=last.key.seeds).map(|seeds| of_layer(last.key, seeds)).sum())
    }
}

fn rate(rules: Rules, backend: &Backend, threads: usize) -> f64 {
    let relays = rules.relays();
    match backend {
        Backend::Cpu(_) => threads as f64 * if relays { RELAY_RATE } else { ROW_RATE },
        Backend::Gpu(gpu) => gpu.rate(relays),
    }
}

/// Bits per position of a table, rounded up.
const BITS_PER_POSITION: f64 = 4.2;

/// Bytes of maps and moves for each row, by pits. Measured: some 130 at 6 pits and 18 seeds, 220 at 7 and 18.
const fn row_bytes(pits: usize) -> u64 {
    if pits > 6 { 240 } else { 160 }
}

/// Bytes of the program without tables: stacks, buffers of threads, the allocator.
const PROGRAM_BYTES: u64 = 4 << 20;

/// Bytes of the stacks of threads that collect, write and finish two layers. Limits of the process count all of them.
const STACK_BYTES: u64 = 4 << 20;

/// Bytes of `positions` positions in a file.
pub(super) fn packed_bytes(positions: u64) -> u64 {
    (positions as f64 * BITS_PER_POSITION / 8.0) as u64
}

/// Bytes of memory to compute a pair of frames: the pair itself, packed frames being written, the
/// moves and maps of rows, and the program.
fn pair_memory(pair: PairKey, backend: &Backend) -> u64 {
    let (pits, small, large) = (pair.layer.pits, pair.small, pair.large());
    let frame = Frame { pits, mover: small, other: large };
    let packed = PackedFrame::most_bytes(frame).max(PackedFrame::most_bytes(frame.mirrored()));
    let working = match backend {
        Backend::Cpu(_) => Workspace::bytes(pits, small, large),
        Backend::Gpu(_) => {
            let (small, most) = SMALL_ARRIVING_FRAMES;
            // A layer begins with small frames while the last ones below are written: one waits, one is copied.
            ARRIVING_FRAMES as u64 * packed + (small as u64 + 2) * packed.min(most)
        }
    };
    // One frame is written while the next one is packed or copied; others may wait.
    let working = working + (2 + backend.waiting_frames() as u64) * packed;
    let rows = (1..pair.layer.seeds).map(|seeds| row_count(pits, seeds) as u64).sum::<u64>();
    working + rows * row_bytes(pits) + PROGRAM_BYTES
}

/// Bytes of memory to compute the most demanding pair of a layer.
pub(super) fn working_memory(key: TableKey, backend: &Backend) -> u64 {
    key.pairs().map(|pair| pair_memory(pair, backend)).max().unwrap_or(0)
}
