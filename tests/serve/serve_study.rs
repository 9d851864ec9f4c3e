//! The server for study: opening explorer and puzzles.

use kalah::book::Book;
use kalah::build::build;
use kalah::game::{Bounds, Line, Position, Rules};
use kalah::solve::{LimitedSearch, Method};
use kalah::table::Tables;
use serde_json::{Value, json};

use kalah_tests::serving::description::assert_described;
use kalah_tests::serving::tables::{RULES, directory};
use kalah_tests::serving::{Server, code, encoded};

fn server() -> Server {
    Server::start(directory(), &["--no-book", "--time", "0.3", "--searches", "2", "--transpositions", "16MiB"])
}

#[test]
fn the_book_is_asked_without_a_search() {
    let with_books = Server::start(directory(), &["--time", "0.1", "--searches", "1", "--transpositions", "16MiB"]);
    let (_, about) = with_books.get("/api");
    assert_described(&with_books, &about, "Server");
    let book = Book::shipped(RULES, 6).unwrap();
    let listed = json!({"rules": "standard", "pits": 6, "positions": book.len()});
    assert!(about["books"].as_array().unwrap().contains(&listed), "{about}");
    let tables = Tables::open(directory(), RULES, 6, 10).unwrap();
    for board in ["6x4", "6x5", "6x6", "<6,0,1,4,4,4,4,0,5,5,5,5,4,4,4>", "6x1", "1,0,0,0,0,2/0,0,0,0,1,0"] {
        let position: Position = board.parse().unwrap();
        let (status, answer) = with_books.get(&format!("/api/book?rules=standard&board={}", encoded(board)));
        assert_eq!(status, 200, "{answer}");
        assert_described(&with_books, &answer, "Explorer");
        let recalled = book.recall(&position, Some(&tables)).unwrap();
        assert_eq!(answer["in_book"], json!(recalled.from_book), "{board}");
        // Bounds that say no more than the seeds in play are left out.
        let plain = [0, position.seeds()].map(|score| position.value(score));
        let bounds = |one: &Value| {
            let bound = |name: &str, plain: i64| one["value"].as_i64().or(one[name].as_i64()).unwrap_or(plain);
            [bound("lower", plain[0]), bound("upper", plain[1])]
        };
        let values = |bounds: Bounds| [bounds.lower, bounds.upper].map(|score| position.value(score));
        assert_eq!(bounds(&answer), values(recalled.bounds), "{board}");
        for (one, (pit, bounds_of_move)) in answer["moves"].as_array().unwrap().iter().zip(&recalled.moves) {
            assert_eq!((&one["move"], bounds(one)), (&json!(pit.number()), values(*bounds_of_move)), "{board}");
        }
    }
    let without = server();
    assert_eq!(without.get("/api/book?board=6x4").1["in_book"], false);
    assert_eq!(code(&without.get("/api/book?board=six")), (400, "request"));
}

#[test]
fn a_puzzle_has_one_move_and_is_the_same_all_day() {
    let server = server();
    let path = "/api/puzzle?rules=standard&board=3x2&level=easy&day=2026-11-23";
    let (status, puzzle) = server.get(path);
    assert_eq!(status, 200, "{puzzle}");
    assert_eq!(server.get(path).1, puzzle);
    let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let sign = |score: u32| position.value(score).signum();
    let scores = tables.move_scores(&position).unwrap();
    let best = scores.iter().map(|&(_, score)| sign(score)).max().unwrap();
    let keeping: Vec<usize> =
        scores.iter().filter(|&&(_, score)| sign(score) == best).map(|(pit, _)| pit.number()).collect();
    assert_eq!(json!(keeping), json!([puzzle["move"]]));
    assert!(best >= 0);
    let (status, today) = server.get("/api/puzzle?rules=standard&board=3x2&level=easy");
    assert_eq!((status, today["day"].as_str().map(str::len)), (200, Some(10)));
    for (query, expected) in [
        ("day=yesterday", (400, "request")),
        ("day=2026-13-01", (400, "request")),
        ("day=2026-02-30", (400, "request")),
        ("seed=-1", (400, "request")),
        ("level=odd", (400, "request")),
        ("rules=s-kalaha", (404, "not-found")),
    ] {
        assert_eq!(code(&server.get(&format!("/api/puzzle?board=3x2&{query}"))), expected, "{query}");
    }
}

#[test]
fn the_puzzle_of_a_day_is_the_same_with_larger_tables() {
    let answers = [14, 15].map(|seeds| {
        let tables = tempfile::tempdir().unwrap();
        build(tables.path(), RULES, 6, seeds).unwrap();
        let server = Server::start(tables.path(), &["--no-book"]);
        let mut puzzles = Vec::new();
        for level in ["easy", "medium", "hard"] {
            for day in 20..26 {
                let path = format!("/api/puzzle?rules=standard&level={level}&day=2026-11-{day}");
                let (status, puzzle) = server.get(&path);
                assert_eq!((status, &puzzle["level"]), (200, &json!(level)), "{puzzle}");
                puzzles.push(puzzle);
            }
        }
        puzzles
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].iter().any(|puzzle| puzzle["seeds"] != answers[0][0]["seeds"]));
}

#[test]
fn hard_puzzles_are_long_and_tempting_and_need_no_tables() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &["--no-book"]);
    for rules in ["standard", "empty-capture"] {
        let mut seen = std::collections::HashSet::new();
        for number in 1..=28 {
            let path = format!("/api/puzzle?rules={rules}&level=hard&day=2026-11-{number:02}");
            let (status, puzzle) = server.get(&path);
            assert_eq!((status, &puzzle["level"]), (200, &json!("hard")), "{puzzle}");
            assert!((20..=30).contains(&puzzle["seeds"].as_u64().unwrap()) && puzzle["depth"].as_u64() > Some(5));
            let rules: Rules = rules.parse().unwrap();
            let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
            assert!(seen.insert(position), "{puzzle} occurs twice");
            // A player that looks at one move errs, and the line of best play gives the value that is stated.
            let natural = LimitedSearch::new(rules, Method::SeqAb, 1).run(&position).best.unwrap();
            let line = Line::parse(6, puzzle["line"].as_str().unwrap()).unwrap();
            assert_eq!(puzzle["move"], line.turns()[0][0].number());
            assert_ne!(puzzle["move"], natural.number());
            let end = *line.follow(rules, &position).unwrap().last().unwrap();
            assert_eq!(end.position.final_value().map(|value| json!(end.turned(value))), Some(puzzle["value"].clone()));
            let (value, second) = (puzzle["value"].as_i64().unwrap(), puzzle["second"].as_i64().unwrap());
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
    let server = Server::start(directory.path(), &[]);
    let (status, answer) = server.get("/api/position?board=6x4&time=0");
    assert_eq!((status, &answer["source"], &answer["value"]), (200, &"book".into(), &10.into()), "{answer}");
    let moves = answer["moves"].as_array().unwrap();
    assert!(moves.len() == 6 && moves.iter().all(|row| row["known"] == "exact"), "{answer}");
    let best = moves.iter().filter_map(|row| row["value"].as_i64()).max();
    assert_eq!(best, Some(10));
    let (status, answer) = server.post("/api/move", br#"{"board": "6x4", "time": 0.001}"#);
    assert_eq!((status, &answer["source"], &answer["value"]), (200, &"book".into(), &10.into()), "{answer}");
    let server = Server::start(directory.path(), &["--no-book"]);
    let (_, answer) = server.get("/api/position?board=6x4&time=0.1");
    assert_ne!(answer["source"], "book");
}
