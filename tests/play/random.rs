//! Random numbers from the seeds that users choose.

use kalah::random::{choice, generator, mixed};

/// Numbers compared for each seed.
const COUNT: usize = 2000;

/// The correlation of the numbers of two seeds.
fn correlation(one: u64, other: u64) -> f64 {
    let [one, other] = [one, other].map(|seed| {
        let mut random = generator(seed);
        (0..COUNT).map(|_| random.f64() - 0.5).collect::<Vec<f64>>()
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
            assert!(found.abs() < 5.0 / (COUNT as f64).sqrt(), "seeds {seed} and {step} more: {found}");
        }
    }
    // High bits count, too.
    assert!(correlation(5, 5 | 1 << 63).abs() < 5.0 / (COUNT as f64).sqrt());
}

#[test]
fn mixing_is_one_to_one() {
    // The published outputs of SplitMix64 from the state 1234567 are mixed multiples of the
    // golden ratio.
    let outputs = (1..=3u64).map(|step| mixed(step.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1_234_567)));
    assert!(outputs.eq([6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]));
    assert_eq!(mixed(0), 0);
}
