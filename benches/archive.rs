//! Measures the cost of reading one score of an archive, which is that of unpacking its chunk, for chunks of several
//! sizes: `cargo bench --bench archive`.
//!
//! Builds its tables in a temporary directory. `KALAH_BENCH_SEEDS` is the layer (default 20).
//!
//! Prints the side of the chunks, bits a position, and milliseconds of one thread for a full chunk, the check of the
//! table's digest included.

use std::time::Instant;

use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey, archive};

fn main() {
    let seeds = std::env::var("KALAH_BENCH_SEEDS").map_or(20, |seeds| seeds.parse().expect("a number of seeds"));
    let (place, rules, pits) = (tempfile::tempdir().expect("a temporary directory"), Rules::default(), 6);
    kalah::build::build(place.path(), rules, pits, seeds).expect("tables are built");
    let table = Table::open_key(place.path(), TableKey { rules, pits, seeds }).expect("the table is sound");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!("side  bits  ms a chunk");
    for side in [64, 128, 256, 512, 1024, 2048] {
        let path = place.path().join(side.to_string());
        let info = archive::compress_in_chunks(&table, &path, side, &Pulse::default()).expect("it is packed");
        // The median of three.
        let mut seconds = [0.0; 3].map(|_: f64| {
            let start = Instant::now();
            pool.install(|| archive::check(&path, &Pulse::default())).expect("it is sound");
            start.elapsed().as_secs_f64()
        });
        seconds.sort_by(f64::total_cmp);
        let chunks = info.positions as f64 / (side * side) as f64;
        println!("{side:4}  {:.2}  {:.2}", info.bits_per_position(), 1e3 * seconds[1] / chunks);
    }
}
