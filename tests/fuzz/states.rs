//! Modified files of values and of opening scans. They have the same content, or are refused.

use std::path::Path;
use std::sync::Mutex;

use kalah::analyse::opening::{Batch, Limits, OpeningScan, open_state};
use kalah::analyse::{GameValue, GameValues};
use kalah::cancel::Cancel;
use kalah::file::Seal;
use kalah::game::{Rules, StartPosition};
use proptest::prelude::*;
use serde_json::Value;

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
    fuzz("forged values", &prop::collection::vec(mutation::json(), 1..4), |changes| {
        let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
        let seal = Seal::Line { head: lines[0] };
        let mut forged: Value = seal.open(lines[1]).unwrap();
        forged.as_object_mut().unwrap().remove("checksum");
        changes.iter().for_each(|change| change.apply(&mut forged));
        for value in read(&path, &[lines[0], &seal.close(&forged).unwrap()].concat()).into_iter().flatten() {
            let seeds = i64::from(value.start().position().unwrap().seeds());
            prop_assert!(-seeds <= value.at_least && value.at_least <= value.at_most && value.at_most <= seeds);
            prop_assert!(value.at_least % 2 == 0 && value.at_most % 2 == 0 && value.seconds >= 0.0);
        }
        Ok(())
    });
}

const SCAN: OpeningScan = OpeningScan::new(Rules::SKalaha, Limits { turns: 100, positions: 500_000 });

/// Games to scan: three batches.
const RANGES: [(usize, std::ops::RangeInclusive<u32>); 3] = [(2, 4..=30), (3, 6..=20), (4, 8..=12)];

/// Resumes from a state to the end. Returns the batches in the state, and all batches; `None` if the state is refused.
fn go_on(path: &Path) -> Option<(Vec<Batch>, Vec<Batch>)> {
    let (state, done) = open_state(path, &SCAN).ok()?;
    let state = Mutex::new(state);
    let keep = |batch: &Batch| Ok::<_, Box<dyn std::error::Error + Send + Sync>>(state.lock().unwrap().append(batch)?);
    let all = SCAN.run(&RANGES, done.clone(), &Cancel::new(), &|| (), &keep).unwrap();
    Some((done, all))
}

#[test]
fn changed_scans_are_refused_or_scanned_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scan");
    let (none, right) = go_on(&path).unwrap();
    assert!(none.is_empty() && right.len() == 3);
    let whole = std::fs::read(&path).unwrap();
    fuzz("opening scans", &mutation::bytes(), |change| {
        std::fs::write(&path, change.apply(&whole)).unwrap();
        if let Some((_, all)) = go_on(&path) {
            prop_assert_eq!(&all, &right);
        }
        Ok(())
    });
}

#[test]
fn forged_scans_prove_what_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scan");
    let (_, right) = go_on(&path).unwrap();
    let outcomes: Vec<_> = right.iter().flat_map(|batch| &batch.games).collect();
    let whole = std::fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    let head = lines[0];
    fuzz("forged scans", &(0..3usize, prop::collection::vec(mutation::json(), 1..4)), |(line, changes)| {
        let mut forged: Value = Seal::Line { head }.open(lines[1 + line]).unwrap();
        forged.as_object_mut().unwrap().remove("checksum");
        changes.iter().for_each(|change| change.apply(&mut forged));
        let forged = Seal::Line { head }.close(&forged).unwrap();
        std::fs::write(&path, [head, &forged].concat()).unwrap();
        let Some((done, _)) = go_on(&path) else { return Ok(()) };
        for game in done.iter().flat_map(|batch| &batch.games).filter(|game| !game.lines.is_empty()) {
            let right = outcomes.iter().find(|right| (right.pits, right.seeds) == (game.pits, game.seeds));
            if let Some(right) = right {
                prop_assert_eq!(game.outcome, right.outcome, "{}x{}", game.pits, game.seeds);
            }
        }
        Ok(())
    });
}
