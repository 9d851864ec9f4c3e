//! The HTTP API: its answers and errors, and that no load or damage leads to a wrong one.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};
use serde_json::{Value, json};

use crate::setup::{assert_described, directory, post, server, start};
use kalah_tests::files::flip;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::{self, code, encoded};

/// Output of a command about a position with `--json`.
fn answer_of(command: &str, position: &str, rules: &str) -> Value {
    with_tables(directory(), &format!("{command} {position} --rules {rules} --json")).run().json()
}

#[test]
fn a_position_in_the_tables_is_answered_as_by_kalah_probe() {
    for (position, rules) in
        [("3x2", "empty-capture"), ("<6,1,2,1,0,1,0,2,0,1,1,0,0,1,1>", "standard"), ("3x2", "s-kalaha")]
    {
        let (status, answer) = server().get(&format!("/api/position?board={}&rules={rules}", encoded(position)));
        assert_eq!((status, &answer), (200, &answer_of("probe", position, rules)));
        assert_eq!((&answer["known"], &answer["source"]), (&json!("exact"), &json!("tables")));
        assert_eq!((&answer["rules"], &answer["moves"][0]["known"]), (&json!(rules), &json!("exact")));
    }
}

#[test]
fn finished_games_and_boards_that_no_solver_takes_are_answered() {
    let (status, answer) = server().get("/api/position?board=0,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,2");
    assert_eq!(status, 200);
    assert_eq!((&answer["value"], &answer["finished"], &answer["moves"]), (&json!(-3), &json!(true), &json!([])));
    let (status, answer) = server().get("/api/position?board=12x4&time=0.1");
    assert_eq!(status, 200);
    assert_eq!((&answer["known"], &answer["source"]), (&json!("estimate"), &json!("depth")));
    assert!(answer["estimate"].is_i64() && answer["depth"].as_u64() >= Some(1) && answer["value"].is_null());
    assert_eq!(answer["moves"].as_array().unwrap().len(), 12);
}

#[test]
fn values_and_bounds_above_the_tables_hold_the_true_values() {
    // A position of 13 seeds above tables to 12 is proved at once. Then 3x4 with the solver's own values, in too little
    // time and in enough.
    for (text, time) in [("<3,0,0,3,2,2,2,2,2>", "0.3"), ("3x4", "0.3"), ("3x4", "0"), ("4x3", "0.01")] {
        let position: Position = text.parse().unwrap();
        let options = SolverOptions::new(Rules::Standard, &position).transpositions(1 << 22);
        let solver = Solver::new(options).unwrap();
        let path = format!("/api/position?board={}&rules=standard&time={time}", encoded(text));
        let (status, answer) = server().get(&path);
        assert_eq!(status, 200, "{answer}");
        let holds = |answer: &Value, value: i64| {
            let [exact, lower, upper] = ["value", "lower", "upper"].map(|field| answer[field].as_i64());
            let bounds = exact.or(lower).unwrap_or(i64::MIN)..=exact.or(upper).unwrap_or(i64::MAX);
            assert!(bounds.contains(&value), "{text}: {value} is not in {bounds:?}");
            let known = answer["known"].as_str().unwrap();
            assert_eq!(known == "exact", exact.is_some());
            assert_eq!(known == "bounds", lower.is_some() && upper.is_some());
            assert!(known == "exact" || answer["estimate"].is_i64());
        };
        holds(&answer, solver.value(&position, 0).unwrap().1);
        for answer in answer["moves"].as_array().unwrap() {
            let next: Position = answer["next"].as_str().unwrap().parse().unwrap();
            let value = solver.value(&next, 0).unwrap().1;
            holds(answer, if answer["again"] == true { value } else { -value });
        }
        if text.starts_with('<') {
            assert_eq!((&answer["source"], &answer["known"]), (&json!("solver"), &json!("exact")));
            assert!(answer["best"][0].is_i64() && answer["line"].is_string());
        }
    }
}

#[test]
fn players_choose_legal_moves() {
    for player in ["perfect", "greedy", "random", "random:7", "heuristic", "minimax:3", "minimax2:2", "alphabeta:9"] {
        let (status, answer) = post("/api/move", &json!({ "board": "6x4", "rules": "standard", "player": player }));
        assert_eq!(status, 200, "{player}: {answer}");
        let chosen = answer["move"].as_u64().unwrap();
        assert!((1..=6).contains(&chosen) && answer["next"].is_string() && answer["sowing"].is_array());
    }
    // The perfect player keeps the value of the tables, also as `kalah move`.
    let mut answer = post("/api/move", &json!({ "board": "3x2", "player": "perfect" })).1;
    let probed = answer_of("probe", "3x2", "empty-capture");
    assert!(probed["best"].as_array().unwrap().contains(&answer["move"]));
    assert_eq!((&answer["value"], &answer["source"]), (&probed["value"], &json!("tables")));
    let mut moved = answer_of("move", "3x2", "empty-capture");
    (answer["seconds"], moved["seconds"]) = (Value::Null, Value::Null);
    assert_eq!(answer, moved);
}

#[test]
fn existing_tables_are_listed() {
    let (status, answer) = server().get("/api/tables");
    assert_eq!(status, 200);
    assert_eq!(answer["tables"].as_array().unwrap().len(), Rules::ALL.len() * (7 + 11) + 2);
    assert_eq!(answer["damaged"], json!([]));
    let (_, answer) = server().get("/api");
    assert_eq!(answer["rules"], json!(Rules::ALL.map(Rules::name)));
    assert_eq!((&answer["time"], &answer["searches"]), (&json!(0.3), &json!(8)));
}

/// Fails unless an answer is an error as described, with this status and code, and these words.
#[track_caller]
fn assert_refused(answer: &(u16, Value), expected: (u16, &str), words: &str) {
    assert_eq!(code(answer), expected, "{answer:?}");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains(words), "no '{words}' in {}", answer.1);
    assert_described(&answer.1, "Error");
}

#[test]
fn every_refusal_has_its_status_and_names_the_fault() {
    for (path, words) in [
        ("position", "missing field `board`"),
        ("position?board", "'' is not a position"),
        ("position?board=6x4&time=soon", "invalid float"),
        ("position?board=6x4&time=-1", "a number of seconds, 0 or more"),
        ("position?board=6x4&time=NaN", "a number of seconds, 0 or more"),
        ("position?board=6x4&board=6x5", "duplicate field `board`"),
        ("position?board=6x4&rule=standard", "unknown field `rule`, expected one of `rules`, `board`, `time`"),
        ("position?board=6x4&rules=house", "'house'"),
        ("position?board=%ff%fe", "is not a position"),
        ("position?board=%3C6,0,0,1%3E", "is not a position"),
        ("position?board=6x99", "the position has 1188 seeds in play, but the limit is 400"),
        (&format!("position?board={}", "1,".repeat(200)), "a position has at most 256 characters"),
        ("line?board=6x4&moves=3,3", "move 2: move 3 is not legal: the pit holds no seeds"),
        ("line?board=6x4&moves=7", "moves are at most 1000 numbers from 1 to 6"),
        (&format!("line?board=6x4&moves={}", "1,".repeat(1001)), "at most 1000 numbers"),
        ("search?board=nonsense", "'nonsense' is not a position"),
        ("book?board=six", "'six' is not a position"),
        ("puzzle?board=3x2&day=yesterday", "'day' must be a day such as 2026-11-23"),
        ("puzzle?board=3x2&day=2026-13-01", "'day' must be a day such as 2026-11-23"),
        ("puzzle?board=3x2&day=2026-02-30", "'day' must be a day such as 2026-11-23"),
        ("puzzle?board=3x2&seed=-1", "invalid digit"),
        ("puzzle?board=3x2&level=odd", "the levels are easy, medium and hard"),
    ] {
        assert_refused(&server().get(&format!("/api/{path}")), (400, "request"), words);
    }
    assert_refused(&server().get("/api/puzzle?board=5x2&rules=s-kalaha"), (404, "not-found"), "larger tables");
    for path in ["/api/nothing", "/favicon.ico"] {
        assert_refused(&server().get(path), (404, "not-found"), "nothing is here");
    }
    assert_eq!(server().get("/api/position?&board=3x2&&").0, 200, "an empty part of a query is no field");
    for (path, body, words) in [
        ("move", "", "EOF"),
        ("move", "nonsense", "line 1 column"),
        ("move", "{}", "missing field `board`"),
        ("move", r#"{"board": "1,0/0,0"}"#, "the game is over"),
        ("move", r#"{"board": "6x4", "time": -1}"#, "a number of seconds, 0 or more"),
        ("move", r#"{"board": "6x4", "Player": "greedy"}"#, "unknown field `Player`"),
        ("move", r#"{"board": "6x4", "board": "6x4"}"#, "duplicate field `board`"),
        ("move", r#"{"board": "6x4", "player": "nobody"}"#, "unknown player 'nobody'"),
        ("move", r#"{"board": "6x4", "rules": ""}"#, "unknown rules ''"),
        ("game", r#"{"board": "3x2", "text": "1"}"#, "unknown field `text`"),
        ("game", r#"{"board": "3x2", "moves": [4]}"#, "moves are at most 1000 numbers from 1 to 3"),
        ("game", r#"{"board": "3x2", "moves": [1.5]}"#, "floating point `1.5`, expected usize"),
        ("game", r#"{"board": "3x2", "moves": [1, 1, 1, 1, 1, 1]}"#, "move 3: move 1 is not legal"),
        ("text/read", r#"{"text": ""}"#, "line 1: there is no game"),
        ("text/read", r#"{"text": "[Start \"6x99\"]"}"#, "the limit is 400"),
        ("text/read", r#"{"text": "[Start \"3x2\"]\n\n4"}"#, "line 3: '4' is not a turn"),
        ("text/write", r#"{"board": "3x2", "headers": [["Start", "x"]]}"#, "'Start' cannot be a header"),
        ("text/write", r#"{"board": "3x2", "headers": ["Event"]}"#, "expected a tuple of size 2"),
    ] {
        assert_refused(&server().post(&format!("/api/{path}"), body.as_bytes()), (400, "request"), words);
    }
    assert_eq!(code(&server().post("/api/move", b"\xff\xfe{}")), (400, "request"));
    assert_eq!(post("/api/move", &json!({ "board": "3x2", "time": 1e300 })).0, 200, "a long time is cut");
}

#[test]
fn the_page_is_there_and_loads_nothing_from_elsewhere() {
    let (agent, server) = (serving::agent(), server());
    for file in ["", "style.css", "board.css", "moves.css", "page.js"] {
        let mut response = agent.get(server.url(&format!("/{file}"))).call().unwrap();
        assert_eq!(response.status(), 200, "{file}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
        let text = response.body_mut().read_to_string().unwrap().replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http:") && !text.contains("https:"), "{file}");
    }
}

#[test]
fn a_thousand_requests_at_once_are_all_answered() {
    let server = start(directory(), "--no-book --time 0.2 --searches 2");
    let run = || {
        let [searched, probed, busy] = [(); 3].map(|()| AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for index in 0..1000 {
                let (server, searched, probed, busy) = (&server, &searched, &probed, &busy);
                let ask = move || {
                    let above = index % 4 == 0;
                    let board = if above { "6x3" } else { "3x2" };
                    let (status, answer) = server.get(&format!("/api/position?board={board}"));
                    let counted = match (status, above) {
                        (200, true) => searched,
                        (200, false) => probed,
                        (503, true) => busy,
                        _ => panic!("{status} {answer}"),
                    };
                    counted.fetch_add(1, Ordering::Relaxed);
                };
                std::thread::Builder::new().stack_size(1 << 18).spawn_scoped(scope, ask).unwrap();
            }
        });
        [searched, probed, busy].map(AtomicUsize::into_inner)
    };
    let [searched, probed, busy] = run();
    assert_eq!(probed, 750, "a look-up in the tables is never refused");
    assert_eq!(searched + busy, 250, "nothing is lost");
    assert!(searched >= 2 && busy > 0);
    #[cfg(target_os = "linux")]
    {
        let before = server.memory();
        run();
        let after = server.memory();
        assert!(after < before + (32 << 20), "{before} bytes, then {after}");
    }
}

#[test]
fn refusals_of_a_busy_server_say_when_to_come_back_and_clients_that_leave_free_it() {
    let server = start(directory(), "--no-book --time 600 --searches 1");
    let send = || {
        let mut stream = server.connect();
        stream.write_all(b"GET /api/position?board=6x6 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let busy = || serving::agent().get(server.url("/api/position?board=6x5&time=0.1")).call().unwrap();
    let mut leaving = send();
    let response = loop {
        let response = busy();
        if response.status() == 503 {
            break response;
        }
        // Our own request was first, and the other one was refused. Only ours can be answered from here on.
        if leaving.peek(&mut [0]).is_ok() {
            leaving = send();
        }
    };
    assert_eq!(response.headers()["retry-after"], "1");
    // The tables still answer.
    assert_eq!(server.get("/api/position?board=3x2").0, 200);
    drop(leaving);
    // The search would take ten minutes. It must end without its client, or this loop does not.
    while busy().status() != 200 {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn damage_of_a_table_is_reported_and_gives_no_wrong_answer() {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::EmptyCapture, 3, 8).unwrap();
    let flags = "--no-book --time 0.5";
    let sound = start(tables.path(), flags);
    let [right, solved] = ["3x1", "3x2"].map(|board| sound.get(&format!("/api/position?board={board}")));
    let file = tables.path().join("empty-capture-3-06.kalah");
    let (entry, bytes) = (kalah::table::Table::open(&file).unwrap().header().entries[2], std::fs::read(&file).unwrap());
    // A new file with that name: the server still uses the one that it opened.
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, &bytes).unwrap();
    flip(&file, (entry.offset + entry.rows.next_multiple_of(64)) as usize + 3, 1);
    assert_eq!(sound.get("/api/position?board=3x1"), right);
    let server = start(tables.path(), flags);
    let asked = |path: &str| server.get(&format!("/api/position?board={path}"));
    let moved = |board: &str| {
        let body = json!({ "board": board, "player": "perfect", "time": 0.5 });
        server.post("/api/move", body.to_string().as_bytes())
    };
    // Positions of the layer itself, and of one whose moves lead there.
    for answer in [asked("3x1"), moved("3x1"), asked("2,1,1/1,1,1"), moved("2,1,1/1,1,1")] {
        assert_refused(&answer, (500, "damaged-table"), "empty-capture-3-06.kalah");
        assert_refused(&answer, (500, "damaged-table"), &format!("(byte {})", entry.offset));
    }
    // A search may need no damaged block.
    let searched = [asked("3x2"), moved("3x2")];
    assert!(searched.iter().all(|answer| answer.0 == 500 || answer.1["value"] == solved.1["value"]), "{searched:?}");
    // Positions that the damage does not affect are answered.
    assert_eq!([asked("0,0,2/1,0,0").0, asked("1,0,0/0,1,3").0], [200; 2]);
    // A table with a damaged header is not used, so a search takes its place.
    std::fs::write(&file, &bytes).unwrap();
    flip(&file, 40, 1);
    let server = start(tables.path(), flags);
    assert_eq!(server.get("/api/tables").1["damaged"][0]["file"], "empty-capture-3-06.kalah");
    let (status, answer) = server.get("/api/position?board=3x1");
    assert_eq!((status, &answer["source"], &answer["value"]), (200, &json!("solver"), &right.1["value"]), "{answer}");
}
