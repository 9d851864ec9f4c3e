//! Modified files of values. They have the same content, or are refused.

use std::path::Path;

use kalah::analyse::{GameValue, GameValues};
use kalah::file::Seal;
use kalah::game::{Rules, StartPosition};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::{fuzz, mutation};

/// Writes the values of some games, and returns the bytes of their file.
fn values(path: &Path) -> Vec<u8> {
    let mut values = GameValues::open(Rules::Standard, Some(path)).unwrap();
    for (pits, seeds, at_least, at_most) in [(2, 1, 0, 0), (3, 2, -4, 6), (6, 4, 2, 48)] {
        let seconds = f64::from(seeds) / 3.0;
        values.put(GameValue { pits, seeds, at_least, at_most, nodes: 1 << 40, seconds }).unwrap();
    }
    std::fs::read(path).unwrap()
}

/// All values of a file. `None` if it is refused.
fn read(path: &Path, bytes: &[u8]) -> Option<Vec<GameValue>> {
    std::fs::write(path, bytes).unwrap();
    let values = GameValues::open(Rules::Standard, Some(path)).ok()?;
    let games = (1..=16).flat_map(|pits| (1..=64).map(move |seeds| StartPosition { pits, seeds }));
    Some(games.filter_map(|game| values.get(game).copied()).collect())
}

#[test]
fn changed_values_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values");
    let whole = values(&path);
    let right = read(&path, &whole).unwrap();
    assert_eq!(right.len(), 3);
    fuzz("values", &mutation::bytes(), |change| {
        let changed = change.apply(&whole);
        // A line that is left out is that of a game to solve again.
        for value in read(&path, &changed).into_iter().flatten() {
            prop_assert!(right.contains(&value), "{:?}", value);
        }
        Ok(())
    });
}

#[test]
fn forged_values_are_values_of_games() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values");
    let whole = values(&path);
    let fields = select(&["pits", "seeds", "at_least", "at_most", "nodes", "seconds"][..]);
    let value = prop_oneof![
        3 => (-70..70i64).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => select(vec![json!(null), json!(true), json!("6"), json!([])]),
    ];
    fuzz("forged values", &prop::collection::vec((fields, value), 1..4), |changes| {
        let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
        let seal = Seal(lines[0]);
        let mut forged: Value = seal.open(lines[1]).unwrap();
        forged.as_object_mut().unwrap().remove("checksum");
        changes.into_iter().for_each(|(field, value)| forged[field] = value);
        for value in read(&path, &[lines[0], &seal.close(&forged).unwrap()].concat()).into_iter().flatten() {
            let seeds = i64::from(value.start().position().unwrap().seeds());
            prop_assert!(-seeds <= value.at_least && value.at_least <= value.at_most && value.at_most <= seeds);
            prop_assert!(value.at_least % 2 == 0 && value.at_most % 2 == 0 && value.seconds >= 0.0);
        }
        Ok(())
    });
}
