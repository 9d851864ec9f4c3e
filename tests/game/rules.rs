//! The rules of the game, against a second implementation and against examples worked out by hand.

use std::collections::HashSet;

use kalah::game::{Capture, IllegalMove, Pit, Played, Position, Row, Rules, Sowing, Trace, sow};
use kalah::index::{TableRow, table_row};
use kalah::verify::Oracle;
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
    let row = |seeds: &[u32]| Row::new(seeds).unwrap();
    let (mover, other) = (row(&ring[..store]), row(&ring[store + 1..other_store]));
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
        for (rules, pit) in Rules::ALL.into_iter().flat_map(|rules| mover.moves().map(move |pit| (rules, pit))) {
            let sown = sow(rules, mover, other, pit);
            let right = sow_one_by_one(rules, mover.seeds(), other.seeds(), pit.index());
            assert_eq!(sown, right, "{rules} {position} {pit}");
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

proptest! {
    #[test]
    fn a_trace_leads_to_the_rows_after_the_sowing((mover, other) in rows(0..=40u32)) {
        let (mover_row, other_row) = (Row::new(&mover).unwrap(), Row::new(&other).unwrap());
        for rules in Rules::ALL {
            for pit in mover_row.moves() {
                let sown = sow(rules, &mover_row, &other_row, pit);
                assert_traced(rules, &mover_row, &other_row, pit, &sown);
            }
        }
    }

    #[test]
    fn sowing_is_sowing_one_by_one((mover, other) in rows(few_or_many())) {
        let (mover_row, other_row) = (Row::new(&mover).unwrap(), Row::new(&other).unwrap());
        for rules in Rules::ALL {
            for pit in mover_row.moves() {
                let right = sow_one_by_one(rules, &mover, &other, pit.index());
                prop_assert_eq!(sow(rules, &mover_row, &other_row, pit), right, "{} {}", rules, pit);
            }
        }
    }

    #[test]
    fn seeds_are_neither_made_nor_lost(
        (mover, other) in rows(prop_oneof![3 => Just(0), 3 => 1..=20u32, 1 => 1..=80_000_000u32]),
    ) {
        let (mover, other) = (Row::new(&mover).unwrap(), Row::new(&other).unwrap());
        for rules in Rules::ALL {
            for pit in mover.moves() {
                let sown = sow(rules, &mover, &other, pit);
                let after = sown.stored + sown.mover.total() + sown.other.total();
                prop_assert_eq!(after, mover.total() + other.total(), "{} {}", rules, pit);
            }
        }
    }

    #[test]
    fn a_move_is_its_sowing_and_the_turn(
        (mover, other) in rows(prop_oneof![3 => Just(0), 2 => 1..=20u32]),
        stores in (0..100u32, 0..100u32),
    ) {
        let (mover, other) = (Row::new(&mover).unwrap(), Row::new(&other).unwrap());
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
            }
        }
    }

    #[test]
    fn a_score_after_a_move_is_worth_the_same_final_difference_to_the_mover(
        (mover, other) in rows(prop_oneof![3 => Just(0), 2 => 1..=20u32]),
        stores in (0..100u32, 0..100u32),
    ) {
        let (mover, other) = (Row::new(&mover).unwrap(), Row::new(&other).unwrap());
        let position = Position::new(mover, other, stores.0, stores.1).unwrap();
        for (rules, pit) in Rules::ALL.into_iter().flat_map(|rules| position.moves().map(move |pit| (rules, pit))) {
            let played = position.play(rules, pit).unwrap();
            for next in [0, played.position.seeds() / 3, played.position.seeds()] {
                let score = played.mover_score(&position, next);
                prop_assert!(score <= position.seeds(), "{} {}", rules, pit);
                prop_assert_eq!(position.value(score), played.mover_value(played.position.value(next)));
            }
        }
    }
}

/// Plays a move. Returns the board from the view of the player who moved, and true if that player moves again.
fn after(rules: Rules, board: &str, number: usize) -> (String, bool) {
    let position: Position = board.parse().unwrap();
    let played = position.play(rules, Pit::from_number(number).unwrap()).unwrap();
    let seen = if played.again { played.position } else { played.position.turned() };
    (seen.to_string(), played.again)
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
        let turned = |board: &str| {
            let position: Position = board.parse().unwrap();
            if south { position } else { position.turned() }.to_string()
        };
        assert_eq!(after(Rules::Standard, &turned(board), number), (turned(right), again), "{board}");
    }
}

#[test]
fn the_last_seed_decides() {
    let (empty, standard, relay) = (Rules::EmptyCapture, Rules::Standard, Rules::SKalaha);
    for (rules, board, number, right) in [
        // The last seed falls into an empty pit of the mover, opposite three seeds.
        (empty, "<3,0,0,1,0,2,1,3,1>", 1, "<3,4,0,0,0,2,1,0,1>"),
        (standard, "<3,0,0,1,0,2,1,3,1>", 1, "<3,4,0,0,0,2,1,0,1>"),
        (relay, "<3,0,0,1,0,2,1,3,1>", 1, "<3,0,0,0,1,2,1,3,1>"),
        // The same, opposite an empty pit: only empty capture takes the seed itself.
        (empty, "<3,0,0,1,0,2,1,0,1>", 1, "<3,1,0,0,0,2,1,0,1>"),
        (standard, "<3,0,0,1,0,2,1,0,1>", 1, "<3,0,0,0,1,2,1,0,1>"),
        (relay, "<3,0,0,1,0,2,1,0,1>", 1, "<3,0,0,0,1,2,1,0,1>"),
        // The last seed falls into an empty pit of the other side: the turn is over.
        (empty, "<3,0,0,1,0,2,0,3,1>", 3, "<3,1,0,1,0,0,1,3,1>"),
        (standard, "<3,0,0,1,0,2,0,3,1>", 3, "<3,1,0,1,0,0,1,3,1>"),
        (relay, "<3,0,0,1,0,2,0,3,1>", 3, "<3,1,0,1,0,0,1,3,1>"),
        // The last seed falls into a pit of the mover with seeds. Only a relay goes on, here past the store to an empty
        // pit of the other side.
        (empty, "<3,0,0,1,2,0,0,3,1>", 1, "<3,0,0,0,3,0,0,3,1>"),
        (standard, "<3,0,0,1,2,0,0,3,1>", 1, "<3,0,0,0,3,0,0,3,1>"),
        (relay, "<3,0,0,1,2,0,0,3,1>", 1, "<3,1,0,0,0,1,1,3,1>"),
        // The last seed falls into a pit with seeds of the other side: the relay returns to the mover's row.
        (empty, "<3,0,0,0,0,2,3,0,0>", 3, "<3,1,0,0,0,0,4,0,0>"),
        (standard, "<3,0,0,0,0,2,3,0,0>", 3, "<3,1,0,0,0,0,4,0,0>"),
        (relay, "<3,0,0,0,0,2,3,0,0>", 3, "<3,1,0,1,1,0,0,1,1>"),
        // Thirteen seeds go around once. The starting pit is empty when the last seed reaches it.
        (empty, "<6,0,0,0,13,0,0,0,0,0,0,0,0,2,0>", 2, "<6,5,0,1,0,1,1,1,1,1,1,1,1,0,1>"),
        (standard, "<6,0,0,0,13,0,0,0,0,0,0,0,0,0,1>", 2, "<6,3,0,1,0,1,1,1,1,1,1,1,1,0,2>"),
        (relay, "<6,0,0,0,13,0,0,0,0,0,0,0,0,0,1>", 2, "<6,1,0,1,1,1,1,1,1,1,1,1,1,1,2>"),
        // Twenty-six seeds go around twice. The starting pit is then not empty.
        (empty, "<6,0,0,0,26,0,0,0,0,0,0,0,0,0,1>", 2, "<6,2,0,2,2,2,2,2,2,2,2,2,2,2,3>"),
        (standard, "<6,0,0,0,26,0,0,0,0,0,0,0,0,0,1>", 2, "<6,2,0,2,2,2,2,2,2,2,2,2,2,2,3>"),
    ] {
        assert_eq!(after(rules, board, number), (right.to_owned(), false), "{rules} {board}");
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
fn a_last_seed_in_the_store_may_move_again() {
    // A last seed in the store ends the turn. Captures follow empty-capture.
    let single = Rules::SingleMove;
    assert_eq!(after(single, "<3,4,7,2,2,1,1,0,0>", 2), ("<3,5,7,2,0,2,1,0,0>".to_owned(), false));
    assert_eq!(after(single, "<3,0,0,1,0,2,1,0,1>", 1), ("<3,1,0,0,0,2,1,0,1>".to_owned(), false));
    for rules in Rules::ALL {
        let again = rules.moves_again();
        assert_eq!(after(rules, "<3,4,7,2,2,1,1,0,0>", 2), ("<3,5,7,2,0,2,1,0,0>".to_owned(), again), "{rules}");
    }
    // Nine seeds from the middle pit of three go around once and end in the store.
    assert_eq!(after(Rules::Standard, "<3,0,0,0,9,0,0,0,1>", 2), ("<3,2,0,1,1,2,1,1,2>".to_owned(), true));
    // Twenty-six seeds go around twice. A relay also sows the two seeds that lie in the pit by then, and the three of
    // pit 4.
    let relay = after(Rules::SKalaha, "<6,0,0,0,26,0,0,0,0,0,0,0,0,0,1>", 2);
    assert_eq!(relay, ("<6,3,0,2,0,3,0,3,3,2,2,2,2,2,3>".to_owned(), true));
}

#[test]
fn an_empty_row_ends_the_game_in_the_middle_of_a_turn() {
    for rules in Rules::ALL {
        // The mover's last seed goes into the store. The remaining seeds stay in their pits.
        assert_eq!(after(rules, "<2,0,0,0,1,3,0>", 2), ("<2,1,0,0,0,3,0>".to_owned(), false), "{rules}");
    }
    // The relay takes the other side's only seed and ends in the store.
    assert_eq!(after(Rules::SKalaha, "<1,0,0,2,1>", 1), ("<1,2,0,1,0>".to_owned(), false));
    // A capture takes the last seeds of the other side.
    assert_eq!(after(Rules::Standard, "<3,0,0,1,0,1,0,2,0>", 1), ("<3,3,0,0,0,1,0,0,0>".to_owned(), false));
}

#[test]
fn the_value_counts_stores_and_seeds_in_play() {
    // Of the 10 seeds in play, the mover collects 7. The stores differ by 3 in favour of the other side.
    let position: Position = "<2,1,4,5,1,0,4>".parse().unwrap();
    assert_eq!(position.value(7), 7 - 3 + 1 - 4);
    assert_eq!(position.turned().value(3), -position.value(7));
}

/// Seeds that the mover of `before` collects by this move, including the end of the game if it is over.
fn collected(before: &Position, played: &Played) -> u32 {
    let after = &played.position;
    let store = if played.again { after.mover_store() } else { after.other_store() };
    // A finished game is stored from the view of the other player.
    let left = if after.is_over() { after.other().total() } else { 0 };
    store - before.mover_store() + left
}

#[test]
fn the_moves_on_the_page_of_the_rules_are_those_of_the_game_and_of_the_oracle() {
    let page = include_str!("../../docs/rules.md");
    let table = page.split_once("\n## Test positions\n").unwrap().1.split_once("\n## ").unwrap().0;
    let (mut moves, mut shown) = (0, HashSet::new());
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [rules, before, pit, after, next, _] = cells[..] else { panic!("{line}") };
        let (rules, before): (Rules, Position) = (rules.parse().unwrap(), before.parse().unwrap());
        let play = |pit| before.play(rules, pit).unwrap();
        let played = play(Pit::from_number(pit.parse().unwrap()).unwrap());
        assert_eq!(played.position.to_string(), after, "{line}");
        let found = match played.position.final_value() {
            Some(value) => format!("over, {:+}", -value),
            None => format!("the {} player", if played.again { "same" } else { "other" }),
        };
        assert_eq!(found, next, "{line}");

        // The oracle plays all moves of a position, and looks up the values after those that do not end the game.
        let rows = |position: &Position| [position.mover(), position.other()].map(|row| table_row(row).unwrap());
        let all: Vec<Played> = before.moves().map(play).collect();
        let expected: Vec<[TableRow; 2]> =
            all.iter().map(|played| &played.position).filter(|after| !after.is_over()).map(rows).collect();
        let mut asked = Vec::new();
        let [mover, other] = rows(&before);
        let bounds = Oracle::new(rules, before.pits()).unwrap().minimax_bounds(&mover, &other, |mover, other| {
            asked.push([*mover, *other]);
            let left: u8 = mover.iter().chain(other).sum();
            Ok::<_, std::convert::Infallible>((0, left))
        });
        assert_eq!(asked, expected, "{line}");
        let most = all.iter().map(|played| collected(&before, played)).max().unwrap();
        assert_eq!(u32::from(bounds.unwrap().0), most, "{line}");
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
    let column =
        |cell: &dyn Fn(Rules) -> &'static str| -> Vec<&str> { names.iter().map(|&rules| cell(rules)).collect() };
    assert_eq!(row("`rules.moves_again`"), column(&|rules| yes(rules.moves_again())));
    assert_eq!(row("`rules.relays`"), column(&|rules| yes(rules.relays())));
    let capture = |rules: Rules| match rules.capture() {
        Capture::Always => "always",
        Capture::OppositeSeeds => "opposite-seeds",
        Capture::Never => "never",
    };
    assert_eq!(row("`rules.capture`"), column(&capture));
}
