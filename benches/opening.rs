//! Measures sowing many seeds by the rules, and deciding start positions: `cargo
//! bench --bench opening`.

use divan::{Bencher, black_box, counter::ItemsCount};
use kalah::analyse::opening::{Limits, outcome};
use kalah::cancel::Cancel;
use kalah::game::{Position, Rules, StartPosition, sow};

/// Seeds in each pit: few, and the maximum in the paper.
const SEEDS: [u32; 3] = [4, 1000, 4_826_809];

/// Start positions decided per iteration.
const STARTS: u32 = 100;

fn main() {
    divan::main();
}

fn start(seeds: u32) -> Position {
    StartPosition { pits: 6, seeds }.position().expect("a start position")
}

/// The moves of start positions with successive numbers of seeds.
fn starts(seeds: u32) -> Vec<Position> {
    (seeds..seeds + STARTS).map(start).collect()
}

#[divan::bench(args = SEEDS)]
fn moves_by_the_rules(bencher: Bencher, seeds: u32) {
    let starts = starts(seeds);
    bencher.counter(ItemsCount::new(6 * STARTS)).bench_local(|| {
        for start in &starts {
            for pit in start.moves() {
                black_box(sow(Rules::SKalaha, start.mover(), start.other(), pit));
            }
        }
    });
}

#[divan::bench(args = SEEDS)]
fn start_positions_decided(bencher: Bencher, seeds: u32) {
    let (starts, cancel) = (starts(seeds), Cancel::new());
    bencher.counter(ItemsCount::new(STARTS)).bench_local(|| {
        for start in &starts {
            black_box(outcome(Rules::SKalaha, start, Limits::default(), &cancel).expect("nothing stops it"));
        }
    });
}
