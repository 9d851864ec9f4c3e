//! The adapters that tests of the GPU builder run on: all that the machine has and that can be used.
//!
//! `KALAH_TEST_ADAPTER` limits the tests to some adapters. It takes names as `--adapter` does, separated by commas.
//!
//! `KALAH_REQUIRE_ADAPTER` names adapters whose absence makes the tests fail; `KALAH_REQUIRE_ADAPTER=1` requires any
//! adapter. If none is required, tests skip a missing adapter with a warning.

use std::error::Error;
use std::iter::successors;
use std::sync::{Arc, LazyLock, OnceLock};

use kalah::gpu::{Adapter, Gpu, GpuError, GpuOptions};

use kalah_tests::optional;

/// An adapter, and a device that tests share.
pub(crate) struct TestAdapter {
    adapter: Adapter,
    shared: OnceLock<Arc<Gpu>>,
    unchecked: OnceLock<Arc<Gpu>>,
}

impl TestAdapter {
    /// Name of the adapter.
    pub(crate) fn name(&self) -> &str {
        &self.adapter.report.name
    }

    /// Returns true if the adapter is so slow that tests choose smaller layers.
    pub(crate) fn is_slow(&self) -> bool {
        self.name().contains("SwiftShader")
    }

    /// Opens a separate device with these options, for tests that cannot share one.
    pub(crate) fn open(&self, options: GpuOptions) -> Arc<Gpu> {
        Arc::new(Gpu::open(&self.adapter, options).expect("the adapter opens"))
    }

    /// Returns the device that all tests of the program share.
    pub(crate) fn shared(&self) -> Arc<Gpu> {
        Arc::clone(self.shared.get_or_init(|| self.open(GpuOptions::default())))
    }

    /// Returns a shared device whose shaders check no index, as on a hardware GPU.
    pub(crate) fn unchecked(&self) -> Arc<Gpu> {
        let mut options = GpuOptions::default();
        options.checked = Some(false);
        let device = self.unchecked.get_or_init(|| self.open(options));
        assert!(!device.is_checked());
        Arc::clone(device)
    }
}

/// Returns the error of a device that caused `error`.
pub(crate) fn gpu_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e GpuError> {
    successors(Some(error), |&error| error.source()).find_map(<dyn Error>::downcast_ref)
}

/// Names in an environment variable.
fn names(variable: &str) -> Vec<String> {
    let value = std::env::var(variable).unwrap_or_default();
    value.split(',').map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// The adapters found, and the reasons why others are missing.
fn present() -> (Vec<TestAdapter>, Vec<String>) {
    let (wanted, required) = (names("KALAH_TEST_ADAPTER"), names("KALAH_REQUIRE_ADAPTER"));
    let has = |adapter: &Adapter, name: &String| adapter.report.name.to_lowercase().contains(name);
    let (mut adapters, mut missing) = (Vec::new(), Vec::new());
    for adapter in Adapter::all() {
        if wanted.is_empty() || wanted.iter().any(|name| has(&adapter, name)) {
            match &adapter.report.lacks {
                Some(reason) => missing.push(format!("{} cannot be used: {reason}", adapter.report.name)),
                None => adapters.push(TestAdapter { adapter, shared: OnceLock::new(), unchecked: OnceLock::new() }),
            }
        }
    }
    let is_here = |name: &&String| adapters.iter().any(|other| has(&other.adapter, name));
    missing.extend(wanted.iter().filter(|name| !is_here(name)).map(|name| format!("there is no adapter {name}")));
    if adapters.is_empty() && missing.is_empty() {
        missing.push("there is no adapter".to_owned());
    }
    for name in &required {
        let found = if name == "1" { !adapters.is_empty() } else { is_here(&name) };
        let names: Vec<&str> = adapters.iter().map(TestAdapter::name).collect();
        assert!(found, "KALAH_REQUIRE_ADAPTER={required:?}, but {name} is missing among {names:?}; {missing:?}");
    }
    // Quick adapters come first, so that faults of all adapters show early.
    adapters.sort_by_key(TestAdapter::is_slow);
    (adapters, missing)
}

/// Returns all adapters, and prints the missing ones.
fn all() -> &'static [TestAdapter] {
    static PRESENT: LazyLock<(Vec<TestAdapter>, Vec<String>)> = LazyLock::new(present);
    for missing in &PRESENT.1 {
        optional::announce(format_args!("{missing} (see KALAH_TEST_ADAPTER in CONTRIBUTING.md)"));
    }
    &PRESENT.0
}

/// Runs a test on each adapter.
pub(crate) fn each(mut test: impl FnMut(&'static TestAdapter)) {
    for adapter in all() {
        // The harness shows this if the test fails.
        eprintln!("on {}", adapter.name());
        test(adapter);
    }
}

/// Options with limits on the device's memory and on the bytes of a binding.
pub(crate) fn limits(memory: Option<u64>, max_binding: Option<u64>) -> GpuOptions {
    let mut options = GpuOptions::default();
    (options.memory, options.max_binding) = (memory, max_binding);
    options
}

/// Opens a separate device of the first adapter, for tests that need only one adapter.
pub(crate) fn open(options: GpuOptions) -> Option<Arc<Gpu>> {
    all().first().map(|adapter| adapter.open(options))
}

/// Returns the shared device of the first adapter, for tests that need only one adapter.
pub(crate) fn shared() -> Option<Arc<Gpu>> {
    all().first().map(TestAdapter::shared)
}
