//! Measures zero-window tests of real searches, one at a time: `cargo bench --bench zero_window`.
//!
//! The tests in [the data](data/zero-window-tests.csv) have 16 to 38 seeds above tables to 24
//! seeds. They are positions and scores that searches of start positions and of random middle games
//! tested. Each is run with one thread and an empty transposition table, so its nodes depend on the
//! search alone. A wrong result ends the run.
//!
//! - `KALAH_BENCH_SET`: `tuning` (default), `validation`, or `all`. No start position is in two
//!   sets. Choose parameters with the first, and measure their benefit with the second.
//! - `KALAH_BENCH_MOST`: skip tests that took more than this many million nodes when they were
//!   recorded.
//! - `KALAH_BENCH_ABOVE`: skip tests outside a range of seeds above the tables, such as `20..25`.
//! - `KALAH_BENCH_RULES`: skip tests of other rule sets.
//! - `KALAH_BENCH_TABLES`: a directory with tables to 24 seeds (default `tables`). Missing ones are
//!   built.
//! - `KALAH_BENCH_MEMORY`: MiB of the transposition table (default 64).
//! - `KALAH_BENCH_EXACT`: use exact tables only up to this many seeds, and bound tables above.
//! - `KALAH_BENCH_BOUNDS`: a directory with these bound tables (default: that of the tables).
//!   `kalah bounds` makes them.
//! - `KALAH_BENCH_OUT`: a CSV file for nodes and processor seconds of each test.
//! - `KALAH_BENCH_COMPARE`: such a file from another version, to compare with.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};

use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};
use kalah::table::{BoundTables, Tables};
use serde::{Deserialize, Serialize};

/// Maximum seeds of the tables in use.
const REACH: usize = 24;

/// A row of the summary covers tests with this many different numbers of seeds above the tables.
const GROUP: usize = 5;

/// One test, a row of the data. The data also names the start of the search that met it; each start
/// is in one set.
#[derive(Clone, Debug, Deserialize)]
struct Test {
    /// `tuning` or `validation`.
    set: String,
    rules: String,
    /// Without stores.
    position: String,
    /// The score that is tested.
    score: u32,
    /// True if the mover collects as much.
    reached: bool,
    /// Seeds above the tables.
    above: usize,
    /// Nodes when the test was recorded.
    nodes: u64,
}

/// The cost of one test.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Taken {
    rules: String,
    position: String,
    score: u32,
    above: usize,
    nodes: u64,
    /// Processor time.
    seconds: f64,
}

impl Taken {
    fn key(&self) -> (String, String, u32) {
        (self.rules.clone(), self.position.clone(), self.score)
    }
}

/// Sums over tests, and over those that another version also ran.
#[derive(Default)]
struct Sums {
    tests: usize,
    nodes: u64,
    seconds: f64,
    logarithms: f64,
    compared: usize,
    /// For the compared tests: nodes and seconds of this version, and of the other.
    now: (u64, f64),
    before: (u64, f64),
    /// Sums of the logarithms of the ratios of nodes, and of seconds.
    ratios: (f64, f64),
}

impl Sums {
    fn add(&mut self, taken: &Taken, before: Option<&Taken>) {
        self.tests += 1;
        self.nodes += taken.nodes;
        self.seconds += taken.seconds;
        self.logarithms += (taken.nodes as f64).ln();
        if let Some(before) = before {
            self.compared += 1;
            self.now = (self.now.0 + taken.nodes, self.now.1 + taken.seconds);
            self.before = (self.before.0 + before.nodes, self.before.1 + before.seconds);
            self.ratios.0 += (before.nodes as f64 / taken.nodes as f64).ln();
            self.ratios.1 += (before.seconds / taken.seconds).ln();
        }
    }

    fn print(&self, name: &str) {
        let mean = |logarithms: f64, tests: usize| (logarithms / tests as f64).exp();
        print!(
            "{name:>6} {:>6} {:>9.2} {:>9.1} {:>8.1}",
            self.tests,
            mean(self.logarithms, self.tests) / 1e6,
            self.nodes as f64 / 1e6,
            self.seconds
        );
        if self.compared > 0 {
            print!(
                " {:>9} {:>8.3} {:>8.3} {:>8.3} {:>8.3}",
                self.compared,
                mean(self.ratios.0, self.compared),
                self.before.0 as f64 / self.now.0 as f64,
                mean(self.ratios.1, self.compared),
                self.before.1 / self.now.1,
            );
        }
        println!();
    }
}

fn set(name: &str) -> Option<String> {
    std::env::var(format!("KALAH_BENCH_{name}")).ok()
}

fn number(name: &str, default: u64) -> u64 {
    set(name).map_or(default, |set| set.parse().unwrap_or_else(|_| panic!("KALAH_BENCH_{name} is a number")))
}

/// The tests to run, those of one rule set together.
fn tests() -> Result<BTreeMap<String, Vec<Test>>, Box<dyn Error>> {
    let (half, rules) = (set("SET").unwrap_or("tuning".to_owned()), set("RULES"));
    if !["tuning", "validation", "all"].contains(&half.as_str()) {
        return Err("KALAH_BENCH_SET is tuning, validation, or all".into());
    }
    let most = number("MOST", u64::MAX / 1_000_000) * 1_000_000;
    let range = set("ABOVE").unwrap_or("0..255".to_owned());
    let (least, last) = range.split_once("..").ok_or("KALAH_BENCH_ABOVE is like 20..25")?;
    let above = least.parse::<usize>()?..=last.parse::<usize>()?;
    let mut tests = BTreeMap::<_, Vec<Test>>::new();
    for test in csv::Reader::from_path("benches/data/zero-window-tests.csv")?.deserialize() {
        let test: Test = test?;
        let is_wanted = (half == "all" || test.set == half)
            && rules.as_ref().is_none_or(|rules| *rules == test.rules)
            && test.nodes <= most
            && above.contains(&test.above);
        if is_wanted {
            tests.entry(test.rules.clone()).or_default().push(test);
        }
    }
    Ok(tests)
}

/// Processor seconds of this thread.
#[cfg(unix)]
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns seconds, on systems that do not report the processor time of a thread.
#[cfg(not(unix))]
fn processor_seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}

fn run(tables: &Tables, bounds: Option<&BoundTables>, test: &Test, memory: u64) -> Result<Taken, Box<dyn Error>> {
    let Test { score, above, reached, .. } = *test;
    let position: Position = test.position.parse()?;
    let options = SolverOptions::new(tables.rules(), &position).tables(Some(tables)).tables_up_to(REACH);
    let options = options.bounds(bounds).exact_up_to(number("EXACT", REACH as u64) as usize);
    let solver = Solver::new(options.transpositions(memory).threads(1))?;
    let start = processor_seconds();
    let known = solver.test(&position, score)?;
    let seconds = processor_seconds() - start;
    if (known.lower >= score) != reached {
        return Err(format!("{} {position}: the score is {} to {}", test.rules, known.lower, known.upper).into());
    }
    let (rules, position) = (test.rules.clone(), test.position.clone());
    Ok(Taken { rules, position, score, above, nodes: solver.nodes(), seconds })
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    let (directory, memory) = (set("TABLES").unwrap_or("tables".to_owned()), number("MEMORY", 64) << 20);
    let directory = Path::new(&directory);
    let mut before = HashMap::new();
    if let Some(file) = set("COMPARE") {
        for taken in csv::Reader::from_path(&file).map_err(|error| format!("{file}: {error}"))?.deserialize() {
            let taken: Taken = taken?;
            before.insert(taken.key(), taken);
        }
    }
    let mut out = set("OUT").map(csv::Writer::from_path).transpose()?;
    let (mut all, mut groups) = (Sums::default(), BTreeMap::<_, Sums>::new());
    for (name, tests) in tests()? {
        let rules: Rules = name.parse()?;
        kalah::build::build(directory, rules, 6, REACH)?;
        let tables = Tables::open(directory, rules, 6, REACH)?;
        // Otherwise the first test would include this time.
        for layer in tables.layers() {
            kalah::table::check_in_parallel(layer.blocks())?;
        }
        let with_bounds = set("BOUNDS").map_or(directory.to_owned(), PathBuf::from);
        let bounds = set("EXACT").map(|_| BoundTables::open_around(&with_bounds, rules, 6, REACH, REACH));
        let bounds = bounds.transpose()?.flatten();
        for layer in bounds.iter().flat_map(BoundTables::layers) {
            kalah::table::check_in_parallel(layer.blocks())?;
        }
        for test in tests {
            let taken = run(&tables, bounds.as_ref(), &test, memory)?;
            if let Some(out) = &mut out {
                out.serialize(&taken)?;
                out.flush()?;
            }
            let before = before.get(&taken.key());
            all.add(&taken, before);
            groups.entry(test.above / GROUP).or_default().add(&taken, before);
        }
    }
    println!("million nodes, processor seconds; before / now: geometric mean and ratio of sums");
    println!(" above  tests  geo mean       sum  seconds  compared nodes geo      sum time geo      sum");
    for (group, sums) in groups {
        sums.print(&format!("{}-{}", GROUP * group, GROUP * group + GROUP - 1));
    }
    all.print("all");
    Ok(())
}
