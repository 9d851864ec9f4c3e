//! The check of whole frames finds what the check of single positions finds.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use kalah::build::build;
use kalah::game::Rules;
use kalah::index::{TableRow, layer_frames};
use kalah::progress::Pulse;
use kalah::table::{Table, Tables};
use kalah::verify::{Fault, Oracle, Sample, check_consistency, check_sample};
use kalah_tests::tables::opened;
use proptest::prelude::*;

use crate::{rescored, table_of};

/// Boards on which seeds go around: pits a side, and seeds of the largest layer.
const BOARDS: [(usize, usize); 8] = [(1, 14), (2, 12), (3, 10), (4, 10), (5, 11), (6, 7), (7, 6), (8, 5)];

/// The lower layers of a table.
fn below(tables: &Tables, seeds: usize) -> Tables {
    let mut lower = Tables::empty(Path::new("none"), tables.rules(), tables.pits(), seeds + 3).unwrap();
    tables.layers()[..seeds - 2].iter().for_each(|layer| lower.push(Arc::clone(layer)).unwrap());
    lower
}

/// Checks a layer position by position.
fn one_by_one(tables: &Tables, seeds: usize) -> Result<u64, Fault> {
    check_sample(tables, &Sample::new(tables.key(seeds), u64::MAX, 0), &Pulse::default())
}

/// Result of both checks of a layer, which is the same.
#[track_caller]
fn checked(tables: &Tables, seeds: usize) -> Result<u64, String> {
    let check = check_consistency(tables, seeds, &Pulse::default()).map_err(|fault| format!("{fault:?}"));
    assert_eq!(check, one_by_one(tables, seeds).map_err(|fault| format!("{fault:?}")), "{}", tables.key(seeds));
    check
}

/// The layer that follows from the lower layers by the oracle.
fn layer_above(lower: &Tables, seeds: usize) -> Arc<Table> {
    fn score(
        (tables, oracle): (&Tables, &Oracle),
        known: &mut HashMap<(TableRow, TableRow), u8>,
        (mover, other): (&TableRow, &TableRow),
        seeds: u8,
    ) -> u8 {
        if mover.iter().chain(other).sum::<u8>() < seeds {
            return tables.score_rows(mover, other).unwrap();
        }
        if let Some(&known) = known.get(&(*mover, *other)) {
            return known;
        }
        let child =
            |mover: &TableRow, other: &TableRow| Ok::<u8, ()>(score((tables, oracle), known, (mover, other), seeds));
        let right = oracle.minimax(mover, other, child).unwrap();
        known.insert((*mover, *other), right);
        right
    }
    let (rows, oracle) = (lower.rows(), Oracle::new(lower.rules(), lower.pits()).unwrap());
    let mut known = HashMap::new();
    Arc::new(table_of(lower.key(seeds), |frame, index| {
        let (mover, other) = frame.ranks(index);
        let (mover, other) = (rows.unrank(frame.mover, mover), rows.unrank(frame.other, other));
        score((lower, &oracle), &mut known, (&mover, &other), seeds as u8)
    }))
}

#[test]
fn a_layer_that_follows_from_any_scores_below_passes_and_no_other_one_does() {
    let mut random = fastrand::Rng::with_seed(1);
    for rules in Rules::ALL {
        for (pits, most) in BOARDS {
            for seeds in [2, 3, most / 2, most] {
                // Every move is the best somewhere, unlike in a right table.
                let mut tables = Tables::empty(Path::new("none"), rules, pits, most).unwrap();
                for lower in 2..seeds {
                    tables.push(Arc::new(table_of(tables.key(lower), |_, _| random.u8(0..=lower as u8)))).unwrap();
                }
                let sound = layer_above(&tables, seeds);
                tables.push(Arc::clone(&sound)).unwrap();
                assert_eq!(checked(&tables, seeds), Ok(sound.header().positions));
                for _ in 0..6 {
                    // The first or last position of a frame, or any.
                    let frame = layer_frames(pits, seeds).nth(random.usize(..seeds - 1)).unwrap();
                    let index = [0, frame.positions() - 1, random.u64(..frame.positions())][random.usize(..3)];
                    let by = random.u8(1..=seeds as u8);
                    let wrong = rescored(&sound, (frame, index), |score| (score + by) % (seeds as u8 + 1));
                    let mut tables = below(&tables, seeds);
                    tables.push(Arc::new(wrong)).unwrap();
                    checked(&tables, seeds).unwrap_err();
                }
                if seeds == most {
                    // It is wrong in many places.
                    checked(&tables, seeds - 1).unwrap_err();
                }
            }
        }
    }
}

#[test]
fn right_tables_pass_unless_the_check_is_stopped() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 30), (2, 20), (3, 15), (4, 12), (5, 11), (6, 14), (7, 8), (8, 7)] {
            let (directory, seeds) = (tempfile::tempdir().unwrap(), if rules.relays() { seeds.min(11) } else { seeds });
            build(directory.path(), rules, pits, seeds).unwrap();
            let tables = Tables::open(directory.path(), rules, pits, seeds).unwrap();
            for layer in tables.layers() {
                let pulse = Pulse::default();
                let checked = check_consistency(&tables, layer.key().seeds, &pulse).unwrap();
                assert_eq!((checked, pulse.positions.into_inner()), (layer.header().positions, checked));
            }
            let pulse = Pulse::default();
            pulse.cancel.cancel();
            assert!(matches!(check_consistency(&tables, 7, &pulse), Err(Fault::Stopped(_))));
        }
    }
}

proptest! {
    #[test]
    fn damage_is_reported_as_position_by_position(at in 0.0..1.0f64, bit in 0..8u8, standard: bool) {
        let rules = if standard { Rules::Standard } else { Rules::EmptyCapture };
        let damaged = 8;
        let open = || {
            let right = opened(rules, 4, 9);
            let mut tables = below(&right, damaged);
            let mut bytes = right.layer(damaged).unwrap().bytes().to_vec();
            let data = right.layer(damaged).unwrap().header().entries[0].offset as usize;
            let place = data + ((bytes.len() - data) as f64 * at) as usize;
            bytes[place] ^= 1 << bit;
            tables.push(Arc::new(Table::from_bytes(Path::new("damaged"), bytes).unwrap())).unwrap();
            tables.push(Arc::clone(&right.layers()[damaged - 1])).unwrap();
            tables
        };
        for seeds in [damaged, damaged + 1] {
            let check = check_consistency(&open(), seeds, &Pulse::default());
            prop_assert_eq!(format!("{check:?}"), format!("{:?}", one_by_one(&open(), seeds)));
        }
    }
}
