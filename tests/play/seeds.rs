//! Neighbouring random seeds: numbers drawn with one seed do not predict those drawn with the next.

use std::sync::Arc;

use kalah::export::random_indices;
use kalah::game::{Position, Rules};
use kalah::index::Frame;
use kalah::play::{PlayerName, Setting, play_game, random_starts};
use kalah::table::TableKey;
use kalah::verify::Sample;

/// Number of random seeds that are compared with the next one.
const SEEDS: u64 = 3000;

/// Requires that the numbers drawn with neighbouring seeds are not correlated.
#[track_caller]
fn expect_independent(drawn: impl Fn(u64) -> f64) {
    let numbers: Vec<f64> = (0..=SEEDS).map(drawn).collect();
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let product = |apart: usize| -> f64 {
        numbers.iter().zip(&numbers[apart..]).map(|(one, other)| (one - mean) * (other - mean)).sum()
    };
    for apart in [1, 2] {
        let correlation = product(apart) / product(0);
        // Five standard deviations.
        assert!(correlation.abs() < 5.0 / (SEEDS as f64).sqrt(), "{apart} apart: {correlation}");
    }
}

#[test]
fn samples_of_neighbouring_seeds_are_independent() {
    expect_independent(|seed| random_indices(1 << 40, 1, seed)[0] as f64);
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 20 };
    for mover in [3, 10] {
        let frame = Frame { pits: 6, mover, other: 20 - mover };
        // The second chosen position is the first random one.
        expect_independent(|source| Sample::new(key, 2000, source).indices(frame).nth(1).unwrap() as f64);
    }
}

#[test]
fn games_of_neighbouring_seeds_are_independent() {
    let start: Position = "6x4".parse().unwrap();
    expect_independent(|seed| {
        let after = random_starts(Rules::Standard, &start, 1, 1, seed)[0];
        start.moves().position(|pit| start.play(Rules::Standard, pit).unwrap().position == after).unwrap() as f64
    });
    let board: Position = "6x1".parse().unwrap();
    for game in [0, 1, 7] {
        let setting = Setting { game, ..Setting::new(Rules::Standard) };
        expect_independent(|seed| {
            let mut players = [0, 1].map(|_| PlayerName::Random(seed).player(&setting));
            let played = play_game(Rules::Standard, &board, &mut players, None, &Arc::default()).unwrap();
            played.moves[0].choice.pit.number() as f64
        });
    }
}
