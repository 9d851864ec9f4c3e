//! Lines of play: published ones, those of solutions, and those that are refused.
#![cfg(feature = "cli")]

use std::path::Path;

use kalah::game::{Line, Pit, Position, Rules};
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
use kalah_tests::reference;
use kalah_tests::tables::built;

/// Tables of 6 pits to 10 seeds, built once.
fn tables() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, 10)])
}

fn kalah(arguments: &[&str]) -> (i32, String, String) {
    program::command().env("KALAH_TABLES", tables()).args(arguments).run().parts()
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

/// Returns the turns of `kalah review --json` of a line.
fn reviewed(arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = kalah(&[&["review", "--json"], arguments].concat());
    assert_eq!(code, 0, "{out}{err}");
    serde_json::from_str::<Value>(&out).unwrap()["turns"].as_array().unwrap().clone()
}

/// Asserts that every evaluated turn keeps the value `south` for South. Returns the number of these turns.
#[track_caller]
fn assert_kept(turns: &[Value], south: i64) -> usize {
    let evaluated: Vec<&Value> = turns.iter().filter(|turn| turn["seeds_lost"].is_i64()).collect();
    for turn in &evaluated {
        let value = if turn["player"] == "south" { south } else { -south };
        assert_eq!((&turn["worth"]["value"], &turn["best_worth"]["value"]), (&value.into(), &value.into()), "{turn}");
    }
    evaluated.len()
}

#[test]
fn a_line_of_best_play_keeps_its_value_from_the_start_to_the_end() {
    let (code, out, err) = kalah(&["solve", "6x2", "--json", "--tables-up-to", "10"]);
    assert_eq!(code, 0, "{err}");
    let solved: Value = serde_json::from_str(&out).unwrap();
    let turns: Vec<&str> = solved["line"].as_str().unwrap().split(' ').collect();
    assert_eq!(assert_kept(&reviewed(&[&["6x2"], &turns[..]].concat()), 10), turns.len());
}

/// Without tables, the turns at the end of a published line of best play are proved in little time.
#[test]
fn the_end_of_irvings_perfect_game_keeps_its_value() {
    let perfect = reference::lines(include_str!("../reference/irving-2000-perfect-games.csv"))
        .find(|game| game[..2] == ["6", "4"])
        .unwrap()[2];
    // The paper counts pits from 0 and puts a dash between turns.
    let from_one = |digit: char| digit.to_digit(10).and_then(|pit| char::from_digit(pit + 1, 10)).unwrap_or(' ');
    let perfect: String = perfect.chars().map(from_one).collect();
    let short = ["--no-tables", "--no-book", "--memory", "16MiB", "--within", "0.1", "--threads", "1"];
    let turns = reviewed(&[&["6x4", &perfect], &short[..]].concat());
    assert!(assert_kept(&turns[1..], 10) > 1, "{turns:?}");
}

#[test]
fn lines_that_cannot_be_played_are_refused_with_the_place() {
    let (code, _, err) = kalah(&["review", "6x6", "13 2 3"]);
    assert!(code == 2 && err.contains("turn 3 of the line: move 3 is not legal: the pit holds no seeds"), "{err}");
    assert!(err.contains("(after 3 moves, at <6,2,1,1,8,0,8,8,8,7,0,8,7,7,7>; legal there: 1 2 4 5 6)"), "{err}");
    let (code, _, err) = kalah(&["review", "6x6", "1", "3"]);
    assert!(code == 2 && err.contains("turn 1 of the line: it is not over: its last move gives another one"), "{err}");
    let (code, _, err) = kalah(&["review", "6x6", "7"]);
    assert!(code == 2 && err.contains("'7' is not a turn: write move numbers from 1 to 6"), "{err}");
    let (code, _, err) = kalah(&["review", "6y6"]);
    assert!(code == 2 && err.contains("is not a position"), "{err}");
    let (code, _, err) = kalah(&["review", "6x22"]);
    assert!(code == 2 && err.contains("cannot be searched"), "{err}");
    assert_eq!(kalah(&["review", "6x1", "--within", "0"]).0, 2);
}
