//! Trains an evaluation on exact scores, with a weight for each pit and number of seeds, by stochastic gradient
//! descent, and tests it on other positions. `cargo run --release --example train -- 14`.

use std::error::Error;

use kalah::build::build;
use kalah::game::Rules;
use kalah::index::{LayerIndex, MAX_TABLE_PITS, TableRow};
use kalah::table::Tables;

const PITS: usize = 6;
const SAMPLES: usize = 2_000_000;
/// Pits with more seeds are treated as holding this many.
const SEEDS_A_PIT: usize = 8;

/// The weights of a position: one for each pit of both sides, the mover's first.
fn features(mover: &TableRow, other: &TableRow) -> [usize; 2 * MAX_TABLE_PITS] {
    let pits = [mover, other].map(|row| row.map(|seeds| usize::from(seeds).min(SEEDS_A_PIT - 1)));
    std::array::from_fn(|pit| pit * SEEDS_A_PIT + pits[pit / MAX_TABLE_PITS][pit % MAX_TABLE_PITS])
}

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: usize = std::env::args().nth(1).map_or(Ok(12), |seeds| seeds.parse())?;
    let rules = Rules::default();
    let directory = tempfile::tempdir()?;
    build(directory.path(), rules, PITS, seeds)?;
    let tables = Tables::open(directory.path(), rules, PITS, seeds)?;

    let layer = LayerIndex::new(tables.rows(), seeds);
    let mut random = fastrand::Rng::with_seed(1);
    // Draws a uniformly random position of the layer, with its exact score.
    let mut sample = || -> Result<([usize; 2 * MAX_TABLE_PITS], f64), Box<dyn Error>> {
        let (mover, other) = layer.unrank(random.u64(0..layer.positions()));
        Ok((features(&mover, &other), f64::from(tables.score_rows(&mover, &other)?)))
    };

    let mut weights = vec![seeds as f64 / 2.0 / (2 * MAX_TABLE_PITS) as f64; 2 * MAX_TABLE_PITS * SEEDS_A_PIT];
    for number in 0..SAMPLES {
        let (features, score) = sample()?;
        let error = score - features.iter().map(|&feature| weights[feature]).sum::<f64>();
        let rate = 0.02 / (1.0 + 20.0 * number as f64 / SAMPLES as f64);
        features.iter().for_each(|&feature| weights[feature] += rate * error);
    }

    let (mut squares, mut spread, mut sum, tests) = (0.0, 0.0, 0.0, 100_000);
    for _ in 0..tests {
        let (features, score) = sample()?;
        squares += (score - features.iter().map(|&feature| weights[feature]).sum::<f64>()).powi(2);
        spread += score * score;
        sum += score;
    }
    let deviation = |squares: f64| (squares / f64::from(tests)).sqrt();
    let mean = sum / f64::from(tests);
    println!(
        "{seeds} seeds: scores differ from their mean by {:.2}",
        deviation(spread - f64::from(tests) * mean * mean)
    );
    println!("          and from the evaluation by {:.2}", deviation(squares));
    Ok(())
}
