//! Commands answer as they do with the same tables in a directory.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::server::{SEEDS, Server, TABLES, kalah, listed, run, shown};

/// A position of the tables.
const WITHIN: &str = "1,2,0,0,1,2/0,3,0,2,1,1";

/// A position above them.
const ABOVE: &str = "2,2,1,1,1,2/1,3,1,1,1,1";

/// Arguments for the same tables here and at the address.
fn places<'a>(server: &'a Server, cache: &'a Path) -> [Vec<&'a str>; 2] {
    let there = vec!["--tables", &*server.address, "--cache", shown(cache)];
    [vec!["--tables", shown(TABLES.path())], there]
}

/// The words of an answer without names of tables, times and speeds. Messages on the search are left out.
fn masked(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.contains(" nodes"));
    let words = lines.flat_map(str::split_whitespace).filter(|word| !word.contains("tables") && !word.contains('.'));
    words.map(str::to_owned).collect()
}

#[test]
fn answers_are_those_of_a_directory() {
    let (files, cache, proof) = (listed(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::of(files.path());
    let here = shown(TABLES.path());
    let prove = ["prove", "2x3", "--rules", "standard", "--rests-on", "6", "--tables", here, "--quiet"];
    let (code, _, message) = run(&[&prove[..], &["--proof", shown(proof.path())]].concat());
    assert_eq!(code, 0, "{message}");
    let certificate = proof.path().join("standard-3.3_3.3.certificate");
    for command in [
        &["probe", WITHIN][..],
        &["probe", WITHIN, "--json"],
        &["probe", WITHIN, "--no-line"],
        &["review", WITHIN],
        &["review", ABOVE, "--no-book"],
        &["solve", WITHIN],
        &["play", WITHIN, "--south", "perfect", "--north", "perfect"],
        &["play", "6x1", "--south", "greedy", "--north", "perfect"],
        &["verify", "--seeds", "10", "--consistency", "--sample", "500"],
        &["verify"],
        &["check", shown(&certificate)],
    ] {
        let [expected, found] =
            places(&server, cache.path()).map(|place| run(&[command, &place, &["--quiet"]].concat()));
        assert_eq!((expected.0, found.0), (0, 0), "{command:?}: {expected:?} {found:?}");
        assert!(!found.1.is_empty());
        assert_eq!(masked(&found.1), masked(&expected.1), "{command:?}: {}", found.2);
    }
    let digests = |place: &Vec<&str>| {
        let (code, answer, message) = run(&[&["info", "--json"][..], place].concat());
        assert_eq!(code, 0, "{message}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let tables = answer["tables"].as_array().unwrap();
        tables.iter().map(|table| table["digest"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [here, there] = places(&server, cache.path());
    assert_eq!(digests(&there), digests(&here));
}

#[test]
fn an_engine_plays_the_same_moves() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let rows = |position: &str| format!("<6,0,0,{}>", position.replace('/', ","));
    let (above, within) = (rows(ABOVE), rows(WITHIN));
    let session = format!("kalah 1\nnewgame empty-capture {above}\nposition {within}\ngo\nposition {above}\ngo\n");
    let moves = |place: &Vec<&str>| {
        let mut command = kalah(&[&["engine", "--threads", "1"][..], place].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(session.as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let moves: Vec<String> = lines.filter(|line| line.starts_with("bestmove")).take(2).collect();
        // Earlier, it would end the search.
        input.write_all(b"quit\n").unwrap();
        let output = child.wait_with_output().unwrap();
        (moves, String::from_utf8(output.stderr).unwrap())
    };
    let [here, there] = places(&server, cache.path());
    let (expected, (found, notes)) = (moves(&here).0, moves(&there));
    assert_eq!(found.len(), 2, "{notes}");
    assert_eq!(found, expected);
    assert!(notes.contains(&format!("fetching the tables to {SEEDS} seeds")), "{notes}");
}

/// A running `kalah serve`, which ends when it is dropped.
struct Serving(Child, String);

impl Serving {
    fn start(place: &[&str]) -> Serving {
        let mut command = kalah(&[&["serve", "--address", "127.0.0.1:0", "--no-book"][..], place].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Serving(child, line.trim().strip_prefix("http://").expect("an address").to_owned())
    }

    /// Answer about a position.
    fn position(&self, position: &str) -> Value {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        let host = &self.1;
        write!(stream, "GET /api/position?board={position} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }

    /// Ends the server, and returns its messages.
    fn end(mut self) -> String {
        self.0.kill().unwrap();
        let mut messages = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        messages
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_probes_and_searches() {
    let server = Server::of(TABLES.path());
    let answers = |serving: &Serving| {
        [WITHIN, ABOVE].map(|position| {
            let answer = serving.position(position);
            (answer["value"].clone(), answer["best"].clone(), answer["source"].clone())
        })
    };
    let expected = answers(&Serving::start(&["--tables", shown(TABLES.path())]));
    for limit in ["256MiB", "0"] {
        let cache = tempfile::tempdir().unwrap();
        let [_, place] = places(&server, cache.path());
        let serving = Serving::start(&[&place[..], &["--fetch-limit", limit]].concat());
        server.requests();
        assert_eq!(answers(&serving), expected);
        let fetched = server.block_requests();
        let notes = serving.end();
        if limit == "0" {
            assert!(notes.contains(&format!("of 2 to {SEEDS} seeds")) && !fetched.is_empty(), "{notes}");
        } else {
            // All tables were fetched at the start.
            assert!(notes.contains(&format!("fetching the tables to {SEEDS} seeds")), "{notes}");
            assert_eq!(fetched, []);
        }
    }
}
