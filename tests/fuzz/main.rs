//! Random and mutated input for all code that reads untrusted data. It must not panic, hang, or answer wrongly.
//!
//! Each test runs for the seconds in `KALAH_FUZZ_SECONDS` (default 2), on new random input each time. `KALAH_FUZZ_SEED`
//! repeats a run.

mod archives;
mod checkpoints;
#[cfg(feature = "cli")]
mod commands;
mod flipped;
#[path = "../tables/forged_archive.rs"]
mod forged_archive;
#[cfg(feature = "serve")]
mod http;
mod mutation;
#[cfg(feature = "cli")]
mod notation;
#[path = "../tables/small_table.rs"]
mod small_table;
mod states;
mod tables;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestError, TestRng, TestRunner};

/// Cases between two readings of the clock.
const CASES: u32 = 16;

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no whole number: {text}")))
}

/// Checks `law` with inputs drawn from `inputs` until the time is over. Prints their number.
#[track_caller]
pub fn fuzz<S: Strategy>(name: &str, inputs: &S, law: impl Fn(S::Value) -> TestCaseResult)
where
    S::Value: Debug,
{
    let end = Instant::now() + Duration::from_secs(setting("KALAH_FUZZ_SECONDS").unwrap_or(2));
    let first = setting("KALAH_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    let mut batches = 0;
    while batches == 0 || Instant::now() < end {
        let mut config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        (config.max_shrink_iters, config.max_shrink_time) = (u32::MAX, 20_000);
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&first.to_le_bytes());
        seed[8..16].copy_from_slice(&u64::to_le_bytes(batches));
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        match TestRunner::new_with_rng(config, random).run(inputs, &law) {
            Ok(()) => batches += 1,
            Err(TestError::Fail(why, input)) => {
                panic!("{name}: {why}\nKALAH_FUZZ_SEED={first}, batch {batches}, smallest input: {input:?}")
            }
            Err(TestError::Abort(why)) => panic!("{name}: gave up: {why}"),
        }
    }
    println!("{name}: {} inputs from seed {first}", batches * u64::from(CASES));
}
