//! The rules of the game, against a second implementation and against examples worked out by hand.

use std::collections::HashSet;

use kalah::game::{Capture, IllegalMove, Pit, Position, Row, Rules, Sowing, Trace, sow};
use proptest::prelude::*;

use kalah_tests::small_boards::each_position;

/// A second implementation of the rules: sows seeds one by one around a ring of all pits and both stores.
fn sow_one_by_one(rules: Rules, mover: &[u32], other: &[u32], pit: usize) -> Sowing {
    let pits = mover.len();
    let (store, other_store) = (pits, 2 * pits + 1);
    let mut ring = [mover, &[0], other, &[0]].concat();
    let (mut place, mut captured, mut relays) = (pit, 0, 0);
    let again = loop {
        let mut was_empty = false;
        for _ in 0..std::mem::take(&mut ring[place]) {
            place = (place + 1) % ring.len();
            if place == other_store {
                place = 0;
            }
            was_empty = ring[place] == 0;
            ring[place] += 1;
        }
        if place == store {
            break match rules {
                Rules::EmptyCapture | Rules::Standard | Rules::SKalaha => true,
                Rules::SingleMove => false,
            };
        }
        // The places of two opposite pits add up to the place of the last pit of the other row.
        let opposite = 2 * pits - place;
        let takes = match rules {
            Rules::SKalaha if !was_empty => {
                relays += 1;
                continue;
            }
            Rules::SKalaha => false,
            Rules::EmptyCapture | Rules::SingleMove => was_empty && place < store,
            Rules::Standard => was_empty && place < store && ring[opposite] > 0,
        };
        if takes {
            captured = std::mem::take(&mut ring[place]) + std::mem::take(&mut ring[opposite]);
            ring[store] += captured;
        }
        break false;
    };
    assert_eq!(ring[other_store], 0, "the other store takes no seeds");
    let (mover, other) = (row_of(&ring[..store]), row_of(&ring[store + 1..other_store]));
    Sowing { stored: ring[store], captured, relays, mover, other, again }
}

/// Checks that a trace agrees with the sowing.
fn assert_traced(rules: Rules, mover: &Row, other: &Row, pit: Pit, sown: &Sowing) {
    let pits = mover.pits();
    let mut places = [&[0], mover.seeds(), &[0], other.seeds()].concat();
    let trace = Trace::of(rules, mover, other, pit);
    assert_eq!(trace.lifts.len(), 1 + sown.relays as usize, "{rules} {mover:?} {other:?} {pit}");
    for lift in trace.lifts {
        assert_eq!(std::mem::take(&mut places[lift.from]), lift.drops.len() as u32);
        lift.drops.iter().for_each(|&place| places[place] += 1);
    }
    for place in trace.captured {
        places[pits + 1] += std::mem::take(&mut places[place]);
    }
    let from_places = (&places[1..=pits], places[pits + 1], &places[pits + 2..]);
    assert_eq!(from_places, (sown.mover.seeds(), sown.stored, sown.other.seeds()), "{rules} {mover:?} {other:?} {pit}");
}

#[test]
fn all_moves_of_small_boards_are_sown_one_by_one_and_traced() {
    each_position(|position| {
        let (mover, other) = (position.mover(), position.other());
        for (rules, pit) in moves(mover) {
            let sown = sow(rules, mover, other, pit);
            let right = sow_one_by_one(rules, mover.seeds(), other.seeds(), pit.index());
            assert_eq!(sown, right, "{rules} {position} {pit}");
            assert!(rules.moves_again() || !sown.again, "{rules}");
            assert_traced(rules, mover, other, pit, &sown);
        }
    });
}

/// Strategy for two rows of equal length, with pits drawn from `seeds`.
fn rows(seeds: impl Strategy<Value = u32>) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    (1..=12usize, prop::collection::vec(seeds, 24)).prop_map(|(pits, mut seeds)| {
        let other = seeds.split_off(24 - pits);
        seeds.truncate(pits);
        (seeds, other)
    })
}

/// Strategy for pits as in play, with an occasional one that takes many laps.
fn few_or_many() -> impl Strategy<Value = u32> {
    prop_oneof![6 => Just(0), 8 => 1..=6u32, 4 => 7..=60u32, 1 => 200..=300u32, 1 => 1000..=9000u32]
}

fn row_of(seeds: &[u32]) -> Row {
    Row::new(seeds).unwrap()
}

/// All rule sets, each with every filled pit of a row.
fn moves(mover: &Row) -> impl Iterator<Item = (Rules, Pit)> {
    Rules::ALL.into_iter().flat_map(|rules| mover.moves().map(move |pit| (rules, pit)))
}

proptest! {
    #[test]
    fn sowing_is_sowing_one_by_one((mover, other) in rows(few_or_many())) {
        let rows = (row_of(&mover), row_of(&other));
        for (rules, pit) in moves(&rows.0) {
            let sown = sow(rules, &rows.0, &rows.1, pit);
            let right = sow_one_by_one(rules, &mover, &other, pit.index());
            prop_assert_eq!(&sown, &right, "{} {}", rules, pit);
            assert_traced(rules, &rows.0, &rows.1, pit, &sown);
        }
    }

    #[test]
    fn seeds_are_neither_made_nor_lost(
        (mover, other) in rows(prop_oneof![3 => Just(0), 3 => 1..=20u32, 1 => 1..=80_000_000u32]),
    ) {
        let (mover, other) = (row_of(&mover), row_of(&other));
        for (rules, pit) in moves(&mover) {
            let sown = sow(rules, &mover, &other, pit);
            let after = sown.stored + sown.mover.total() + sown.other.total();
            prop_assert_eq!(after, mover.total() + other.total(), "{} {}", rules, pit);
        }
    }

    /// A score after the move is worth the same final difference to the mover.
    #[test]
    fn a_move_is_its_sowing_and_the_turn(
        (mover, other) in rows(prop_oneof![3 => Just(0), 2 => 1..=20u32]),
        stores in (0..100u32, 0..100u32),
    ) {
        let (mover, other) = (row_of(&mover), row_of(&other));
        let position = Position::new(mover, other, stores.0, stores.1).unwrap();
        prop_assert_eq!(position.is_over(), mover.is_empty() || other.is_empty());
        let moves: Vec<Pit> = position.moves().collect();
        prop_assert_eq!(&moves, &if position.is_over() { Vec::new() } else { mover.moves().collect() });
        for (rules, index) in Rules::ALL.into_iter().flat_map(|rules| (0..16).map(move |index| (rules, index))) {
            let pit = Pit::from_index(index).unwrap();
            let played = position.play(rules, pit);
            if position.is_over() {
                prop_assert_eq!(played, Err(IllegalMove::GameOver));
            } else if index >= position.pits() {
                prop_assert_eq!(played, Err(IllegalMove::NoPit { pit, pits: position.pits() }));
            } else if !moves.contains(&pit) {
                prop_assert_eq!(played, Err(IllegalMove::EmptyPit(pit)));
            } else {
                let sown = sow(rules, &mover, &other, pit);
                let after = Position::new(sown.mover, sown.other, stores.0 + sown.stored, stores.1).unwrap();
                let again = sown.again && !after.is_over();
                let played = played.unwrap();
                prop_assert_eq!(played.again, again);
                prop_assert_eq!(played.position, if again { after } else { after.turned() });
                for next in [0, played.position.seeds() / 3, played.position.seeds()] {
                    let score = played.mover_score(&position, next);
                    prop_assert!(score <= position.seeds(), "{} {}", rules, pit);
                    prop_assert_eq!(position.value(score), played.mover_value(played.position.value(next)));
                }
            }
        }
    }
}

#[test]
fn the_vectors_of_the_game_protocol_server() {
    // From go-kgp, board_test.go, TestSow. `false`: North plays, whose row and store come second.
    for (south, board, number, again, right) in [
        (false, "<3,0,0,3,3,3,3,3,3>", 1, true, "<3,0,1,3,3,3,0,4,4>"),
        (false, "<4,0,0,5,5,5,5,5,5,5,5>", 3, false, "<4,0,1,6,6,6,5,5,5,0,6>"),
        (false, "<3,0,0,9,9,9,9,9,9>", 1, false, "<3,0,1,10,10,10,1,11,11>"),
        (true, "<3,0,0,1,0,3,3,3,3>", 1, false, "<3,4,0,0,0,3,3,0,3>"),
        (false, "<3,0,0,3,3,3,7,3,3>", 1, false, "<3,0,6,4,4,0,0,4,4>"),
        (false, "<3,0,0,0,0,1,1,0,1>", 1, false, "<3,0,0,0,0,1,0,1,1>"),
    ] {
        let seen = |text: &str, south: bool| {
            let position: Position = text.parse().unwrap();
            if south { position } else { position.turned() }
        };
        let played = seen(board, south).play(Rules::Standard, Pit::from_number(number).unwrap()).unwrap();
        assert_eq!((played.position, played.again), (seen(right, south == again), again), "{board}");
    }
}

#[test]
fn rule_sets_have_places_codes_and_names_of_their_own() {
    for (index, rules) in Rules::ALL.into_iter().enumerate() {
        assert_eq!(rules.index(), index);
        assert_eq!(Rules::from_code(rules.code()), Some(rules));
        assert_eq!(rules.name().parse(), Ok(rules));
        assert_eq!(rules.is_default(), rules == Rules::default());
        let same = Rules::ALL.into_iter().filter(|other| other.code() == rules.code() || other.name() == rules.name());
        assert_eq!(same.count(), 1, "{rules}");
    }
    // The codes are stored in files.
    let codes = [Rules::EmptyCapture, Rules::Standard, Rules::SKalaha, Rules::SingleMove].map(Rules::code);
    assert_eq!(codes, [0, 1, 2, 3]);
    assert_eq!(Rules::from_code(Rules::ALL.len() as u8), None);
    let message = "oware".parse::<Rules>().unwrap_err().to_string();
    assert!(Rules::ALL.into_iter().all(|rules| message.contains(rules.name())), "{message}");
}

#[test]
fn the_moves_on_the_page_of_the_rules_are_those_of_the_game() {
    let page = include_str!("../../docs/rules.md");
    let table = page.split_once("\n## Test positions\n").unwrap().1.split_once("\n## ").unwrap().0;
    let (mut moves, mut shown) = (0, HashSet::new());
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [rules, before, pit, after, next, _] = cells[..] else { panic!("{line}") };
        let (rules, before): (Rules, Position) = (rules.parse().unwrap(), before.parse().unwrap());
        let played = before.play(rules, Pit::from_number(pit.parse().unwrap()).unwrap()).unwrap();
        assert_eq!(played.position.to_string(), after, "{line}");
        let found = match played.position.final_value() {
            Some(value) => format!("over, {:+}", -value),
            None => format!("the {} player", if played.again { "same" } else { "other" }),
        };
        assert_eq!(found, next, "{line}");
        moves += 1;
        shown.insert((rules, played.again, played.position.is_over()));
    }
    assert!(moves > 25, "{moves}");
    // Every rule set has a move that ends the turn. Moves that allow a further move, and ends of games, occur too.
    assert!(Rules::ALL.into_iter().all(|rules| shown.contains(&(rules, false, false))));
    assert!([Rules::Standard, Rules::SKalaha].into_iter().all(|rules| shown.contains(&(rules, true, false))));
    assert!(shown.iter().filter(|(.., is_over)| *is_over).count() > 2);
}

#[test]
fn the_page_of_the_rules_has_the_properties_of_every_rule_set() {
    let page = include_str!("../../docs/rules.md");
    let row = |first: &str| -> Vec<&str> {
        let line = page.lines().find(|line| line.starts_with(&format!("| {first} |"))).unwrap();
        line.split('|').map(|cell| cell.trim().trim_matches('`')).skip(2).take(Rules::ALL.len()).collect()
    };
    let names = page.lines().find(|line| line.starts_with("| | `")).unwrap();
    let names: Vec<Rules> = names.split('`').skip(1).step_by(2).map(|name| name.parse().unwrap()).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), Rules::ALL.len());
    let yes = |is: bool| if is { "yes" } else { "no" };
    let capture = |rules: &Rules| match rules.capture() {
        Capture::Always => "always",
        Capture::OppositeSeeds => "opposite-seeds",
        Capture::Never => "never",
    };
    assert!(names.iter().map(|rules| yes(rules.moves_again())).eq(row("`rules.moves_again`")));
    assert!(names.iter().map(|rules| yes(rules.relays())).eq(row("`rules.relays`")));
    assert!(names.iter().map(capture).eq(row("`rules.capture`")));
}
