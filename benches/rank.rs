//! Measures rank and unrank of rows, a thousand at a time: `cargo bench --bench rank`.

use divan::{Bencher, black_box, counter::ItemsCount};
use kalah::index::{RowIndex, TableRow};

const SEEDS: [usize; 3] = [7, 12, 17];
const COUNT: u32 = 1000;

fn main() {
    divan::main();
}

fn ranks(index: &RowIndex, seeds: usize) -> Vec<u32> {
    (0..COUNT).map(|step| (u64::from(step) * 7919 % index.rows(seeds) as u64) as u32).collect()
}

#[divan::bench(args = SEEDS)]
fn rank(bencher: Bencher, seeds: usize) {
    let index = RowIndex::new(6, 34).unwrap();
    let rows: Vec<TableRow> = ranks(&index, seeds).into_iter().map(|rank| index.unrank(seeds, rank)).collect();
    bencher
        .counter(ItemsCount::new(COUNT))
        .bench_local(|| rows.iter().map(|row| index.rank(black_box(row))).fold(0, u32::wrapping_add));
}

#[divan::bench(args = SEEDS)]
fn unrank(bencher: Bencher, seeds: usize) {
    let index = RowIndex::new(6, 34).unwrap();
    let ranks = ranks(&index, seeds);
    bencher
        .counter(ItemsCount::new(COUNT))
        .bench_local(|| ranks.iter().map(|&rank| index.unrank(seeds, black_box(rank))[0]).fold(0, u8::wrapping_add));
}
