//! Bound tables: what they say of every position is true, and says as much as the format promises.

use std::path::Path;
use std::sync::Arc;

use kalah::build::build;
use kalah::evaluation::{LANES, Network, Weights};
use kalah::game::Rules;
use kalah::index::LayerIndex;
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Tables};

/// A network with random numbers, whose evaluations spread by a few seeds.
fn network(rules: Rules, pits: usize, random: &mut fastrand::Rng) -> Network {
    let mut lanes = |most: i16| std::array::from_fn::<i16, LANES, _>(|_| random.i16(-most..=most));
    let weights = Weights {
        inputs: (0..2 * pits * 16).map(|_| lanes(60)).collect(),
        bias: lanes(200),
        floor: std::array::from_fn(|lane| if lane == 0 { i16::MIN } else { 0 }),
        outputs: lanes(50),
        shift: 9,
    };
    Network::new(rules, pits, &weights).unwrap()
}

/// Exact tables of a small board in a temporary directory.
fn tables(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Tables {
    build(directory, rules, pits, seeds).unwrap();
    Tables::open(directory, rules, pits, seeds).unwrap()
}

/// Compares every position of a bound table with the exact one: the code is the one that the cuts define, and the bounds
/// are the scores with this code.
fn compare(exact: &Tables, table: &BoundTable) {
    let seeds = table.key().seeds;
    let index = LayerIndex::new(exact.rows(), seeds);
    let mut counts = [0; 4];
    for rank in 0..index.positions() {
        let (mover, other) = index.unrank(rank);
        let (score, mover_seeds) = (u32::from(exact.score(&mover, &other).unwrap()), mover.iter().sum::<u8>().into());
        let frame = table.frame_unchecked(mover_seeds);
        let (mover_rank, other_rank) = (exact.rows().rank(&mover), exact.rows().rank(&other));
        let code = frame.code(mover_rank, other_rank);
        let evaluation = table.network().evaluate(&mover, &other, seeds as u32);
        assert_eq!(code, frame.cuts().code(evaluation, score), "{mover:?} {other:?}");
        assert_eq!(table.code(mover_seeds, mover_rank, other_rank).unwrap(), code);
        let (lower, upper) = frame.bounds(code, evaluation);
        assert!((lower..=upper).contains(&score) && upper <= seeds as u32, "{mover:?} {other:?}");
        counts[usize::from(code)] += 1;
    }
    assert_eq!(table.header().counts(), counts);
    assert_eq!(table.header().exact, exact.layer(seeds).unwrap().header().digest);
}

#[test]
fn every_interval_holds_the_exact_score() {
    let mut random = fastrand::Rng::with_seed(7);
    for (pits, seeds) in [(1, 20), (2, 14), (4, 10), (6, 7)] {
        for rules in Rules::ALL {
            let directory = tempfile::tempdir().unwrap();
            let exact = tables(directory.path(), rules, pits, seeds);
            let network = network(rules, pits, &mut random);
            for cuts in [&[0][..], &[-32, 0, 32], &[-100, -100, 7]] {
                let maker = BoundMaker::new(&network, Cuts::new(cuts).unwrap());
                let made: Vec<_> = exact.layers().iter().map(|table| Arc::new(maker.make(table).unwrap())).collect();
                for (table, exact_table) in made.iter().zip(exact.layers()) {
                    assert_eq!(table.blocks().bytes().len() as u64, maker.file_bytes(exact_table.key()));
                    assert!(!table.is_checked());
                    table.check().unwrap();
                    assert!(table.is_checked());
                    compare(&exact, table);
                }
                let bounds = BoundTables::new(directory.path(), made).unwrap().unwrap();
                assert_eq!((bounds.seeds(), bounds.network()), (2..=seeds, &network));
            }
        }
    }
}
