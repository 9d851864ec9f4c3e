//! A server whose tables change while it runs, requests of impossible lengths, and the addresses of the server.
#![cfg(all(unix, feature = "cli", feature = "serve"))]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use kalah::build::build;
use kalah::evaluation::PhasedNetwork;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{BoundMaker, Cuts, Tables};
use serde_json::{Value, json};

use kalah_tests::serving::{Server, agent, code, encoded};

/// Tables to 12 seeds of one board, and to 8 of another.
fn tables() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), Rules::Standard, 6, 12).unwrap();
    build(directory.path(), Rules::Standard, 3, 8).unwrap();
    directory
}

fn layer(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("standard-6-{seeds:02}.kalah"))
}

fn truncate(path: &Path, bytes: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

#[track_caller]
fn assert_unreadable(answer: &(u16, Value)) {
    assert_eq!(code(answer), (503, "unreadable-table"), "{answer:?}");
    let message = answer.1["error"]["message"].as_str().unwrap();
    assert!(message.contains("standard-6-12.") && message.contains("became shorter"), "{message}");
}

#[test]
fn a_table_that_becomes_shorter_ends_only_the_answers_from_it() {
    let position = |board: &str| format!("/api/position?rules=standard&board={}", encoded(board));
    let (twelve, other) = (position("1,2,0,1,2,0/1,0,2,1,1,1"), position("0,0,5,0,1,0/0,3,0,1,1,1"));
    let (ten, small) = (position("1,2,0,1,1,0/1,0,2,0,1,1"), position("1,2,1/1,1,2"));
    for left in ["nothing", "head", "most"] {
        let directory = tables();
        let server = Server::start(directory.path(), &["--no-book", "--time", "0.2", "--transpositions", "16MiB"]);
        assert_eq!(server.get(&twelve).0, 200);
        let before = [server.get(&ten), server.get(&small)];
        assert!(before.iter().all(|(status, _)| *status == 200));
        let file = layer(directory.path(), 12);
        let bytes = file.metadata().unwrap().len();
        truncate(
            &file,
            match left {
                "nothing" => 0,
                "head" => 8192,
                _ => bytes - 100,
            },
        );
        for path in [&twelve, &other, &twelve] {
            assert_unreadable(&server.get(path));
        }
        // Other requests that read the layer, and a search above it.
        assert_unreadable(&server.get(&other.replace("position", "book")));
        assert_unreadable(&server.get("/api/position?rules=standard&board=6x2"));
        let body = json!({ "rules": "standard", "board": "1,2,0,1,2,0/1,0,2,1,1,1" }).to_string();
        assert_unreadable(&server.post("/api/move", body.as_bytes()));
        // All other requests still work.
        assert_eq!([server.get(&ten), server.get(&small)], before);
        assert_eq!(server.get("/api/position?rules=empty-capture&board=6x2").0, 200);
        let (status, list) = server.get("/api/tables");
        assert_eq!((status, list["damaged"].as_array().map(Vec::len)), (200, Some(1)), "{list}");
    }
}

#[test]
fn a_bound_table_that_becomes_shorter_ends_only_the_searches_that_need_it() {
    let position = |board: &str| format!("/api/position?rules=standard&board={}", encoded(board));
    let (twelve, other) = (position("1,2,0,1,2,0/1,0,2,1,1,1"), position("0,0,5,0,1,0/0,3,0,1,1,1"));
    let (eleven, ten) = (position("1,2,0,1,1,0/1,0,2,1,1,1"), position("1,2,0,1,1,0/1,0,2,0,1,1"));
    for is_empty in [true, false] {
        let directory = tables();
        let exact = Tables::open(directory.path(), Rules::Standard, 6, 12).unwrap();
        let network = PhasedNetwork::find(directory.path(), Rules::Standard, 6).unwrap().unwrap();
        let maker = BoundMaker::new(network.first(), Cuts::TWO_BITS);
        for seeds in [11, 12] {
            maker.write(exact.layer(seeds).unwrap(), directory.path(), &Pulse::default()).unwrap();
            std::fs::remove_file(layer(directory.path(), seeds)).unwrap();
        }
        let server = Server::start(directory.path(), &["--no-book", "--time", "2", "--transpositions", "16MiB"]);
        let value = |path: &String| {
            let (status, answer) = server.get(path);
            assert_eq!((status, answer["known"].as_str()), (200, Some("exact")), "{answer}");
            answer["value"].clone()
        };
        let before = [&twelve, &eleven, &ten].map(value);
        let file = layer(directory.path(), 12).with_extension("bounds");
        truncate(&file, if is_empty { 0 } else { file.metadata().unwrap().len() - 100 });
        for path in [&*other, &*twelve, "/api/position?rules=standard&board=6x2"] {
            assert_unreadable(&server.get(path));
        }
        assert_eq!([&eleven, &ten].map(value), before[1..]);
    }
}

#[test]
fn a_search_whose_table_becomes_shorter_ends_with_an_error() {
    let directory = tables();
    let flags = ["--no-book", "--time", "0.2", "--stream-time", "4", "--transpositions", "16MiB", "--searches", "1"];
    let server = Server::start(directory.path(), &flags);
    let mut response = agent().get(server.url("/api/search?rules=standard&board=6x6&time=4")).call().unwrap();
    let mut lines = BufReader::new(response.body_mut().as_reader()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "event: progress");
    truncate(&layer(directory.path(), 12), 0);
    let rest: Vec<String> = lines.collect();
    let last = rest.iter().rposition(|line| line.starts_with("event: ")).unwrap();
    assert_eq!(rest[last], "event: error");
    let document = serde_json::from_str(rest[last + 1].strip_prefix("data: ").unwrap()).unwrap();
    assert_unreadable(&(503, document));
    assert_unreadable(&server.get("/api/position?rules=standard&board=6x6"));
    assert_eq!(server.get("/api/position?rules=standard&board=3x1").0, 200);
}

#[test]
fn an_invalid_length_is_refused() {
    let tables = tempfile::tempdir().unwrap();
    let server = Server::start(tables.path(), &["--no-book"]);
    for length in ["18446744073709551614", "99999999999999999999999", "-1", "9223372036854775808"] {
        let request = format!("POST /api/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{}}");
        assert!(server.raw(request.as_bytes()).starts_with("HTTP/1.1 4"), "{length}");
    }
}

#[test]
fn it_listens_at_names() {
    let tables = tempfile::tempdir().unwrap();
    let messages = Server::messages_at_start("localhost:0", tables.path(), &[]);
    // The server does not ask to allow the name, which is allowed.
    assert!(!messages.contains("--allow-host"), "{messages}");
    for wrong in ["localhost", "localhost:", "localhost:99999"] {
        let mut command = kalah_tests::program::command();
        let refused = command.args(["serve", "--address", wrong]).output().unwrap();
        let messages = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{wrong}: {messages}");
        assert!(messages.contains("such as localhost:8080 or [::1]:8080"), "{wrong}: {messages}");
    }
}
