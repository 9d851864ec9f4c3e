//! Builds the layers up to a number of seeds, and counts wins, draws and losses in the last one.
//! `cargo run --release --example count_layer -- 14 standard`.

use std::error::Error;

use kalah::build::build;
use kalah::game::Rules;
use kalah::table::{Tables, score_counts};

const PITS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: usize = arguments.next().map_or(Ok(12), |seeds| seeds.parse())?;
    let rules = arguments.next().map_or(Ok(Rules::default()), |rules| rules.parse())?;

    // To keep the tables, use another directory; existing layers are not built again.
    let directory = tempfile::tempdir()?;
    build(directory.path(), rules, PITS, seeds)?;
    let tables = Tables::open(directory.path(), rules, PITS, seeds)?;
    let counts = score_counts(tables.require(seeds)?)?;

    let positions: u64 = counts.iter().sum();
    println!("{rules}, {PITS} pits, {seeds} seeds: {positions} positions");
    for (score, count) in counts.iter().enumerate() {
        println!("score {score:2}: {count:>12} {:6.2} %", *count as f64 * 100.0 / positions as f64);
    }
    // The mover wins with more than half of the seeds.
    let wins: u64 = counts[seeds / 2 + 1..].iter().sum();
    println!("the mover wins {:.2} %", wins as f64 * 100.0 / positions as f64);
    Ok(())
}
