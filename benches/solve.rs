//! Measures searches: nodes, time and table hits of each test: `cargo bench --bench solve`.
//!
//! - `KALAH_BENCH_TABLES`: a directory with tables (default `tables`). Missing layers up to
//!   `KALAH_BENCH_SEEDS` (default 20) are built there.
//! - `KALAH_BENCH_RULES`: the rule set (default `empty-capture`).
//! - `KALAH_BENCH_POSITION`: the position (default `6x4`).
//! - `KALAH_BENCH_THREADS`: the threads (default 1).
//! - `KALAH_BENCH_MEMORY`: MiB of the transposition table (default 128).
//! - `KALAH_BENCH_GUESS`: the first guess of the score (default half of the seeds).
//! - `KALAH_BENCH_WORD`: bits of a row, 64 or 128 (default: the fewest that hold the board).
//! - `KALAH_BENCH_TEST`: one score to test instead.

use std::path::Path;
use std::time::Instant;

use kalah::game::{Position, Rules};
use kalah::solve::{SolveEvent, Solver, SolverOptions};
use kalah::table::Tables;

fn main() {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    let set = |name: &str, default: &str| std::env::var(format!("KALAH_BENCH_{name}")).unwrap_or(default.to_owned());
    let number = |name: &str, default: u64| set(name, &default.to_string()).parse::<u64>().expect("a number");
    let rules: Rules = set("RULES", "empty-capture").parse().expect("KALAH_BENCH_RULES is a rule set");
    let position: Position = set("POSITION", "6x4").parse().expect("KALAH_BENCH_POSITION is a position");
    let (pits, seeds, tables_up_to) = (position.pits(), position.seeds() as usize, number("SEEDS", 20) as usize);
    let directory = set("TABLES", "tables");
    let directory = Path::new(&directory);
    kalah::build::build(directory, rules, pits, tables_up_to.min(seeds)).expect("tables are built");
    let tables = Tables::open(directory, rules, pits, tables_up_to).expect("tables are sound");
    let (threads, memory) = (number("THREADS", 1) as usize, number("MEMORY", 128) << 20);
    println!("{rules} {position}, tables to {tables_up_to}, {threads} threads, {} MiB", memory >> 20);

    let start = Instant::now();
    let options = SolverOptions::new(rules, &position)
        .tables(Some(&tables))
        .tables_up_to(tables_up_to)
        .transpositions(memory)
        .threads(threads);
    let solver = match number("WORD", 0) {
        64 => Solver::with_word::<u64>(options),
        128 => Solver::with_word::<u128>(options),
        _ => Solver::new(options),
    };
    let solver = solver.expect("a searchable board").with_events(|_, event| {
        if let SolveEvent::Proved { known, nodes, seconds, .. } = event {
            println!("  score {:>2} to {:>2}  {nodes:>12} nodes  {seconds:>8.3} s", known.lower, known.upper);
        }
    });
    match number("TEST", 0) as u32 {
        0 => {
            let score = solver.score(&position, number("GUESS", seeds as u64 / 2) as u32).expect("sound tables");
            println!("score {score}, value {:+}", position.value(score));
        }
        test => drop(solver.test(&position, test).expect("sound tables")),
    }
    let (nodes, seconds) = (solver.nodes(), start.elapsed().as_secs_f64());
    println!(
        "{nodes} nodes, {} table hits, {seconds:.3} s, {:.2} million nodes/s, {:.1} % full",
        solver.table_hits(),
        nodes as f64 / seconds / 1e6,
        100.0 * solver.fill()
    );
}
