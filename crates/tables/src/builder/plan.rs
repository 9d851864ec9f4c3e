use std::path::{Path, PathBuf};

use kalah_core::game::Rules;
use kalah_core::index::layer_positions;
use kalah_core::isa::Isa;

use super::backend::Backend;
use super::layer_plan::{archive_bytes, layer_memory};
use super::sizes::{packed_bytes, pair_memory, working_memory};
use crate::file::beside;
use crate::system::{MemoryShortage, available_disk, check_address_space, check_memory};
use crate::table::archive::archive_path;
use crate::table::{PairKey, TableKey};

/// Positions per second and thread on a current machine. For relays see [`RELAY_RATE`].
const ROW_RATE: f64 = 200e6;
const RELAY_RATE: f64 = 60e6;

/// The requirements of a build.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BuildPlan {
    /// Layers that do not exist yet.
    pub missing: Vec<TableKey>,
    /// Number of positions in these layers.
    pub positions: u64,
    /// Maximum bytes of memory, without the page cache that holds the tables. An allocator that
    /// keeps freed blocks of some MiB, as glibc's does by default, may take a fifth more.
    pub memory: u64,
    /// Minimum bytes of GPU memory; 0 for the CPU.
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
    #[error("this build needs {needed} bytes of disk, but {} has {free} free", directory.display())]
    Disk {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The directory.
        directory: PathBuf,
    },
}

impl BuildPlan {
    /// Plans the build of the layers up to that of `last` that are not in `directory`.
    pub fn new(directory: &Path, last: TableKey, backend: &Backend, threads: usize) -> BuildPlan {
        let TableKey { rules, pits, seeds } = last;
        let missing: Vec<TableKey> = (2..=seeds)
            .map(|seeds| TableKey { rules, pits, seeds })
            .filter(|&key| !key.path(directory).exists())
            .collect();
        let positions = missing.iter().map(|key| layer_positions(pits, key.seeds)).sum::<u64>();
        let device_memory = match (backend, missing.last()) {
            (Backend::Gpu(gpu), Some(last)) => gpu.least_memory(pits, last.seeds),
            _ => 0,
        };
        let partial = |key: &TableKey| -> u64 {
            let path = beside(&key.path(directory), ".partial");
            path.metadata().map_or(0, |metadata| metadata.len())
        };
        let disk = packed_bytes(positions) + 4096 * missing.len() as u64;
        BuildPlan {
            positions,
            memory: missing.iter().map(|&key| working_memory(key, backend)).max().unwrap_or(0),
            device_memory,
            disk: disk.saturating_sub(missing.iter().map(partial).sum()),
            seconds: positions as f64 / rate(rules, backend, threads),
            missing,
        }
    }

    /// Plans the computation of one pair of frames, followed by joining the pieces of its layer.
    pub fn of_pair(pair: PairKey, backend: &Backend, threads: usize) -> BuildPlan {
        let TableKey { rules, pits, seeds } = pair.layer;
        let positions = pair.positions();
        BuildPlan {
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

    /// Plans the build of the layers up to that of `last` on the CPU, those from `first` seeds up
    /// into archives ([`super::Builder::archives`]).
    pub fn of_archives(directory: &Path, last: TableKey, first: usize, threads: usize) -> BuildPlan {
        let backend = Backend::Cpu(Isa::detect());
        let below = TableKey { seeds: last.seeds.min(first.max(2) - 1), ..last };
        let tables = BuildPlan::new(directory, below, &backend, threads);
        let archived = (first.max(2)..=last.seeds).map(|seeds| TableKey { seeds, ..last });
        let missing: Vec<TableKey> = archived.filter(|&key| !archive_path(directory, key).exists()).collect();
        let of_layer = |key: &TableKey| layer_positions(key.pits, key.seeds);
        let positions = missing.iter().map(of_layer).sum::<u64>();
        let memory = missing.iter().map(|&key| layer_memory(key, first, threads)).max().unwrap_or(0);
        BuildPlan {
            positions: tables.positions + positions,
            memory: tables.memory.max(memory),
            device_memory: 0,
            disk: tables.disk + missing.iter().map(|key| archive_bytes(of_layer(key))).sum::<u64>(),
            seconds: tables.seconds + positions as f64 / rate(last.rules, &backend, threads),
            missing: tables.missing.into_iter().chain(missing).collect(),
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
        check_address_space(self.memory + self.mapped(), what)?;
        // If the free space is unknown, the writer will find out, and nothing is lost.
        match available_disk(directory).filter(|&free| self.disk > free) {
            Some(free) => Err(PlanError::Disk { needed: self.disk, free, directory: directory.to_owned() }),
            None => Ok(()),
        }
    }
}

impl BuildPlan {
    /// Bytes of the tables that are mapped at once: at most those of all layers up to the last one.
    fn mapped(&self) -> u64 {
        let of_layer = |key: &TableKey, seeds| packed_bytes(layer_positions(key.pits, seeds));
        self.missing.last().map_or(0, |last| (2..=last.seeds).map(|seeds| of_layer(last, seeds)).sum())
    }
}

pub(super) fn rate(rules: Rules, backend: &Backend, threads: usize) -> f64 {
    let relays = rules.relays();
    match backend {
        Backend::Cpu(_) => threads as f64 * if relays { RELAY_RATE } else { ROW_RATE },
        Backend::Gpu(gpu) => gpu.rate(relays),
    }
}
