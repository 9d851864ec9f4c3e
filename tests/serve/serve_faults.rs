//! A server whose tables change while it runs, and the addresses of the server.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use kalah::evaluation::PhasedNetwork;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{BoundMaker, Cuts, Tables};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::setup::start;
use kalah_tests::files::copied;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::{Server, agent, code};
use kalah_tests::tables::built;

/// A copy of tables to 12 seeds of one board, and to 8 of another.
fn tables() -> TempDir {
    copied(built(&[(Rules::Standard, 6, 12), (Rules::Standard, 3, 8)]))
}

/// Request for a position by the standard rules.
fn position(board: &str) -> String {
    format!("/api/position?rules=standard&board={board}")
}

/// Positions of 6 pits with 12 seeds, 11 and 10.
const TWELVE: [&str; 2] = ["1,2,0,1,2,0/1,0,2,1,1,1", "0,0,5,0,1,0/0,3,0,1,1,1"];
const ELEVEN: &str = "1,2,0,1,1,0/1,0,2,1,1,1";
const TEN: &str = "1,2,0,1,1,0/1,0,2,0,1,1";

fn layer(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("standard-6-{seeds:02}.kalah"))
}

/// Shortens a file to this length, or by 100 bytes.
fn truncate(path: &Path, length: Option<u64>) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(length.unwrap_or_else(|| file.metadata().unwrap().len() - 100)).unwrap();
}

#[track_caller]
fn assert_unreadable(answer: &(u16, Value)) {
    assert_eq!(code(answer), (503, "unreadable-table"), "{answer:?}");
    let message = answer.1["error"]["message"].as_str().unwrap();
    assert!(message.contains("standard-6-12.") && message.contains("became shorter"), "{message}");
}

#[test]
fn a_table_that_becomes_shorter_ends_only_the_answers_from_it() {
    for left in [Some(0), Some(8192), None] {
        let directory = tables();
        let server = start(directory.path(), "--no-book --time 0.2");
        let others = || [TEN, "1,2,1/1,1,2"].map(|board| server.get(&position(board)));
        assert_eq!(server.get(&position(TWELVE[0])).0, 200);
        let before = others();
        assert!(before.iter().all(|(status, _)| *status == 200));
        truncate(&layer(directory.path(), 12), left);
        // Requests that read the layer, among them a search above it.
        for board in [TWELVE[0], TWELVE[1], TWELVE[0], "6x2"] {
            assert_unreadable(&server.get(&position(board)));
        }
        assert_unreadable(&server.get(&position(TWELVE[1]).replace("position", "book")));
        let body = json!({ "rules": "standard", "board": TWELVE[0] }).to_string();
        assert_unreadable(&server.post("/api/move", body.as_bytes()));
        // All other requests still work.
        assert_eq!(others(), before);
        assert_eq!(server.get("/api/position?rules=empty-capture&board=6x2").0, 200);
        let (status, list) = server.get("/api/tables");
        assert_eq!((status, list["damaged"].as_array().map(Vec::len)), (200, Some(1)), "{list}");
    }
}

#[test]
fn a_bound_table_that_becomes_shorter_ends_only_the_searches_that_need_it() {
    for left in [Some(0), None] {
        let directory = tables();
        let exact = Tables::open(directory.path(), Rules::Standard, 6, 12).unwrap();
        let network = PhasedNetwork::find(directory.path(), Rules::Standard, 6).unwrap().unwrap();
        let maker = BoundMaker::new(network.first(), Cuts::TWO_BITS);
        for seeds in [11, 12] {
            maker.write(exact.layer(seeds).unwrap(), directory.path(), &Pulse::default()).unwrap();
            std::fs::remove_file(layer(directory.path(), seeds)).unwrap();
        }
        let server = start(directory.path(), "--no-book --time 2");
        let value = |board: &str| {
            let (status, answer) = server.get(&position(board));
            assert_eq!((status, answer["known"].as_str()), (200, Some("exact")), "{answer}");
            answer["value"].clone()
        };
        let before = [TWELVE[0], ELEVEN, TEN].map(value);
        truncate(&layer(directory.path(), 12).with_extension("bounds"), left);
        for board in [TWELVE[1], TWELVE[0], "6x2"] {
            assert_unreadable(&server.get(&position(board)));
        }
        assert_eq!([ELEVEN, TEN].map(value), before[1..]);
    }
}

#[test]
fn a_search_whose_table_becomes_shorter_ends_with_an_error() {
    let directory = tables();
    let server = start(directory.path(), "--no-book --time 0.2 --stream-time 4 --searches 1");
    let mut response = agent().get(server.url("/api/search?rules=standard&board=6x6&time=4")).call().unwrap();
    let mut lines = BufReader::new(response.body_mut().as_reader()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "event: progress");
    truncate(&layer(directory.path(), 12), Some(0));
    let rest: Vec<String> = lines.collect();
    let last = rest.iter().rposition(|line| line.starts_with("event: ")).unwrap();
    assert_eq!(rest[last], "event: error");
    let document = serde_json::from_str(rest[last + 1].strip_prefix("data: ").unwrap()).unwrap();
    assert_unreadable(&(503, document));
    assert_unreadable(&server.get(&position("6x6")));
    assert_eq!(server.get(&position("3x1")).0, 200);
}

#[test]
fn it_listens_at_names() {
    let tables = tempfile::tempdir().unwrap();
    let server = Server::start(tables.path(), &["--address", "localhost:0"]);
    assert_eq!(server.get("/api").0, 200);
    // The server does not ask to allow the name, which is allowed.
    assert!(!server.messages().contains("--allow-host"), "{}", server.messages());
    for wrong in ["localhost", "localhost:", "localhost:99999"] {
        with_tables(tables.path(), &format!("serve --address {wrong}"))
            .run()
            .fails(2, "such as localhost:8080 or [::1]:8080");
    }
}
