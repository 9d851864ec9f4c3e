//! The HTTP API: its answers and errors, and that no request crashes it.

mod safety;

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use kalah_tests::serving::{self, Server, code, encoded};

/// Tables to 8 seeds on 6 pits, and all tables of 3x2, built once.
fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for rules in Rules::ALL {
            build(directory.path(), rules, 6, 8).unwrap();
            build(directory.path(), rules, 3, 12).unwrap();
        }
        directory
    });
    TABLES.path()
}

/// Server shared by all tests that do not stop or overload it.
fn server() -> Arc<Server> {
    // Statics are never dropped, so a strong reference would leave the process running.
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let flags = ["--time", "0.3", "--searches", "2", "--transpositions", "16MiB"];
        let server = Arc::new(Server::start(directory(), &flags));
        *shared = Arc::downgrade(&server);
        server
    })
}

/// Output of a command about a position with `--json`.
fn answer_of(command: &str, position: &str, rules: &str) -> Value {
    let mut program = kalah_tests::program::command();
    let program = program.env("KALAH_TABLES", directory()).args([command, position, "--rules", rules, "--json"]);
    serde_json::from_slice(&program.output().unwrap().stdout).unwrap()
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
fn a_finished_game_is_answered_without_tables() {
    let (status, answer) = server().get("/api/position?board=0,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,2");
    assert_eq!(status, 200);
    assert_eq!((&answer["value"], &answer["finished"], &answer["moves"]), (&json!(-3), &json!(true), &json!([])));
}

#[test]
fn values_and_bounds_above_the_tables_hold_the_true_values() {
    // A position of 13 seeds above tables to 12 is proved at once. Then 3x4 with the solver's own values, in too little
    // time and in enough.
    for (text, time) in [("<3,0,0,3,2,2,2,2,2>", "0.3"), ("3x4", "0.3"), ("3x4", "0"), ("4x3", "0.01")] {
        let position: Position = text.parse().unwrap();
        let options = SolverOptions::new(Rules::Standard, &position).transpositions(1 << 22);
        let solver = Solver::new(options).unwrap();
        let (status, answer) =
            server().get(&format!("/api/position?board={}&rules=standard&time={time}", encoded(text)));
        assert_eq!(status, 200, "{answer}");
        let holds = |answer: &Value, value: i64| {
            let (lower, upper) = match answer["value"].as_i64() {
                Some(value) => (value, value),
                None => (answer["lower"].as_i64().unwrap_or(i64::MIN), answer["upper"].as_i64().unwrap_or(i64::MAX)),
            };
            assert!((lower..=upper).contains(&value), "{text}: {value} is not in {lower} to {upper}");
            let known = answer["known"].as_str().unwrap();
            assert_eq!(known == "exact", answer["value"].is_i64());
            assert_eq!(known == "bounds", answer["lower"].is_i64() && answer["upper"].is_i64());
            assert!(known == "exact" || answer["estimate"].is_i64());
        };
        holds(&answer, solver.value(&position, 0).unwrap().1);
        for answer in answer["moves"].as_array().unwrap() {
            let next: Position = answer["next"].as_str().unwrap().parse().unwrap();
            let value = solver.value(&next, 0).unwrap().1;
            holds(answer, if answer["again"] == json!(true) { value } else { -value });
        }
        if text.starts_with('<') {
            assert_eq!((&answer["source"], &answer["known"]), (&json!("solver"), &json!("exact")));
            let best: Vec<i64> = answer["best"].as_array().unwrap().iter().filter_map(Value::as_i64).collect();
            assert!(!best.is_empty() && answer["line"].is_string());
        }
    }
}

#[test]
fn boards_that_no_solver_takes_are_estimated() {
    let (status, answer) = server().get("/api/position?board=12x4&time=0.1");
    assert_eq!(status, 200);
    assert_eq!((&answer["known"], &answer["source"]), (&json!("estimate"), &json!("depth")));
    assert!(answer["estimate"].is_i64() && answer["depth"].as_u64() >= Some(1) && answer["value"].is_null());
    assert_eq!(answer["moves"].as_array().unwrap().len(), 12);
}

/// Moves seeds as a sowing describes, like the page when it shows a move.
fn replay(position: &str, answer: &Value) -> (Vec<u64>, u64, Vec<u64>) {
    let numbers: Vec<u64> = position[1..position.len() - 1].split(',').map(|text| text.parse().unwrap()).collect();
    let pits = numbers[0] as usize;
    let mut places = vec![0; 2 * pits + 2];
    places[1..=pits].copy_from_slice(&numbers[3..3 + pits]);
    places[pits + 1] = numbers[1];
    places[pits + 2..].copy_from_slice(&numbers[3 + pits..]);
    for lift in answer["sowing"].as_array().unwrap() {
        let (from, drops) = (lift["from"].as_u64().unwrap() as usize, lift["drops"].as_array().unwrap());
        assert_eq!(std::mem::take(&mut places[from]), drops.len() as u64);
        drops.iter().for_each(|drop| places[drop.as_u64().unwrap() as usize] += 1);
    }
    for place in answer["captured"].as_array().unwrap_or(&Vec::new()) {
        places[pits + 1] += std::mem::take(&mut places[place.as_u64().unwrap() as usize]);
    }
    (places[1..=pits].to_vec(), places[pits + 1], places[pits + 2..].to_vec())
}

#[test]
fn the_seeds_of_a_sowing_fall_into_the_next_position() {
    for rules in Rules::ALL {
        for board in ["4x13", "<3,0,0,1,0,3,3,3,3>", "3x2", "<4,7,1,12,0,0,1,0,9,2,2>", "<2,0,0,1,0,0,1>"] {
            let (status, answer) =
                server().get(&format!("/api/position?board={}&rules={rules}&time=0", encoded(board)));
            assert_eq!(status, 200, "{answer}");
            let position = answer["position"].as_str().unwrap();
            for answer in answer["moves"].as_array().unwrap() {
                let next: Position = answer["next"].as_str().unwrap().parse().unwrap();
                let own = if answer["again"] == json!(true) { next } else { next.turned() };
                let seeds = |row: &kalah::game::Row| row.seeds().iter().map(|&seeds| u64::from(seeds)).collect();
                let expected: (Vec<u64>, u64, Vec<u64>) =
                    (seeds(own.mover()), u64::from(own.mover_store()), seeds(own.other()));
                assert_eq!(replay(position, answer), expected, "{rules} {board} {answer}");
            }
        }
    }
}

#[test]
fn a_line_is_followed_move_by_move() {
    let (status, answer) = server().get("/api/line?board=6x4&moves=3,6,1");
    assert_eq!(status, 200);
    let places = answer["places"].as_array().unwrap();
    let first: Vec<bool> = places.iter().map(|place| place["first"].as_bool().unwrap()).collect();
    assert_eq!(first, [true, true, false, true]);
    assert_eq!(places[1]["position"], "<6,1,0,4,4,0,5,5,5,4,4,4,4,4,4>");
    assert!(places[3]["move"].is_null());
    assert_eq!(code(&server().get("/api/line?board=6x4&moves=3,3")), (400, "request"));
    assert_eq!(code(&server().get("/api/line?board=6x4&moves=7")), (400, "request"));
    assert_eq!(code(&server().get(&format!("/api/line?board=6x4&moves={}", "1,".repeat(1001)))), (400, "request"));
}

#[test]
fn players_choose_legal_moves() {
    for player in ["perfect", "greedy", "random", "random:7", "heuristic", "minimax:3", "minimax2:2", "alphabeta:9"] {
        let body = json!({ "board": "6x4", "rules": "standard", "player": player });
        let (status, answer) = server().post("/api/move", body.to_string().as_bytes());
        assert_eq!(status, 200, "{player}: {answer}");
        let chosen = answer["move"].as_u64().unwrap();
        assert!((1..=6).contains(&chosen) && answer["next"].is_string() && answer["sowing"].is_array());
        // The perfect player keeps the value of the tables, also as `kalah move`.
        let body = json!({ "board": "3x2", "player": player });
        let mut answer = server().post("/api/move", body.to_string().as_bytes()).1;
        if player == "perfect" {
            let probed = answer_of("probe", "3x2", "empty-capture");
            assert!(probed["best"].as_array().unwrap().contains(&answer["move"]));
            assert_eq!((&answer["value"], &answer["source"]), (&probed["value"], &json!("tables")));
            let mut moved = answer_of("move", "3x2", "empty-capture");
            (answer["seconds"], moved["seconds"]) = (Value::Null, Value::Null);
            assert_eq!(answer, moved);
        }
    }
}

#[test]
fn existing_tables_are_listed() {
    let (status, answer) = server().get("/api/tables");
    assert_eq!(status, 200);
    assert_eq!(answer["tables"].as_array().unwrap().len(), Rules::ALL.len() * (7 + 11));
    assert_eq!(answer["damaged"], json!([]));
    let (_, answer) = server().get("/api");
    assert_eq!(answer["rules"], json!(Rules::ALL.map(Rules::name)));
    assert_eq!((&answer["time"], &answer["searches"]), (&json!(0.3), &json!(2)));
}

#[test]
fn every_refusal_has_its_status_and_code() {
    let get = |path: &str| server().get(path);
    for (path, expected) in [
        ("/api/position", (400, "request")),
        ("/api/position?board=6x4&time=soon", (400, "request")),
        ("/api/position?board=6x4&time=-1", (400, "request")),
        ("/api/position?board=6x4&time=NaN", (400, "request")),
        ("/api/position?board=nonsense", (400, "request")),
        ("/api/position?board=%3C6,0,0,1%3E", (400, "request")),
        ("/api/position?board=6x4&rules=house", (400, "request")),
        ("/api/position?board=6x99", (400, "request")),
        ("/api/position?board=16x26", (400, "request")),
        ("/api/nothing", (404, "not-found")),
        ("/favicon.ico", (404, "not-found")),
        ("/api/move", (405, "method")),
    ] {
        assert_eq!(code(&get(path)), expected, "{path}");
    }
    assert_eq!(code(&get(&format!("/api/position?board={}", "1,".repeat(200)))), (400, "request"));
    assert_eq!(code(&get(&format!("/api/position?board={}", "1,".repeat(9000)))), (400, "request"));
    for (body, expected) in [
        ("", (400, "request")),
        ("{", (400, "request")),
        ("[1]", (400, "request")),
        (r#"{"board": 6}"#, (400, "request")),
        (r#"{"board": "6x4", "player": "nobody"}"#, (400, "request")),
        (r#"{"board": "6x4", "player": "minimax:100"}"#, (400, "request")),
        (r#"{"board": "6x4", "rules": ""}"#, (400, "request")),
        (r#"{"board": "1,0/0,0"}"#, (400, "request")),
    ] {
        assert_eq!(code(&server().post("/api/move", body.as_bytes())), expected, "{body}");
    }
    assert_eq!(code(&server().post("/api/move", &vec![b' '; 70_000])), (413, "too-large"));
    assert_eq!(code(&server().post("/api/position", b"")), (405, "method"));
}

#[test]
fn the_page_is_there_and_loads_nothing_from_elsewhere() {
    let (agent, server) = (serving::agent(), server());
    for file in ["", "style.css", "board.css", "moves.css", "page.js"] {
        let mut response = agent.get(server.url(&format!("/{file}"))).call().unwrap();
        assert_eq!(response.status(), 200, "{file}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
        let text = response.body_mut().read_to_string().unwrap().replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http:") && !text.contains("https:"), "{file}");
    }
}

/// Statuses of the documented refusals and answers.
const DOCUMENTED: [u16; 6] = [200, 400, 404, 405, 413, 503];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_positions_are_answered_or_refused(
        board in prop_oneof![
            ".{0,60}",
            "[<>0-9,x/ -]{0,40}",
            "<[0-9]{1,2}(,[0-9]{1,4}){0,20}>",
            "[0-9]{1,2}x[0-9]{1,12}",
        ],
        rules in prop_oneof![Just("standard".to_owned()), Just("s-kalaha".to_owned()), ".{0,10}"],
    ) {
        let path = format!("/api/position?board={}&rules={}&time=0", encoded(&board), encoded(&rules));
        let (status, answer) = server().get(&path);
        prop_assert!(DOCUMENTED.contains(&status), "{status} {answer}");
        prop_assert!(status == 200 || answer["error"]["message"].is_string(), "{answer}");
    }

    #[test]
    fn hostile_bodies_are_answered_or_refused(
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            r#"\{"board":"[0-9x,/<>]{0,12}","player":"[a-z0-9:]{0,12}","time":0\}"#.prop_map(String::into_bytes),
        ],
    ) {
        let (status, answer) = server().post("/api/move", &body);
        prop_assert!(DOCUMENTED.contains(&status), "{status} {answer}");
    }

    #[test]
    fn bytes_that_are_no_request_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let answer = server().raw(&bytes);
        prop_assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        prop_assert_eq!(server().get("/api").0, 200);
    }
}

#[test]
fn a_thousand_requests_at_once_are_all_answered() {
    let server =
        Server::start(directory(), &["--no-book", "--time", "0.2", "--searches", "2", "--transpositions", "16MiB"]);
    let (searched, probed, busy) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let run = || {
        std::thread::scope(|scope| {
            for index in 0..1000 {
                let (server, searched, probed, busy) = (&server, &searched, &probed, &busy);
                let ask = move || {
                    let above = index % 4 == 0;
                    let board = if above { "6x3" } else { "3x2" };
                    let (status, answer) = server.get(&format!("/api/position?board={board}"));
                    match (status, above) {
                        (200, true) => searched.fetch_add(1, Ordering::Relaxed),
                        (200, false) => probed.fetch_add(1, Ordering::Relaxed),
                        (503, true) => busy.fetch_add(1, Ordering::Relaxed),
                        _ => panic!("{status} {answer}"),
                    };
                };
                std::thread::Builder::new().stack_size(1 << 18).spawn_scoped(scope, ask).unwrap();
            }
        });
    };
    run();
    assert_eq!(probed.load(Ordering::Relaxed), 750, "a look-up in the tables is never refused");
    assert_eq!(searched.load(Ordering::Relaxed) + busy.load(Ordering::Relaxed), 250, "nothing is lost");
    assert!(searched.load(Ordering::Relaxed) >= 2 && busy.load(Ordering::Relaxed) > 0);
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
    let server =
        Server::start(directory(), &["--no-book", "--time", "600", "--searches", "1", "--transpositions", "16MiB"]);
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

#[cfg(unix)]
#[test]
fn searches_under_way_are_answered_when_the_server_is_stopped() {
    let mut server =
        Server::start(directory(), &["--no-book", "--time", "600", "--searches", "1", "--transpositions", "16MiB"]);
    std::thread::scope(|scope| {
        let server = &server;
        // Repeats the request if our own request below was first.
        let asked = scope.spawn(|| {
            let ask = || server.get("/api/position?board=6x6");
            std::iter::repeat_with(ask).find(|(status, _)| *status != 503).unwrap()
        });
        while server.get("/api/position?board=6x5&time=0").0 != 503 {}
        server.interrupt();
        let (status, answer) = asked.join().unwrap();
        assert_eq!(status, 200);
        assert!(answer["estimate"].is_i64(), "{answer}");
    });
    assert_eq!(server.wait().code(), Some(130));
}

#[test]
fn a_flipped_bit_in_a_table_is_an_error_and_never_an_answer() {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::EmptyCapture, 3, 8).unwrap();
    let server = Server::start(tables.path(), &["--time", "0.5", "--transpositions", "16MiB"]);
    let right = server.get("/api/position?board=3x1");
    let solved = server.get("/api/position?board=3x2").1;
    let damaged = tables.path().join("empty-capture-3-06.kalah");
    let entry = kalah::table::Table::open(&damaged).unwrap().header().entries[2];
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[(entry.offset + entry.rows.next_multiple_of(64)) as usize + 3] ^= 1;
    // A new file with that name: the server still uses the one that it opened.
    std::fs::remove_file(&damaged).unwrap();
    std::fs::write(&damaged, bytes).unwrap();
    assert_eq!(server.get("/api/position?board=3x1"), right);
    let server = Server::start(tables.path(), &["--time", "0.5", "--transpositions", "16MiB"]);
    let place = format!("(byte {})", entry.offset);
    let asked = |path: &str| server.get(&format!("/api/position?board={path}"));
    let moved = |board: &str| {
        let body = json!({ "board": board, "player": "perfect", "time": 0.5 });
        server.post("/api/move", body.to_string().as_bytes())
    };
    // Positions of the layer itself, and of one whose moves lead there.
    for answer in [asked("3x1"), moved("3x1"), asked("2,1,1/1,1,1"), moved("2,1,1/1,1,1")] {
        assert_eq!(code(&answer), (500, "damaged-table"), "{}", answer.1);
        let message = answer.1["error"]["message"].as_str().unwrap();
        assert!(message.contains("empty-capture-3-06.kalah") && message.contains(&place), "{message}");
    }
    // A search may need no damaged block.
    let searched = [asked("3x2"), moved("3x2")];
    assert!(searched.iter().all(|answer| answer.0 == 500 || answer.1["value"] == solved["value"]), "{searched:?}");
    // Positions that the damage does not affect are answered.
    assert_eq!(asked("0,0,2/1,0,0").0, 200);
    assert_eq!(asked("1,0,0/0,1,3").0, 200);
}

#[test]
fn damaged_tables_are_reported_and_searched_above() {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::EmptyCapture, 3, 8).unwrap();
    let damaged = tables.path().join("empty-capture-3-06.kalah");
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let server = Server::start(tables.path(), &["--time", "0.5", "--transpositions", "16MiB"]);
    let (_, listing) = server.get("/api/tables");
    assert_eq!(listing["damaged"][0]["file"], "empty-capture-3-06.kalah");
    let (status, answer) = server.get("/api/position?board=3x1");
    assert_eq!((status, &answer["source"]), (200, &json!("solver")), "{answer}");
    assert_eq!(answer["value"], answer_of("probe", "3x1", "empty-capture")["value"]);
}

/// The system has no room for 65,535 threads.
#[test]
fn too_many_searches_are_fewer() {
    let flags = ["--no-book", "--searches", "65535", "--transpositions", "1MiB"];
    let messages = Server::messages_at_start("127.0.0.1:0", directory(), &flags);
    assert!(messages.contains(" searches, not 65535: more do not help"), "{messages}");
    assert!(!messages.contains("panicked"), "{messages}");
    let server = Server::start(directory(), &flags);
    assert_eq!(server.get("/api/position?board=1,0/0,1").0, 200);
}
