//! Lines of play: the published lines of Kalah(6,6), and `kalah line`.
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

/// Runs `kalah line --json` with more `arguments`. Returns the exit code and the answer.
fn answer(arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = kalah(&[&["line", "--json"], arguments].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
}

fn values(answer: &Value) -> Vec<Option<i64>> {
    answer["places"].as_array().unwrap().iter().map(|position| position["value"].as_i64()).collect()
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

#[test]
fn a_line_of_best_play_keeps_its_value_from_the_start_to_the_end() {
    let (code, out, err) = kalah(&["solve", "6x2", "--json", "--tables-up-to", "10"]);
    assert_eq!(code, 0, "{err}");
    let solved: Value = serde_json::from_str(&out).unwrap();
    let best = solved["line"].as_str().unwrap();
    let turns: Vec<&str> = best.split(' ').collect();
    let (code, answer) = answer(&[&["6x2", "--value", "10"], &turns[..]].concat());
    assert_eq!((code, &answer["line"], &answer["proved_from"]), (0, &best.into(), &0.into()));
    assert_eq!(values(&answer), vec![Some(10); turns.len() + 1]);
    // The positions are those of the line, from the view of the player to move.
    let line = Line::parse(6, best).unwrap();
    let places = line.follow(Rules::EmptyCapture, &"6x2".parse().unwrap()).unwrap();
    for (place, row) in places.iter().zip(answer["places"].as_array().unwrap()) {
        assert_eq!(row["position"], place.position.to_string());
        assert_eq!((&row["turns"], &row["moves"]), (&place.turns.into(), &place.moves.into()));
        assert_eq!((&row["seeds"], &row["first"]), (&place.position.seeds().into(), &place.first.into()));
    }
    assert_eq!(answer["places"].as_array().unwrap()[1]["played"], turns[0]);

    let (code, out, err) = kalah(&[&["line", "6x2"], &turns[..]].concat());
    assert!(code == 0 && out.contains("proved to the start"), "{out}{err}");
    assert_eq!(out.lines().filter(|line| line.contains("+10  <6,")).count(), turns.len() + 1, "{out}");
}

#[test]
fn a_line_that_loses_its_value_is_found_out_where_it_does() {
    // Of the first turns of Kalah(6,2), 1 is worth less than 10.
    let (_, all) = answer(&["6x2", "1"]);
    let [Some(10), Some(worse)] = values(&all)[..] else { panic!("{all}") };
    assert!(worse < 10);
    let (code, one) = answer(&["6x2", "1", "--value", "10"]);
    assert_eq!((code, &one["wrong_at"], values(&one)), (3, &1.into(), vec![Some(10), Some(worse)]));
    let (code, out, err) = kalah(&["line", "6x2", "1", "--value", "10"]);
    assert!(code == 3 && err.contains(&format!("WRONG: after 1 turn the value is {worse:+}, not +10")), "{out}{err}");
    // The value of the line differs from the given one.
    let (code, whole) = answer(&["6x2", "--value", "8"]);
    assert_eq!((code, &whole["wrong_at"]), (3, &0.into()));
    let (code, whole) = answer(&["6x2", "--value", "12"]);
    assert_eq!((code, &whole["wrong_at"]), (3, &0.into()));
    // The given value may be of any size.
    for value in [i64::MIN, i64::MAX] {
        let (code, report) = answer(&["6x2", "1", &format!("--value={value}")]);
        assert_eq!((code, &report["wrong_at"], values(&report)), (3, &0.into(), vec![Some(10), Some(worse)]));
    }
}

#[test]
fn values_are_those_of_the_first_player_when_he_is_not_to_move() {
    // Stores count too: South has 5, North 1. After one turn, the line is also followed from North's view.
    let (code, report) = answer(&["<6,5,1,2,0,1,1,0,1,0,2,1,1,0,0>", "1"]);
    assert_eq!(code, 0);
    let position = report["places"][1]["position"].as_str().unwrap();
    assert_eq!(report["places"][1]["first"], false);
    let (_, turned) = answer(&[position]);
    assert_eq!(values(&report)[1].unwrap(), -values(&turned)[0].unwrap());
    assert_ne!(values(&report)[1], Some(0));
    let (_, out, _) = kalah(&["probe", "--json", position]);
    let probed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(probed["value"].as_i64(), values(&turned)[0]);
}

#[test]
fn proofs_end_with_the_position_that_takes_too_long() {
    let (code, report) = answer(&[
        "6x6",
        "12",
        "3",
        "--no-tables",
        "--no-book",
        "--memory",
        "16MiB",
        "--within",
        "0.3",
        "--threads",
        "1",
    ]);
    assert_eq!((code, &report["proved_from"]), (0, &Value::Null));
    assert_eq!(values(&report), [None; 3]);
    // The other positions were not begun.
    let searched: Vec<bool> =
        report["places"].as_array().unwrap().iter().map(|position| position["seconds"].is_f64()).collect();
    assert_eq!(searched, [false, false, true]);
    assert!(report["seconds"].as_f64().unwrap() < 30.0, "{report}");

    // Without tables, the end of a line is proved but its start is not.
    let short = ["--no-tables", "--no-book", "--memory", "16MiB", "--within", "0.3", "--threads", "1"];
    let perfect = reference::lines(include_str!("../reference/irving-2000-perfect-games.csv"))
        .find(|game| game[..2] == ["6", "4"])
        .unwrap()[2];
    // The paper counts pits from 0 and puts a dash between turns.
    let from_one = |digit: char| digit.to_digit(10).and_then(|pit| char::from_digit(pit + 1, 10)).unwrap_or(' ');
    let perfect: String = perfect.chars().map(from_one).collect();
    let (code, report) = answer(&[&["6x4", &perfect, "--value", "10"], &short[..]].concat());
    let values = values(&report);
    let proved = report["proved_from"].as_u64().unwrap() as usize;
    assert!(code == 0 && proved > 0, "{report}");
    assert!(values[..proved].iter().all(Option::is_none) && values[proved..].iter().all(|&value| value == Some(10)));

    let (code, out, err) = kalah(&[&["line", "6x6", "--value", "2"], &short[..]].concat());
    assert!(
        code == 0 && out.contains("nothing is proved: the position after 0 turns with 72 seeds in play"),
        "{out}{err}"
    );
    assert!(out.contains("takes longer than 0.3 s"), "{out}");
}

#[test]
fn values_in_the_book_are_not_searched() {
    let (code, report) = answer(&["6x4", "--no-tables", "--threads", "1"]);
    assert_eq!(
        (code, values(&report), &report["nodes"], &report["proved_from"]),
        (0, vec![Some(10)], &0.into(), &0.into())
    );
    // The value after another turn is searched. Where that takes too long, the value from the book is kept.
    let flags = ["--no-tables", "--memory", "16MiB", "--within", "0.01", "--threads", "1"];
    let (_, report) = answer(&[&["6x6", "12", "3", "4", "5"], &flags[..]].concat());
    let proved_values = values(&report);
    assert_eq!((proved_values[0], proved_values.last()), (Some(2), Some(&None)), "{report}");
    assert_eq!(report["proved_from"], Value::Null, "{report}");
}

#[test]
fn lines_that_cannot_be_played_are_refused_with_the_place() {
    let (code, _, err) = kalah(&["line", "6x6", "13 2 3"]);
    assert!(code == 2 && err.contains("turn 3 of the line: move 3 is not legal: the pit holds no seeds"), "{err}");
    assert!(err.contains("(after 3 moves, at <6,2,1,1,8,0,8,8,8,7,0,8,7,7,7>; legal there: 1 2 4 5 6)"), "{err}");
    assert!(err.trim_end().ends_with("played under empty-capture: most people play --rules standard"), "{err}");
    let (code, _, err) = kalah(&["line", "6x6", "13 2 3", "--rules", "empty-capture"]);
    assert!(code == 2 && err.trim_end().ends_with("legal there: 1 2 4 5 6)"), "{err}");
    let (code, _, err) = kalah(&["line", "6x6", "1", "3"]);
    assert!(code == 2 && err.contains("turn 1 of the line is not over: its last move gives another one"), "{err}");
    let (code, _, err) = kalah(&["line", "6x6", "7"]);
    assert!(code == 2 && err.contains("'7' is not a turn: there is no pit 7, a side has pits 1 to 6"), "{err}");
    let (code, _, err) = kalah(&["line", "6y6"]);
    assert!(code == 2 && err.contains("is not a position"), "{err}");
    let (code, _, err) = kalah(&["line", "6x22"]);
    assert!(code == 2 && err.contains("cannot be searched"), "{err}");
    assert_eq!(kalah(&["line", "6x1", "--within", "0"]).0, 2);
}
