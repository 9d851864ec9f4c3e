//! Building tables.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::{Backend, BuildEvent, BuildPlan, Builder, PlanError};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::system::MemoryShortage;
use kalah::table::TableKey;
use pyo3::prelude::*;

use crate::errors::python::{BuildError, OutOfMemoryError};
use crate::errors::{OrRaise, within};
use crate::results::{Document, result};
use crate::rules::Rules;
use crate::waiting::{pool, wait_for};

/// Builds tables: `kalah.build`.
#[pyfunction]
#[pyo3(signature = (directory, seeds, rules, pits, threads, memory, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn build<'py>(
    py: Python<'py>,
    directory: PathBuf,
    seeds: i64,
    rules: Rules,
    pits: i64,
    threads: Option<u16>,
    memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (pits, seeds) = (within("pits", pits, 1..=MAX_TABLE_PITS)?, within("seeds", seeds, 2..=MAX_TABLE_SEEDS)?);
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
        let now = result(py, "BuildProgress", (positions, plan.positions, layer.load(Ordering::Relaxed)))?;
        progress.call1(py, (now,)).map(drop)
    };
    let built = wait_for(py, || pool.install(|| builder.run(&pulse, &on_event)), &pulse.cancel, report)?.or_raise()?;
    report(py)?;
    let (kept, layers, positions, seconds) = (built.kept, built.built.len(), built.positions, built.seconds);
    let document = Document::new(move || serde_json::to_string(&built));
    result(py, "BuildReport", (kept, layers, positions, seconds, document))
}
