//! Measures the savings of a search from each further layer of tables: `cargo bench --bench reach`.
//!
//! Every position is solved with tables up to n seeds for every n of a list, the largest first.
//! Each search has a new solver that begins with the right value: the two tests around it are the
//! cheapest proof. A search with the largest tables, which is not reported, finds that value first.
//!
//! - `KALAH_BENCH_TABLES`: a directory with tables (default `tables`; nothing is built).
//! - `KALAH_BENCH_RULES`: the rule set (default `empty-capture`).
//! - `KALAH_BENCH_POSITIONS`: the positions, separated by spaces (default Kalah(6,5), and
//!   Kalah(6,6) after 12 moves of the line of best play printed for its opening 1-2).
//! - `KALAH_BENCH_REACH`: first, last and step of n (default `20..34 2`).
//! - `KALAH_BENCH_LIMIT`: seconds after which a search is stopped and those with fewer tables are
//!   skipped (default 600).
//! - `KALAH_BENCH_THREADS`: the threads (default 1).
//! - `KALAH_BENCH_MEMORY`: MiB of the transposition table (default 1024).

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::Tables;

/// After 1-2 10 3 12 4 8 6 10 11 6 3, South to move: worth 2 (tests/reference/rawlings-2015-kalah66-lines.csv).
const INSIDE_6X6: &str = "<6,7,7,6,5,0,1,13,1,2,12,0,0,5,13>";

/// One search.
struct Run {
    nodes: u64,
    hits: u64,
    seconds: f64,
}

fn set(name: &str, default: &str) -> String {
    std::env::var(format!("KALAH_BENCH_{name}")).unwrap_or(default.to_owned())
}

fn number(name: &str, default: u64) -> u64 {
    set(name, &default.to_string()).parse().unwrap_or_else(|_| panic!("KALAH_BENCH_{name} is a number"))
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    let rules: Rules = set("RULES", "empty-capture").parse()?;
    let positions = set("POSITIONS", &format!("6x5 {INSIDE_6X6}"));
    let reaches = set("REACH", "20..34 2");
    let range = reaches.split_once("..").and_then(|(first, rest)| {
        let (last, step) = rest.split_once(' ').unwrap_or((rest, "1"));
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?, step.parse::<usize>().ok()?))
    });
    let (first, last, step) = range.ok_or("KALAH_BENCH_REACH is like 20..34 2")?;
    let reaches: Vec<usize> = (first..=last).step_by(step).collect();

    for name in positions.split_whitespace() {
        measure(rules, &name.parse()?, &reaches)?;
    }
    Ok(())
}

/// Searches `position` with tables up to each of `reaches`, the last first, and prints a table.
fn measure(rules: Rules, position: &Position, reaches: &[usize]) -> Result<(), Box<dyn Error>> {
    let (threads, memory) = (number("THREADS", 1) as usize, number("MEMORY", 1024));
    let directory = set("TABLES", "tables");
    let most = reaches.last().copied().unwrap_or(2);
    let tables = Tables::open(Path::new(&directory), rules, position.pits(), most)?;
    tables.require(most.min(position.seeds() as usize))?;
    println!("{rules} {position}, {} seeds in play, {threads} threads, {memory} MiB", position.seeds());

    let solve = |reach, guess: Option<i64>| {
        let cancel = Cancel::new();
        let options = SolverOptions::new(rules, position)
            .tables(Some(&tables))
            .tables_up_to(reach)
            .transpositions(memory << 20)
            .threads(threads)
            .cancel(cancel.clone());
        let solver = Solver::new(options)?;
        let guess = guess.unwrap_or_else(|| solver.first_guess(position).expect("it fits the solver"));
        let start = Instant::now();
        let value = within(Duration::from_secs(number("LIMIT", 600)), &cancel, || solver.value(position, guess));
        let seconds = start.elapsed().as_secs_f64();
        Ok((value, Run { nodes: solver.nodes(), hits: solver.table_hits(), seconds }))
    };

    let value = solve(most, None)?.0.map_err(|error: SolveError| format!("its value was not found: {error}"))?.1;
    println!("value {value:+}");
    println!("{:>5} {:>15} {:>15} {:>15} {:>10} {:>12}", "seeds", "bytes", "nodes", "table hits", "seconds", "nodes/s");
    for &reach in reaches.iter().rev() {
        let bytes: usize = (2..=reach).filter_map(|seeds| tables.layer(seeds)).map(|layer| layer.bytes().len()).sum();
        let (found, run) = solve(reach, Some(value)).map_err(|error: SolveError| error)?;
        let rate = run.nodes as f64 / run.seconds.max(1e-9);
        let figures = format!("{:>15} {:>15} {:>10.3} {rate:>12.0}", run.nodes, run.hits, run.seconds);
        match found {
            Ok((_, found)) => assert_eq!(found, value, "tables to {reach} give another value"),
            Err(SolveError::Stopped) => {
                println!("{reach:>5} {bytes:>15} {figures}  given up");
                break;
            }
            Err(error) => return Err(error.into()),
        }
        println!("{reach:>5} {bytes:>15} {figures}");
    }
    Ok(())
}

/// Runs `work` and cancels `cancel` when it takes longer than `limit`.
fn within<T>(limit: Duration, cancel: &Cancel, work: impl FnOnce() -> T) -> T {
    let (done, watched) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if watched.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
