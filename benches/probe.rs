//! Measures random probes of a layer that is in memory: `cargo bench --bench probe`.
//!
//! Builds its tables in a temporary directory. `KALAH_BENCH_SEEDS` is the layer (default 20).

use divan::{Bencher, black_box, counter::ItemsCount};
use kalah::game::Rules;
use kalah::index::{LayerIndex, TableRow};
use kalah::table::Tables;

const COUNT: usize = 1000;

fn main() {
    // SAFETY: nobody writes to finished tables during the run.
    unsafe { kalah::table::map_files() };
    divan::main();
}

fn seeds() -> usize {
    std::env::var("KALAH_BENCH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(20)
}

fn tables() -> (tempfile::TempDir, Tables) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (rules, pits, seeds) = (Rules::default(), 6, seeds());
    kalah::build::build(directory.path(), rules, pits, seeds).expect("tables are built");
    let tables = Tables::open(directory.path(), rules, pits, seeds).expect("tables are sound");
    (directory, tables)
}

/// Positions drawn uniformly from the layer, so that nearly every probe reads a different group.
fn positions(tables: &Tables) -> Vec<(TableRow, TableRow)> {
    let layer = LayerIndex::new(tables.rows(), seeds());
    let mut random = fastrand::Rng::with_seed(1);
    (0..COUNT).map(|_| layer.unrank(random.u64(..layer.positions()))).collect()
}

/// The same thousand positions repeatedly: groups and directory are in the processor's caches.
#[divan::bench]
fn cached(bencher: Bencher) {
    let (_directory, tables) = tables();
    let positions = positions(&tables);
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        let score = |(mover, other): &(TableRow, TableRow)| tables.score_rows(black_box(mover), other).expect("sound");
        positions.iter().map(score).fold(0, u8::wrapping_add)
    });
}

/// A thousand new positions each time: the table is in the page cache, but most groups are not in the processor's
/// caches.
#[divan::bench]
fn random(bencher: Bencher) {
    let (_directory, tables) = tables();
    let layer = LayerIndex::new(tables.rows(), seeds());
    let mut random = fastrand::Rng::with_seed(2);
    bencher
        .with_inputs(|| -> Vec<_> { (0..COUNT).map(|_| layer.unrank(random.u64(..layer.positions()))).collect() })
        .counter(ItemsCount::new(COUNT))
        .bench_local_values(|positions| {
            let score = |(mover, other): &(TableRow, TableRow)| tables.score_rows(mover, other).expect("sound");
            positions.iter().map(score).fold(0, u8::wrapping_add)
        });
}
