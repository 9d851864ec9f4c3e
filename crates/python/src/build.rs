//! Building tables.

use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::{Backend, BuildEvent, BuildPlan, Builder, PlanError};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::isa::Isa;
use kalah::progress::{Pulse, total_seconds};
use kalah::system::MemoryShortage;
use kalah::table::TableKey;
use pyo3::prelude::*;

use crate::argument::{Callback, Directory, Integer};
use crate::errors::OrRaise;
use crate::errors::python::{BuildError, OutOfMemoryError};
use crate::pickling::{Parts, parts};
use crate::rules::RulesArgument;
use crate::waiting::{ThreadsArgument, pool, wait_for};

/// Progress of a build.
#[pyclass(module = "kalah", frozen, get_all, eq)]
#[derive(Clone, PartialEq)]
pub struct BuildProgress {
    /// Positions computed so far.
    positions: u64,
    /// Positions to compute.
    total: u64,
    /// Seeds in play of the current layer; 0 before the first one.
    seeds: usize,
}

#[pymethods]
impl BuildProgress {
    fn __repr__(&self) -> String {
        let BuildProgress { positions, total, seeds } = self;
        format!("BuildProgress(positions={positions}, total={total}, seeds={seeds})")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py, (u64, u64, usize)>> {
        parts::<BuildProgress, _>(py, (self.positions, self.total, self.seeds))
    }

    #[staticmethod]
    fn _of(positions: u64, total: u64, seeds: usize) -> BuildProgress {
        BuildProgress { positions, total, seeds }
    }
}

/// Result of a build.
#[pyclass(module = "kalah", frozen, get_all, eq)]
#[derive(Clone, PartialEq)]
pub struct BuildReport {
    /// Layers that existed already.
    kept: usize,
    /// Layers built or completed.
    built: usize,
    /// Positions computed.
    positions: u64,
    /// Elapsed seconds for the layers.
    seconds: f64,
}

#[pymethods]
impl BuildReport {
    fn __repr__(&self) -> String {
        let BuildReport { kept, built, positions, seconds } = self;
        format!("BuildReport(kept={kept}, built={built}, positions={positions}, seconds={seconds:.3})")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py, (usize, usize, u64, f64)>> {
        parts::<BuildReport, _>(py, (self.kept, self.built, self.positions, self.seconds))
    }

    #[staticmethod]
    fn _of(kept: usize, built: usize, positions: u64, seconds: f64) -> BuildReport {
        BuildReport { kept, built, positions, seconds }
    }
}

/// Builds the tables of all layers from 2 to `seeds` seeds in play in `directory`, on the CPU. Existing tables
/// are compared with their checksums and kept. The directory is created if it does not exist.
///
/// `progress` is called about twenty times a second with a BuildProgress. An exception that it raises, or
/// Ctrl-C in the main thread, ends the build. Finished frames are kept, and the next call continues from there.
/// The interpreter's lock is released meanwhile. `threads` is the number of cores by default, and at most eight
/// times that. `memory` is the maximum number of bytes for the build.
///
/// Raises ArgumentError if there are no tables with these pits or seeds. Raises BuildError if the directory
/// cannot be created, the disk or `memory` is too small, or another process builds there. Raises
/// OutOfMemoryError, DamagedTableError or TableError.
#[pyfunction]
#[pyo3(
    signature = (
        directory,
        seeds,
        rules = RulesArgument::default(),
        pits = Integer::from(6),
        *,
        threads = None,
        memory = None,
        progress = None
    ),
    text_signature = "(directory, seeds, rules='empty-capture', pits=6, *, threads=None, memory=None, progress=None)"
)]
#[allow(clippy::too_many_arguments)]
pub fn build(
    py: Python<'_>,
    directory: Directory,
    seeds: Integer,
    rules: RulesArgument,
    pits: Integer,
    threads: Option<ThreadsArgument>,
    memory: Option<Integer>,
    progress: Option<Callback>,
) -> PyResult<BuildReport> {
    let directory = directory.0;
    let (pits, seeds) = (pits.within("pits", 1..=MAX_TABLE_PITS)?, seeds.within("seeds", 2..=MAX_TABLE_SEEDS)?);
    let memory = memory.map(|memory| memory.at_least("memory", 0, u64::MAX)).transpose()?;
    py.detach(|| std::fs::create_dir_all(&directory))
        .map_err(|error| BuildError::new_err(format!("{}: {error}", directory.display())))?;
    let (pool, backend) = (pool(threads)?, Backend::Cpu(Isa::detect()));
    let last = TableKey { rules: rules.0, pits, seeds };
    let plan = BuildPlan::new(&directory, last, &backend, pool.current_num_threads());
    plan.check(&directory, memory).map_err(|error| match error {
        PlanError::Memory(MemoryShortage::Available { .. }) => OutOfMemoryError::new_err(error.to_string()),
        error => BuildError::new_err(error.to_string()),
    })?;
    let (pulse, layer) = (Pulse::default(), AtomicUsize::new(0));
    let on_event = |event: BuildEvent| {
        if let BuildEvent::Layer { key, .. } = event {
            layer.store(key.seeds, Ordering::Relaxed);
        }
    };
    let builder = Builder::new(&directory, last).backend(backend);
    let report = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let positions = pulse.positions.load(Ordering::Relaxed);
        let now = BuildProgress { positions, total: plan.positions, seeds: layer.load(Ordering::Relaxed) };
        progress.0.call1(py, (now,)).map(|_| ())
    };
    let built = wait_for(py, || pool.install(|| builder.run(&pulse, &on_event)), &pulse.cancel, report)?.or_raise()?;
    report(py)?;
    Ok(BuildReport {
        kept: built.kept,
        built: built.built.len(),
        positions: built.positions(),
        seconds: total_seconds(built.built.iter().map(|record| record.seconds)),
    })
}
