//! Positions and evaluation networks of random numbers.

use kalah_core::evaluation::{LANES, MOST_HELD, Network, Weights};
use kalah_core::game::{Position, Row, Rules};

/// A position with this many seeds in play, and with small stores. The game may be over.
pub fn random_position(random: &mut fastrand::Rng, pits: usize, seeds: u32) -> Position {
    let mut places = vec![0; 2 * pits];
    (0..seeds).for_each(|_| places[random.usize(..2 * pits)] += 1);
    let row = |seeds: &[u32]| Row::new(seeds).unwrap();
    Position::new(row(&places[..pits]), row(&places[pits..]), random.u32(..9), random.u32(..9)).unwrap()
}

/// A network whose evaluations vary by a few seeds and have no relation to the game. It has a unit without a floor.
pub fn random_network(rules: Rules, pits: usize, seed: u64) -> Network {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut lanes = |most: i16| std::array::from_fn::<i16, LANES, _>(|_| random.i16(-most..=most));
    let inputs = (0..2 * pits * (MOST_HELD + 1)).map(|_| lanes(60)).collect();
    let (bias, outputs) = (lanes(200), lanes(50));
    let floor = std::array::from_fn(|lane| if lane == 0 { i16::MIN } else { 0 });
    Network::new(rules, pits, &Weights { inputs, bias, floor, outputs, shift: 9 }).unwrap()
}
