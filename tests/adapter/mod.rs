//! The adapter that tests of the GPU builder run on.
//!
//! `KALAH_TEST_ADAPTER` names it, as `--adapter` would; the default is Mesa's llvmpipe. Without an adapter the tests
//! are skipped with a warning; with `KALAH_REQUIRE_ADAPTER=1` they fail.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::sync::{Arc, LazyLock};

use kalah::gpu::{Adapter, Gpu, GpuError, GpuOptions};

/// The name of the adapter.
fn name() -> String {
    std::env::var("KALAH_TEST_ADAPTER").unwrap_or_else(|_| "llvmpipe".to_owned())
}

/// The adapter; `None` if there is none and none is required.
fn adapter() -> Option<&'static Adapter> {
    static ADAPTER: LazyLock<Result<Adapter, GpuError>> = LazyLock::new(|| Adapter::choose(Some(&name())));
    match &*ADAPTER {
        Ok(adapter) => Some(adapter),
        Err(error) => {
            let required = std::env::var("KALAH_REQUIRE_ADAPTER").is_ok_and(|value| value == "1");
            assert!(!required, "KALAH_REQUIRE_ADAPTER=1, but {error}");
            None
        }
    }
}

/// A separate device with these options, for tests that cannot share one; `None`, with a warning, if there is no
/// adapter.
pub fn open(options: GpuOptions) -> Option<Arc<Gpu>> {
    let Some(adapter) = adapter() else {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        // Not with `eprintln`, whose output the test harness hides when a test passes.
        let told = format!("\n*** SKIPPED: {test}: there is no adapter {}; name one with KALAH_TEST_ADAPTER\n", name());
        let _ = std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes());
        return None;
    };
    Some(Arc::new(Gpu::open(adapter, options).expect("the adapter opens")))
}

/// The device that all tests of a binary share.
pub fn shared() -> Option<Arc<Gpu>> {
    static SHARED: LazyLock<Option<Arc<Gpu>>> =
        LazyLock::new(|| adapter().map(|_| open(GpuOptions::default()).expect("there is an adapter")));
    SHARED.clone().or_else(|| open(GpuOptions::default()))
}
