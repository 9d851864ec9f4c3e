//! Evaluation networks: evaluations, files, phases.

use kalah::evaluation::{LANES, MOST_HELD, Network, NetworkError, Phase, PhasedNetwork, Weights};
use kalah::game::{MAX_PITS, Rules};
use kalah::header::HeaderError;
use kalah::isa::Isa;
use kalah_tests::random::random_network;

const HELD: usize = MOST_HELD + 1;

const MOST_PHASES: u32 = 16;

fn weights(pits: usize) -> Weights {
    let zeros = [0; LANES];
    Weights { inputs: vec![zeros; 2 * pits * HELD], bias: zeros, floor: zeros, outputs: zeros, shift: 0 }
}

fn phased(pits: usize, phases: u32) -> Result<PhasedNetwork, NetworkError> {
    let phase = |phase: u32| Phase { least_seeds: 20 * phase, network: random_network(Rules::Standard, pits, 5) };
    PhasedNetwork::new((0..phases).map(phase).collect())
}

#[test]
fn all_instruction_sets_give_the_evaluation_of_the_definition() {
    let mut random = fastrand::Rng::with_seed(1);
    for rules in Rules::ALL {
        let shipped = PhasedNetwork::shipped(rules, 6).unwrap();
        assert_eq!((shipped.rules(), shipped.pits()), (rules, 6));
        for network in [shipped.first(), &random_network(rules, 6, 1), &random_network(rules, 2, 1)] {
            let pits = network.pits();
            assert_eq!(&Network::new(rules, pits, &network.weights()).unwrap(), network);
            let Weights { inputs, bias, floor, outputs, shift } = network.weights();
            for _ in 0..1000 {
                let mut held = || if random.u8(..9) == 0 { random.u8(..128) } else { random.u8(..8) };
                let mut row = || -> Vec<u8> { (0..pits).map(|_| held()).collect() };
                let (mover, other) = (row(), row());
                let seeds = mover.iter().chain(&other).map(|&held| u32::from(held)).sum();
                let unit = |lane: usize| {
                    let rows = mover.iter().chain(&other).enumerate();
                    let added =
                        rows.map(|(pit, &held)| i64::from(inputs[pit * HELD + usize::from(held.min(15))][lane]));
                    (i64::from(bias[lane]) + added.sum::<i64>()).max(floor[lane].into()) * i64::from(outputs[lane])
                };
                let expected = 8 * i64::from(seeds) + ((0..LANES).map(unit).sum::<i64>() >> shift);
                for isa in Isa::available() {
                    let found = network.evaluate_on(isa, &mover, &other, seeds);
                    assert_eq!(i64::from(found), expected, "{}", isa.name());
                }
            }
        }
    }
    assert_eq!(PhasedNetwork::shipped(Rules::Standard, 5), None);
}

#[test]
fn numbers_that_might_overflow_are_refused() {
    let is_sound = |of: &Weights| Network::new(Rules::Standard, 2, of).is_ok();
    assert!(!is_sound(&weights(3)));
    let mut of = weights(2);
    (of.inputs[0][5], of.inputs[HELD][5]) = (i16::MAX, 1);
    assert!(!is_sound(&of));
    of.inputs[HELD][5] = 0;
    assert!(is_sound(&of));
    // The products fit; the evaluation is too large until the shift reduces it.
    of.outputs[5] = 1 << 6;
    assert!(!is_sound(&of));
    of.shift = 1;
    assert!(is_sound(&of));
    (0..LANES).for_each(|lane| (of.inputs[0][lane], of.outputs[lane]) = (i16::MAX, i16::MAX));
    assert!(!is_sound(&of));
}

#[test]
fn positions_are_evaluated_by_the_network_of_their_phase() {
    let phase = |(least_seeds, output)| {
        let mut of = weights(6);
        (of.bias[0], of.outputs[0]) = (1, output);
        Phase { least_seeds, network: Network::new(Rules::Standard, 6, &of).unwrap() }
    };
    let network = PhasedNetwork::new([(0, 1), (30, 2), (40, 3)].map(phase).to_vec()).unwrap();
    let evaluate = |seeds| network.of(seeds).evaluate(&[0; 6], &[0; 6], seeds) - 8 * seeds as i32;
    assert_eq!([0, 29, 30, 39, 40, 96].map(evaluate), [1, 1, 2, 2, 3, 3]);
}

#[test]
fn phases_ascend_from_0_and_are_of_one_board() {
    let phase = |&(least_seeds, rules): &(u32, Rules)| Phase { least_seeds, network: random_network(rules, 2, 5) };
    let new = |of: &[(u32, Rules)]| PhasedNetwork::new(of.iter().map(phase).collect());
    let (standard, other) = (Rules::Standard, Rules::EmptyCapture);
    assert!(new(&[(0, standard), (30, standard)]).is_ok());
    for of in [
        &[][..],
        &[(1, standard)],
        &[(0, standard), (0, standard)],
        &[(0, standard), (40, standard), (30, standard)],
        &[(0, standard), (65_536, standard)],
        &[(0, standard), (30, other)],
    ] {
        assert!(matches!(new(of), Err(NetworkError::Unfit(_))), "{of:?}");
    }
    assert!(phased(1, MOST_PHASES).is_ok() && phased(1, MOST_PHASES + 1).is_err());
}

#[test]
fn bytes_give_the_network_back() {
    for (pits, phases) in [(1, 1), (6, 1), (MAX_PITS, 1), (1, 2), (6, 3), (MAX_PITS, MOST_PHASES)] {
        let network = phased(pits, phases).unwrap();
        let again = PhasedNetwork::from_bytes(&network.to_bytes()).unwrap();
        assert_eq!((&again, again.digest()), (&network, network.digest()));
    }
    let single = random_network(Rules::Standard, 6, 5);
    assert_eq!(single.to_bytes().len(), Network::file_bytes(6));
    assert_eq!(PhasedNetwork::from(single.clone()).to_bytes(), single.to_bytes());
}

#[test]
fn every_changed_byte_is_found() {
    for phases in [1, 2] {
        let bytes = phased(1, phases).unwrap().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            let error = PhasedNetwork::from_bytes(&damaged).unwrap_err();
            let expected = match at {
                0..=7 => matches!(error, NetworkError::Header(HeaderError::Foreign(_))),
                8..=11 => matches!(error, NetworkError::Header(HeaderError::Version { .. })),
                _ => matches!(error, NetworkError::Damaged),
            };
            assert!(expected, "{phases} phases, byte {at}: {error}");
        }
        for length in 0..bytes.len() {
            assert!(PhasedNetwork::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}

#[test]
fn phases_that_do_not_belong_together_are_refused_though_their_checksum_is_right() {
    let is_refused = |at: usize, byte: u8| {
        let mut bytes = phased(1, 2).unwrap().to_bytes();
        bytes[at] = byte;
        let (content, checksum) = bytes.split_last_chunk_mut().unwrap();
        *checksum = xxhash_rust::xxh3::xxh3_64(content).to_le_bytes();
        PhasedNetwork::from_bytes(&bytes).is_err()
    };
    // The rules, the unused byte, and the least seeds of both phases.
    assert!(is_refused(12, Rules::EmptyCapture.code()) && is_refused(15, 1) && is_refused(18, 0) && is_refused(16, 1));
}
