//! Measures whole layers: computing, packing, and both with writing to disk: `cargo bench --bench
//! layers`.
//!
//! Each layer from 16 seeds up is computed three times, on all threads. Medians are printed in
//! millions of positions per second.
//!
//! - `KALAH_BENCH_SEEDS`: the largest layer (default 20).
//! - `KALAH_BENCH_RULES`: the rule set (default `empty-capture`).

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kalah::build::cpu::{Evaluator, Workspace, compute_pair};
use kalah::build::{BuildEvent, Builder};
use kalah::game::Rules;
use kalah::index::{Frame, layer_positions};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{PackedFrame, TableKey, Tables};

const RUNS: usize = 3;
const FIRST: usize = 16;

fn main() {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let last: usize = set("KALAH_BENCH_SEEDS", "20").parse().expect("KALAH_BENCH_SEEDS is a number");
    let rules: Rules = set("KALAH_BENCH_RULES", "empty-capture").parse().expect("KALAH_BENCH_RULES is a rule set");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    println!("{rules}, 6 pits, {} threads, {}", rayon::current_num_threads(), Isa::detect().name());
    println!("seeds       positions  compute     pack    built   (million positions a second)");
    build(directory, rules, FIRST - 1);
    for seeds in FIRST..=last {
        let positions = layer_positions(6, seeds);
        let tables = Tables::open(directory, rules, 6, seeds).expect("tables are sound");
        let mut rates = [[0.0; RUNS]; 3];
        for run in 0..RUNS {
            let (compute, pack) = rayon::scope(|_| compute(&tables, seeds));
            let _ = std::fs::remove_file(tables.key(seeds).path(directory));
            let built = build(directory, rules, seeds);
            for (rates, seconds) in rates.iter_mut().zip([compute, pack, built]) {
                rates[run] = positions as f64 / seconds / 1e6;
            }
        }
        let [compute, pack, built] = rates.map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            rates[RUNS / 2]
        });
        println!("{seeds:>5} {positions:>15} {compute:>8.1} {pack:>8.1} {built:>8.1}");
    }
}

/// Seconds to compute and to pack the layer, from the layers below.
fn compute(tables: &Tables, seeds: usize) -> (f64, f64) {
    let isa = Isa::detect();
    let mut lower = Tables::empty(Path::new("no such directory"), tables.rules(), 6, seeds).unwrap();
    for table in &tables.layers()[..seeds - 2] {
        lower.push(Arc::clone(table)).expect("layers in order");
    }
    let evaluator = Evaluator::new(isa, tables.rules(), Arc::clone(lower.rows()));
    let mut workspace = Workspace::default();
    workspace.reserve(6, seeds).expect("memory");
    let (mut compute, mut pack) = (0.0, 0.0);
    for small in 1..=seeds / 2 {
        let frame = Frame { pits: 6, mover: small, other: seeds - small };
        let start = Instant::now();
        let scores = compute_pair(&evaluator, &lower, small, frame.other, &mut workspace, &Pulse::default());
        let scores = scores.expect("sound tables");
        compute += start.elapsed().as_secs_f64();
        let start = Instant::now();
        PackedFrame::pack(isa, frame, scores.small_moves);
        if small < frame.other {
            PackedFrame::pack(isa, frame.mirrored(), scores.large_moves);
        }
        pack += start.elapsed().as_secs_f64();
    }
    (compute, pack)
}

/// Builds the missing layers up to `seeds`. Returns the seconds of the last one, writing included.
fn build(directory: &Path, rules: Rules, seeds: usize) -> f64 {
    let builder = Builder::new(directory, TableKey { rules, pits: 6, seeds });
    let last = std::sync::Mutex::new(0.0);
    let on_event = |event: BuildEvent| {
        if let BuildEvent::Done(record) = event {
            *last.lock().expect("not poisoned") = record.seconds;
        }
    };
    builder.run(&Pulse::default(), &on_event).expect("tables are built");
    last.into_inner().expect("not poisoned")
}
