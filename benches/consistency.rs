//! Measures the checks of `kalah verify --consistency`: `cargo bench --bench consistency`.
//!
//! Each layer from 16 seeds up is checked three times, on all threads: whole frames, and a sample position by
//! position. Medians are printed in millions of positions per second.
//!
//! - `KALAH_BENCH_SEEDS`: the largest layer (default 20).
//! - `KALAH_BENCH_RULES`: the rule set (default `empty-capture`).

use std::time::Instant;

use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::Tables;
use kalah::verify::{Fault, Sample, check_consistency, check_sample};

const RUNS: usize = 3;
const FIRST: usize = 16;

/// Positions checked one by one.
const SAMPLE: u64 = 1_000_000;

fn main() {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let last: usize = set("KALAH_BENCH_SEEDS", "20").parse().expect("KALAH_BENCH_SEEDS is a number");
    let rules: Rules = set("KALAH_BENCH_RULES", "empty-capture").parse().expect("KALAH_BENCH_RULES is a rule set");
    let directory = tempfile::tempdir().expect("a temporary directory");
    kalah::build::build(directory.path(), rules, 6, last).expect("tables are built");
    let tables = Tables::open(directory.path(), rules, 6, last).expect("tables are sound");
    tables.layers().iter().try_for_each(|table| table.check()).expect("tables are sound");
    println!("{rules}, 6 pits, {} threads, {}", rayon::current_num_threads(), Isa::detect().name());
    println!("seeds       positions   frames   single   (million positions a second)");
    for seeds in FIRST..=last {
        let sample = Sample::new(tables.key(seeds), SAMPLE, 0);
        let frames = rate(|| check_consistency(&tables, seeds, &Pulse::default()));
        let single = rate(|| check_sample(&tables, &sample, &Pulse::default()));
        let positions = tables.layers()[seeds - 2].header().positions;
        println!("{seeds:>5} {positions:>15} {frames:>8.1} {single:>8.1}");
    }
}

/// Positions a second, in millions: the median of some runs.
fn rate(check: impl Fn() -> Result<u64, Fault>) -> f64 {
    let mut rates = [0.0; RUNS];
    for rate in &mut rates {
        let start = Instant::now();
        let positions = check().expect("the tables are right");
        *rate = positions as f64 / start.elapsed().as_secs_f64() / 1e6;
    }
    rates.sort_by(f64::total_cmp);
    rates[RUNS / 2]
}
