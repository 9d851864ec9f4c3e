//! The server for study: opening explorer and puzzles.

use kalah::book::Book;
use kalah::build::build;
use kalah::game::{Bounds, Line, Position, Rules};
use kalah::solve::{LimitedSearch, Method};
use kalah::table::Tables;
use serde_json::{Value, json};

use crate::setup::{assert_described, directory, server, start};
use kalah_tests::serving::encoded;

const RULES: Rules = Rules::Standard;

#[test]
fn the_book_is_asked_without_a_search() {
    let with_books = start(directory(), "--time 0.1 --searches 1");
    let (_, about) = with_books.get("/api");
    assert_described(&about, "Server");
    let book = Book::shipped(RULES, 6).unwrap();
    let listed = json!({"rules": "standard", "pits": 6, "positions": book.len()});
    assert!(about["books"].as_array().unwrap().contains(&listed), "{about}");
    let tables = Tables::open(directory(), RULES, 6, 10).unwrap();
    for board in ["6x4", "6x5", "6x6", "<6,0,1,4,4,4,4,0,5,5,5,5,4,4,4>", "6x1", "1,0,0,0,0,2/0,0,0,0,1,0"] {
        let position: Position = board.parse().unwrap();
        let (status, answer) = with_books.get(&format!("/api/book?rules=standard&board={}", encoded(board)));
        assert_eq!(status, 200, "{answer}");
        assert_described(&answer, "Explorer");
        let recalled = book.recall(&position, Some(&tables)).unwrap();
        assert_eq!(answer["in_book"], json!(recalled.from_book), "{board}");
        let values = |scores: [u32; 2]| scores.map(|score| position.value(score));
        let expected = |bounds: Bounds| values([bounds.lower, bounds.upper]);
        // Bounds that say no more than the seeds in play are left out.
        let [least, most] = values([0, position.seeds()]);
        let bounds = |one: &Value| {
            let bound = |name: &str, plain: i64| one["value"].as_i64().or(one[name].as_i64()).unwrap_or(plain);
            [bound("lower", least), bound("upper", most)]
        };
        assert_eq!(bounds(&answer), expected(recalled.bounds), "{board}");
        for (one, (pit, bounds_of_move)) in answer["moves"].as_array().unwrap().iter().zip(&recalled.moves) {
            assert_eq!((&one["move"], bounds(one)), (&json!(pit.number()), expected(*bounds_of_move)), "{board}");
        }
    }
    assert_eq!(server().get("/api/book?board=6x4").1["in_book"], false);
}

/// Fails unless one move alone keeps the outcome of a puzzle within the tables, which is not a loss.
#[track_caller]
fn assert_one_move_keeps_the_outcome(puzzle: &Value, tables: &Tables) {
    let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
    let scores = tables.move_scores(&position).unwrap();
    let signs = scores.iter().map(|&(pit, score)| (pit, position.value(score).signum()));
    let best = signs.clone().map(|(_, sign)| sign).max().unwrap();
    let keeping: Vec<usize> = signs.filter(|&(_, sign)| sign == best).map(|(pit, _)| pit.number()).collect();
    assert_eq!(json!(keeping), json!([puzzle["move"]]));
    assert!(best >= 0);
}

#[test]
fn the_puzzle_of_a_day_has_one_move_and_is_the_same_with_larger_tables() {
    let answers = [14, 15].map(|seeds| {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), RULES, 6, seeds).unwrap();
        let tables = Tables::open(directory.path(), RULES, 6, seeds).unwrap();
        let server = start(directory.path(), "--no-book");
        let puzzle = |level: &str, day: usize| {
            let (status, puzzle) = server.get(&format!("/api/puzzle?rules=standard&level={level}&day=2026-11-{day}"));
            assert_eq!((status, &puzzle["level"]), (200, &json!(level)), "{puzzle}");
            // Hard ones have more seeds than the tables.
            if level != "hard" {
                assert_one_move_keeps_the_outcome(&puzzle, &tables);
            }
            puzzle
        };
        ["easy", "medium", "hard"].map(|level| (20..26).map(|day| puzzle(level, day)).collect::<Vec<_>>()).concat()
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].iter().any(|puzzle| puzzle["seeds"] != answers[0][0]["seeds"]));
    let (status, today) = server().get("/api/puzzle?rules=standard&board=3x2&level=easy");
    assert_eq!((status, today["day"].as_str().map(str::len)), (200, Some(10)));
}

#[test]
fn hard_puzzles_are_long_and_tempting_and_need_no_tables() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path(), "--no-book");
    for rules in [Rules::Standard, Rules::EmptyCapture] {
        let mut seen = std::collections::HashSet::new();
        for number in 1..=28 {
            let (status, puzzle) = server.get(&format!("/api/puzzle?rules={rules}&level=hard&day=2026-11-{number:02}"));
            assert_eq!((status, &puzzle["level"]), (200, &json!("hard")), "{puzzle}");
            assert!((20..=30).contains(&puzzle["seeds"].as_u64().unwrap()) && puzzle["depth"].as_u64() > Some(5));
            let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
            assert!(seen.insert(position), "{puzzle} occurs twice");
            // A player that looks at one move errs, and the line of best play gives the value that is stated.
            let natural = LimitedSearch::new(rules, Method::SeqAb, 1).run(&position).best.unwrap();
            let line = Line::parse(6, puzzle["line"].as_str().unwrap()).unwrap();
            assert_eq!(puzzle["move"], line.turns()[0][0].number());
            assert_ne!(puzzle["move"], natural.number());
            let end = *line.follow(rules, &position).unwrap().last().unwrap();
            let [value, second] = ["value", "second"].map(|field| puzzle[field].as_i64().unwrap());
            assert_eq!(end.position.final_value().map(|value| end.turned(value)), Some(value));
            assert!(value >= 0 && value.signum() > second.signum() && (value > 0) == (puzzle["outcome"] == "win"));
        }
    }
    // Another number, another puzzle.
    let numbered = [1, 2].map(|seed| server.get(&format!("/api/puzzle?rules=standard&level=hard&seed={seed}")).1);
    assert_ne!(numbered[0]["position"], numbered[1]["position"]);
}

#[test]
fn the_server_answers_from_the_book() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path(), "");
    let (status, answer) = server.get("/api/position?board=6x4&time=0");
    assert_eq!((status, &answer["source"], &answer["value"]), (200, &"book".into(), &10.into()), "{answer}");
    let moves = answer["moves"].as_array().unwrap();
    assert!(moves.len() == 6 && moves.iter().all(|row| row["known"] == "exact"), "{answer}");
    assert_eq!(moves.iter().filter_map(|row| row["value"].as_i64()).max(), Some(10));
    let (status, answer) = server.post("/api/move", br#"{"board": "6x4", "time": 0.001}"#);
    assert_eq!((status, &answer["source"], &answer["value"]), (200, &"book".into(), &10.into()), "{answer}");
    let (_, answer) = start(directory.path(), "--no-book").get("/api/position?board=6x4&time=0.1");
    assert_ne!(answer["source"], "book");
}
