//! Lines of play: published ones, those of solutions, and those that are refused.
#![cfg(feature = "cli")]

use kalah::game::{Line, Pit, Position, Rules};
use serde_json::Value;

use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::reference;
use kalah_tests::tables::built;

fn kalah(line: &str) -> std::process::Output {
    with_tables(built(&[(Rules::EmptyCapture, 6, 10)]), line).run()
}

/// All ten printed lines are legal as printed, and lead to positions of 58 to 64 seeds in play.
#[test]
fn rawlings_2015_lines_are_legal() {
    let published: Vec<_> = reference::lines(include_str!("../reference/rawlings-2015-kalah66-lines.csv")).collect();
    assert_eq!(published.len(), 10);
    let start: Position = "6x6".parse().unwrap();
    for printed in published {
        let [opening, _, bins, ours, seeds] = printed[..] else { panic!("{printed:?}") };
        let bins: Vec<usize> = opening.split('-').chain(bins.split(' ')).map(|bin| bin.parse().unwrap()).collect();
        assert_eq!(bins.len(), opening.split('-').count() + 10);
        // The pit numbers show which side moves. The rules must agree.
        let (mut position, mut south, mut line) = (start, true, String::new());
        for (index, &bin) in bins.iter().enumerate() {
            assert_eq!(south, bin < 7, "{opening}: move {index} is not {bin}");
            let pit = Pit::from_number(if south { bin } else { bin - 7 }).unwrap();
            let played = position.play(Rules::EmptyCapture, pit).unwrap_or_else(|error| panic!("{opening}: {error}"));
            position = played.position;
            line += &pit.to_string();
            if !played.again {
                south = !south;
                line += " ";
            }
        }
        assert_eq!(line.trim_end(), ours);
        assert_eq!(position.seeds().to_string(), seeds);
        let places = Line::parse(6, ours).unwrap().follow(Rules::EmptyCapture, &start).unwrap();
        let end = places.last().unwrap();
        assert_eq!((end.position, end.first), (position, south));
    }
}

/// Without tables, the turns at the end of a published line of best play are proved in little time.
#[test]
fn the_end_of_irvings_perfect_game_keeps_its_value() {
    let mut games = reference::lines(include_str!("../reference/irving-2000-perfect-games.csv"));
    let perfect = games.find(|game| game[..2] == ["6", "4"]).unwrap()[2];
    // The paper counts pits from 0 and puts a dash between turns.
    let from_one = |digit: char| digit.to_digit(10).and_then(|pit| char::from_digit(pit + 1, 10)).unwrap_or(' ');
    let line: String = perfect.chars().map(from_one).collect();
    let short = "--no-tables --no-book --memory 16MiB --within 0.1 --threads 1";
    let review = kalah(&format!("review --json 6x4 {line} {short}")).success().json();
    let turns = &review["turns"].as_array().unwrap()[1..];
    let evaluated: Vec<&Value> = turns.iter().filter(|turn| turn["seeds_lost"].is_i64()).collect();
    assert!(evaluated.len() > 1, "{turns:?}");
    for turn in evaluated {
        let value = Value::from(if turn["player"] == "south" { 10 } else { -10 });
        assert_eq!((&turn["worth"]["value"], &turn["best_worth"]["value"]), (&value, &value), "{turn}");
    }
}

#[test]
fn lines_that_cannot_be_played_are_refused_with_the_place() {
    let two = "(after 2 moves, at <6,0,2,7,7,6,6,6,6,0,0,8,8,8,8>; legal there: 1 2 3 4 5 6)";
    let one = "(after 1 move, at <6,1,0,0,7,7,7,7,7,6,6,6,6,6,6>; legal there: 2 3 4 5 6)";
    let unfinished = "its last move gives another one, to be written in the same word, as 36 or 3,6";
    for (line, expected) in [
        ("6x6 123 3", &*format!("turn 1 of the line: it goes on after a move that ended it {two}")),
        ("6x6 1 3", &format!("turn 1 of the line: it is not over: {unfinished} {one}")),
        ("6x6 11 3", &format!("turn 1 of the line: move 1 is not legal: the pit holds no seeds {one}")),
        ("6x6 13 2 3", "turn 3 of the line: move 3 is not legal: the pit holds no seeds (after 3 moves, "),
        ("6x6 7", "'7' is not a turn: write move numbers from 1 to 6"),
        ("6x22", "cannot be searched"),
        ("6x1 --within 0", "write a time such as 500ms"),
    ] {
        kalah(&format!("review {line}")).fails(2, expected);
    }
}
