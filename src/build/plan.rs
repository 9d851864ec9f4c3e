use std::path::{Path, PathBuf};

use super::Backend;
use super::cpu::Workspace;
use super::gpu::Tier;
use crate::game::Rules;
use crate::index::{layer_positions, row_count};
use crate::system::{available_disk, available_memory};
use crate::table::{PairKey, TableKey, table_path};

/// Bits a position of a table, rounded up.
const BITS_PER_POSITION: f64 = 4.2;

/// Positions a second and thread that the row path does on a current machine; relays do [`RELAY_RATE`].
const ROW_RATE: f64 = 110e6;
const RELAY_RATE: f64 = 6e6;

/// The same for a whole GPU, which no build has measured yet, and for software that plays one (measured); relays take ten
/// times as long there.
const GPU_RATE: f64 = 1e9;
const SOFTWARE_GPU_RATE: f64 = 4e6;
const GPU_RELAY_SHARE: f64 = 0.1;

/// Bytes of maps and moves for each row of a board (measured: some 130 at 6 pits and 18 seeds).
const ROW_BYTES: u64 = 160;

/// Bytes of the program without any table: stacks, buffers of threads, the allocator's.
const PROGRAM_BYTES: u64 = 4 << 20;

/// What a build will need.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The layers that are not there yet.
    pub missing: Vec<TableKey>,
    /// Positions of these layers.
    pub positions: u64,
    /// Bytes of memory at the most, beside the page cache that holds the tables.
    pub memory: u64,
    /// Bytes of a GPU's memory at the least; 0 for the CPU.
    pub device_memory: u64,
    /// Bytes of disk that the new tables take.
    pub disk: u64,
    /// Seconds, estimated from the backend and the threads alone.
    pub seconds: f64,
}

/// Why a build cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// More memory than allowed or present.
    #[error("this build needs {} of memory, {} are {allowance}; {advice}", size(*needed), size(*available))]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes to be had.
        available: u64,
        /// Where the limit comes from.
        allowance: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// More disk than is free.
    #[error("this build needs {} of disk, {directory} has {} free; make room or use another --tables directory",
        size(*needed), size(*free))]
    Disk {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The directory.
        directory: PathBuf,
    },
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> indicatif::HumanBytes {
    indicatif::HumanBytes(bytes)
}

impl Plan {
    /// What it takes to build the layers up to that of `last` that are not in `directory`.
    pub fn new(directory: &Path, last: TableKey, backend: &Backend, threads: usize) -> Plan {
        let TableKey { rules, pits, seeds } = last;
        let missing: Vec<TableKey> = (2..=seeds)
            .map(|seeds| TableKey { rules, pits, seeds })
            .filter(|&key| !table_path(directory, key).exists())
            .collect();
        let positions = missing.iter().map(|key| layer_positions(pits, key.seeds)).sum::<u64>();
        let device_memory = match (backend, missing.last()) {
            (Backend::Gpu(gpu), Some(last)) => gpu.least_memory(pits, last.seeds),
            _ => 0,
        };
        let partial = |key: &TableKey| -> u64 {
            let path = table_path(directory, *key).with_added_extension("partial");
            path.metadata().map_or(0, |metadata| metadata.len())
        };
        let disk = packed_bytes(positions) + 4096 * missing.len() as u64;
        Plan {
            positions,
            memory: missing.iter().map(|&key| layer_memory(key, backend)).max().unwrap_or(0),
            device_memory,
            disk: disk.saturating_sub(missing.iter().map(partial).sum()),
            seconds: positions as f64 / rate(rules, backend, threads),
            missing,
        }
    }

    /// What it takes to compute one pair of frames, and to join the pieces of its layer then.
    pub fn of_pair(pair: PairKey, backend: &Backend, threads: usize) -> Plan {
        let TableKey { rules, pits, seeds } = pair.layer;
        let positions = pair.positions();
        Plan {
            missing: vec![pair.layer],
            positions,
            memory: pair_memory(pair, backend),
            device_memory: match backend {
                Backend::Gpu(gpu) => gpu.least_memory(pits, seeds),
                Backend::Cpu(_) => 0,
            },
            disk: packed_bytes(positions) + packed_bytes(layer_positions(pits, seeds)) + 2 * 4096,
            seconds: positions as f64 / rate(rules, backend, threads),
        }
    }

    /// Whether the build fits.
    ///
    /// The memory must be within `budget`, if there is one, and within what is available now.
    ///
    /// # Errors
    /// What does not fit, and what to do.
    pub fn check(&self, directory: &Path, budget: Option<u64>) -> Result<(), PlanError> {
        let needed = self.memory;
        if let Some(budget) = budget.filter(|&budget| needed > budget) {
            let (allowance, advice) = ("allowed by --memory", "allow more, or build fewer seeds");
            return Err(PlanError::Memory { needed, available: budget, allowance, advice });
        }
        // Where the system does not tell, the build tries.
        if let Some(available) = available_memory().filter(|&available| needed > available) {
            let (allowance, advice) = ("available", "end other programs, or build fewer seeds");
            return Err(PlanError::Memory { needed, available, allowance, advice });
        }
        // Where the free space is not told, the writer will find out, and lose nothing.
        match available_disk(directory).filter(|&free| self.disk > free) {
            Some(free) => Err(PlanError::Disk { needed: self.disk, free, directory: directory.to_owned() }),
            None => Ok(()),
        }
    }
}

/// Positions a second.
pub(super) fn rate(rules: Rules, backend: &Backend, threads: usize) -> f64 {
    let relays = rules.relays();
    match backend {
        Backend::Cpu(_) => threads as f64 * if relays { RELAY_RATE } else { ROW_RATE },
        Backend::Gpu(gpu) => {
            let rate = if gpu.report().tier == Tier::Software { SOFTWARE_GPU_RATE } else { GPU_RATE };
            rate * if relays { GPU_RELAY_SHARE } else { 1.0 }
        }
    }
}

/// Bytes that so many positions take in a file.
pub(super) fn packed_bytes(positions: u64) -> u64 {
    (positions as f64 * BITS_PER_POSITION / 8.0) as u64
}

/// Bytes of memory that a layer takes to build: that of its most demanding pair of frames.
fn layer_memory(key: TableKey, backend: &Backend) -> u64 {
    key.pairs().map(|pair| pair_memory(pair, backend)).max().unwrap_or(0)
}

/// Bytes of memory that a pair of frames takes to compute: the pair itself, packed frames on their way to the disk, what is
/// known of rows, and the program.
pub(super) fn pair_memory(pair: PairKey, backend: &Backend) -> u64 {
    let (pits, small, large) = (pair.layer.pits, pair.small, pair.large());
    let packed = packed_bytes(row_count(pits, small) as u64 * row_count(pits, large) as u64);
    let working = match backend {
        // One frame is written while the next one is packed.
        Backend::Cpu(_) => Workspace::bytes(pits, small, large) + 2 * packed,
        // Two come back, one waits, one is written.
        Backend::Gpu(_) => 4 * packed,
    };
    let rows = (1..pair.layer.seeds).map(|seeds| row_count(pits, seeds) as u64).sum::<u64>();
    working + rows * ROW_BYTES + PROGRAM_BYTES
}
