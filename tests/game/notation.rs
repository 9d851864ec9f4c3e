//! Positions, start positions and lines of play: parsing, printing, and playing of lines.

use kalah::game::{Line, MAX_PITS, ParseError, Pit, Position, PositionError, Row, Rules, StartPosition};
use kalah::table::TableKey;
use proptest::prelude::*;

fn positions() -> impl Strategy<Value = Position> {
    let seeds = || prop_oneof![Just(0), 1..=9u32, 10..=20_000_000u32];
    let row = prop::collection::vec(seeds(), MAX_PITS);
    (1..=MAX_PITS, row.clone(), row, seeds(), seeds()).prop_map(|(pits, mover, other, mover_store, other_store)| {
        let row = |seeds: &[u32]| Row::new(&seeds[..pits]).unwrap();
        Position::new(row(&mover), row(&other), mover_store, other_store).unwrap()
    })
}

fn pit(number: usize) -> Pit {
    Pit::from_number(number).unwrap()
}

proptest! {
    #[test]
    fn positions_are_read_as_printed(position in positions()) {
        let literal = position.to_string();
        prop_assert_eq!(literal.parse(), Ok(position));
        prop_assert_eq!(format!(" {} ", literal.replace(',', " , ")).parse(), Ok(position));
        // The short form has no stores.
        let row = |row: &Row| row.seeds().iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let short = format!("{}/{}", row(position.mover()), row(position.other()));
        prop_assert_eq!(short.parse(), Ok(Position::new(*position.mover(), *position.other(), 0, 0).unwrap()));
    }
}

#[test]
fn bad_positions_say_what_is_wrong() {
    for shape in [
        "",
        "kalah",
        "list.txt",
        "99999999999x4",
        "<3,0,0,1,2,3,4,2,0",
        "<3,0>",
        "<3,0,0,1,2,3,4,2>",
        "<3,0,0,1,2,3,4,2,0,0>",
        "<17,0,0>",
        "<4294967295,0,0>",
    ] {
        assert_eq!(shape.parse::<Position>(), Err(ParseError::Shape(shape.to_owned())));
    }
    let number = |text: &str| ParseError::Number(text.to_owned());
    for (text, error) in [
        ("<>", number("")),
        ("<3,0,0,1,2,3,4,2,>", number("")),
        ("<3,0,0,1,-2,3,4,2,0>", number("-2")),
        ("<3,0,0,1,+2,3,4,2,0>", number("+2")),
        ("<3,0,0,1,2,3,4,2,4294967296>", number("4294967296")),
        ("<3,0,0,1,\u{0663},3,4,2,0>", number("\u{0663}")),
        ("<0,0,0>", PositionError::Pits(0).into()),
        ("0x4", PositionError::Pits(0).into()),
        ("17x4", PositionError::Pits(17).into()),
        ("6x", number("")),
        ("6x4x4", number("4x4")),
        ("1,2/", number("")),
        ("1,2/3", PositionError::UnequalRows(2, 1).into()),
        ("1/2/3", number("2/3")),
        ("16x4294967295", PositionError::TooManySeeds(32 * u64::from(u32::MAX)).into()),
        ("<1,2147483647,0,0,1>", PositionError::TooManySeeds(1 << 31).into()),
    ] {
        assert_eq!(text.parse::<Position>(), Err(error), "{text}");
    }
    // A text is cut in its error.
    assert_eq!("é".repeat(1000).parse::<Position>(), Err(ParseError::Shape("é".repeat(100))));
    for text in ["<1,2147483646,0,0,1>", "6x0", "16x60000000"] {
        assert!(text.parse::<Position>().is_ok(), "{text}");
    }
}

#[test]
fn the_forms_of_a_line() {
    let turns = |pits, text| Line::parse(pits, text).unwrap().turns().to_vec();
    assert_eq!(turns(6, " 36  2\n14 "), [vec![pit(3), pit(6)], vec![pit(2)], vec![pit(1), pit(4)]]);
    assert_eq!(turns(6, "3,6 2"), [vec![pit(3), pit(6)], vec![pit(2)]]);
    assert_eq!(turns(12, "11,3 2 12"), [vec![pit(11), pit(3)], vec![pit(2)], vec![pit(12)]]);
    assert_eq!(Line::parse(6, "36 2 14").unwrap().to_string(), "36 2 14");
    assert_eq!(Line::parse(12, "11,3 2").unwrap().to_string(), "11,3 2");
    for (pits, text, turn) in [
        (6, "3 x", "x"),
        (6, "3, 6", "3,"),
        (12, "1,,2", "1,,2"),
        (6, "36 7", "7"),
        (6, "0", "0"),
        (12, "1,13", "1,13"),
    ] {
        assert_eq!(Line::parse(pits, text), Err(ParseError::Turn(turn.to_owned(), pits)), "{text}");
    }
}

/// Plays moves drawn from `choices` until they are used up or the game ends. Returns the line and its end.
fn playout(rules: Rules, start: &Position, choices: &[usize]) -> (Line, Position) {
    let mut line = Line::new(start.pits());
    let (mut position, mut turn, mut choices) = (*start, Vec::new(), choices.iter());
    loop {
        let moves: Vec<Pit> = position.moves().collect();
        let pit = match choices.next() {
            Some(choice) if !moves.is_empty() => moves[choice % moves.len()],
            // An unfinished turn is completed with the pits nearest the store. It must end, since each of its moves
            // stores a seed.
            _ if !turn.is_empty() => moves[moves.len() - 1],
            _ => return (line, position),
        };
        let played = position.play(rules, pit).unwrap();
        position = played.position;
        turn.push(pit);
        if !played.again {
            line.push(std::mem::take(&mut turn));
        }
    }
}

/// The line of these turns.
fn line_of(pits: usize, turns: &[Vec<Pit>]) -> Line {
    let mut line = Line::new(pits);
    turns.iter().for_each(|turn| line.push(turn.clone()));
    line
}

proptest! {
    #[test]
    fn a_line_is_played_as_it_was(
        rules in prop::sample::select(Rules::ALL.to_vec()),
        pits in 1..=12usize,
        seeds in 1..=6u32,
        choices in prop::collection::vec(any::<usize>(), 1..60),
    ) {
        let start = StartPosition { pits, seeds }.position().unwrap();
        let (line, end) = playout(rules, &start, &choices);
        prop_assert_eq!(Line::parse(pits, &line.to_string()), Ok(line.clone()));
        prop_assert_eq!(line.replay(rules, &start), Ok(end));
        let turns = line.turns().len();
        let places = line.follow(rules, &start).unwrap();
        prop_assert_eq!(places.len(), turns + 1);
        for (turns, place) in places.iter().enumerate() {
            let moves = line.turns()[..turns].iter().map(Vec::len).sum::<usize>();
            prop_assert_eq!((place.turns, place.moves, place.again), (turns, moves, false));
            prop_assert_eq!(place.first, turns.is_multiple_of(2));
            let before = line_of(pits, &line.turns()[..turns]);
            prop_assert_eq!(before.replay(rules, &start), Ok(place.position));
        }

        // One move more or less in any turn makes a different line.
        for changed in 0..turns {
            let turn = &line.turns()[changed];
            for other in [[&turn[..], &[pit(1)]].concat(), turn[..turn.len() - 1].to_vec()] {
                let replayed = line_of(pits, &[&line.turns()[..changed], &[other]].concat()).replay(rules, &start);
                let is_there = matches!(replayed, Err(ParseError::Illegal { turn, .. }) if turn == changed + 1);
                prop_assert!(is_there, "turn {}: {:?}", changed + 1, replayed);
            }
        }
    }
}

/// `tests/solve/line.rs` has the errors with their places.
#[test]
fn a_line_may_stop_within_a_turn() {
    // Move 1 with six seeds ends in the store.
    for (text, moves, first, again) in [("1", 1, true, true), ("12", 2, false, false)] {
        let places = Line::parse(6, text).unwrap().follow(Rules::EmptyCapture, &"6x6".parse().unwrap()).unwrap();
        assert_eq!((places[1].turns, places[1].moves, places[1].first, places[1].again), (1, moves, first, again));
        assert_eq!([7, -7].map(|value| places[1].turned(value)), if first { [7, -7] } else { [-7, 7] });
    }
}

#[test]
fn json_has_the_texts_and_numbers_that_are_printed() {
    fn returns<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(value: T, json: &str) {
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), value);
    }
    returns("3x2".parse::<Position>().unwrap(), r#""<3,0,0,2,2,2,2,2,2>""#);
    returns(StartPosition { pits: 6, seeds: 4 }, r#""6x4""#);
    Rules::ALL.into_iter().for_each(|rules| returns(rules, &format!("{:?}", rules.name())));
    returns(pit(16), "16");
    let key = TableKey { rules: Rules::Standard, pits: 6, seeds: 24 };
    returns(key, r#"{"rules":"standard","pits":6,"seeds":24}"#);
    assert_eq!(serde_json::to_string(&Line::parse(12, "11,3 2").unwrap()).unwrap(), r#""11,3 2""#);
    for number in ["0", "17", "-1"] {
        assert!(serde_json::from_str::<Pit>(number).is_err(), "{number}");
    }
    for (pits, seeds) in [(0, 2), (9, 2), (6, 1), (6, 49)] {
        let json = format!(r#"{{"rules":"standard","pits":{pits},"seeds":{seeds}}}"#);
        assert!(serde_json::from_str::<TableKey>(&json).is_err(), "{json}");
    }
}
