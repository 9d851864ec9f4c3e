//! Random numbers from the seeds that users choose: numbers drawn with one seed do not predict those drawn with the
//! next.

use std::sync::Arc;

use kalah::export::random_indices;
use kalah::game::{Position, Rules};
use kalah::index::Frame;
use kalah::play::{PlayerName, Setting, play_game, random_starts};
use kalah::random::{choice, generator, mixed};
use kalah::table::TableKey;
use kalah::verify::Sample;

/// Number of random seeds that are compared with the next one, and of numbers drawn with one seed.
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
    // A player repeats itself by its seed and the number of the game.
    let line = |game| {
        let setting = Setting { game, ..Setting::new(Rules::Standard) };
        let mut players = [(); 2].map(|()| PlayerName::Random(1).player(&setting));
        play_game(Rules::Standard, &board, &mut players, None, &Arc::default()).unwrap().line()
    };
    assert_eq!(line(1), line(1));
    assert_ne!(line(1), line(2));
}

/// The correlation of the numbers of two seeds.
fn correlation(one: u64, other: u64) -> f64 {
    let [one, other] = [one, other].map(|seed| {
        let mut random = generator(seed);
        (0..SEEDS).map(|_| random.f64() - 0.5).collect::<Vec<f64>>()
    });
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

#[test]
fn choices_are_those_of_64_bit_machines() {
    let mut random = generator(5);
    let found: Vec<usize> = (0..8).filter_map(|_| choice(&mut random, &[0, 1, 2, 3, 4, 5])).collect();
    // From the definition of the generator.
    assert_eq!(found, [1, 3, 5, 3, 2, 2, 1, 1]);
    assert_eq!(choice::<u8>(&mut random, &[]), None);
}

#[test]
fn numbers_of_neighbouring_seeds_are_independent() {
    let seeds = [0, 1, 2, 3, 7, 41, 100, 1000, 1 << 20, u64::from(u32::MAX), 1 << 40, u64::MAX - 8];
    for seed in seeds {
        for step in [1, 2, 3, 8] {
            // Five standard deviations.
            let found = correlation(seed, seed + step);
            assert!(found.abs() < 5.0 / (SEEDS as f64).sqrt(), "seeds {seed} and {step} more: {found}");
        }
    }
    // High bits count, too.
    assert!(correlation(5, 5 | 1 << 63).abs() < 5.0 / (SEEDS as f64).sqrt());
}

#[test]
fn mixing_is_one_to_one() {
    // The published outputs of SplitMix64 from the state 1234567 are mixed multiples of the
    // golden ratio.
    let outputs = (1..=3u64).map(|step| mixed(step.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1_234_567)));
    assert!(outputs.eq([6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]));
    assert_eq!(mixed(0), 0);
}
