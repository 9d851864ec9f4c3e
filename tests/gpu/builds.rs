//! Builds, and the tables of the CPU builder with which they are compared.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::{Backend, BuildError, BuildEvent, Builder, ComputeError};
use kalah::game::Rules;
use kalah::gpu::Gpu;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{PackedFrame, Table, TableKey, Tables};
use kalah_tests::files::{assert_same_files, files};
use kalah_tests::tables::{built, opened};

pub(crate) const fn key(rules: Rules, pits: usize, seeds: usize) -> TableKey {
    TableKey { rules, pits, seeds }
}

pub(crate) fn cpu() -> Backend {
    Backend::Cpu(Isa::detect())
}

pub(crate) fn on(device: &Arc<Gpu>) -> Backend {
    Backend::Gpu(device.clone())
}

/// Builds all layers.
pub(crate) fn build(directory: &Path, key: TableKey, backend: Backend) -> Result<(), BuildError> {
    build_pairs(directory, key, backend, &|_, _| {})
}

/// Builds all layers. Calls `begins` when a pair of frames begins, with its number from 1.
pub(crate) fn build_pairs(
    directory: &Path,
    key: TableKey,
    backend: Backend,
    begins: &(dyn Fn(usize, &Pulse) + Sync),
) -> Result<(), BuildError> {
    let (pulse, pairs) = (Pulse::default(), AtomicUsize::new(0));
    let built = Builder::new(directory, key).backend(backend).run(&pulse, &|event| {
        if matches!(event, BuildEvent::Pair(_)) {
            begins(pairs.fetch_add(1, Ordering::Relaxed) + 1, &pulse);
        }
    });
    built.map(drop)
}

/// Number of pairs in all layers up to that of `seeds` seeds.
pub(crate) fn pairs_to(seeds: usize) -> usize {
    (2..=seeds).map(|seeds| seeds / 2).sum()
}

/// Directory of all layers, as the CPU builder writes them.
pub(crate) fn right(key: TableKey) -> &'static Path {
    built(&[(key.rules, key.pits, key.seeds)])
}

/// The same tables.
pub(crate) fn tables(key: TableKey) -> Tables {
    opened(key.rules, key.pits, key.seeds)
}

/// An output that compares each frame with that of a right table.
pub(crate) fn comparing(table: &Table) -> impl Fn(PackedFrame) -> Result<(), ComputeError> + Sync {
    move |packed| {
        let section = table.header().entries[packed.frame.mover - 1].section();
        assert!(packed.section() == table.blocks().section_bytes(&section), "{:?} of {}", packed.frame, table.key());
        Ok(())
    }
}

/// Fails if the files are not those of the CPU builder.
pub(crate) fn assert_right(directory: &Path, key: TableKey, what: &str) {
    assert_same_files(&files(right(key)), &files(directory), &format!("{key}, {what}"));
}

/// Checks the finished files of a build that ended early. Then resumes it.
pub(crate) fn assert_goes_on(directory: &Path, key: TableKey, backend: Backend, what: &str) {
    let right = files(right(key));
    for (name, bytes) in files(directory) {
        assert!(name.ends_with(".partial") || bytes == right[&name], "{what}: {name}");
    }
    build(directory, key, backend).unwrap();
    assert_right(directory, key, what);
}
