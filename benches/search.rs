//! Compares depth-limited searches by method, as in Gonai and Cendejas (2022), Figure 6: `cargo
//! bench --bench search`.
//!
//! Searches the start position of Kalah(6,4), standard rules, to depth 9 (`KALAH_BENCH_DEPTH`),
//! with the number of parallel levels that the paper found best for each method. Prints medians of
//! several runs, alternating between the methods, on all threads.

use std::time::Instant;

use kalah::game::{Position, Rules};
use kalah::solve::{Evaluation, LimitedSearch, Method};

const RUNS: usize = 5;

fn main() {
    let depth = std::env::var("KALAH_BENCH_DEPTH").map_or(9, |depth| depth.parse().expect("a number"));
    let position: Position = "6x4".parse().expect("a start position");
    let par_depth = |method| if method == Method::ParAb { 1 } else { 3 };
    let search = |method| {
        let search = LimitedSearch::new(Rules::Standard, method, depth);
        LimitedSearch { par_depth: par_depth(method), evaluation: Evaluation::Seeds, ..search }.run(&position)
    };
    let mut times = Method::ALL.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (method, times) in Method::ALL.into_iter().zip(&mut times) {
            let start = Instant::now();
            search(method);
            times.push(start.elapsed().as_secs_f64());
        }
    }
    println!("6x4, standard rules, depth {depth}, {} threads, medians of {RUNS}", rayon::current_num_threads());
    println!("method  par-depth  value        nodes   seconds  times faster than seq-mm");
    let mut first = None;
    for (method, times) in Method::ALL.into_iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let median = times[RUNS / 2];
        let result = search(method);
        println!(
            "{:<7} {:>9} {:>6} {:>12} {median:>9.4} {:>8.2}",
            method.name(),
            par_depth(method),
            result.value,
            result.nodes,
            *first.get_or_insert(median) / median,
        );
    }
}
