//! Commands answer as they do with the same tables in a directory, and state what they fetch.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::setup::{ABOVE, LARGE, Remote, SEEDS, WITHIN, here, listed, on_disk};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::Server;

/// The words of an answer without names of tables, times and speeds. Messages on the search are left out.
fn masked(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.contains(" nodes"));
    let words = lines.flat_map(str::split_whitespace).filter(|word| !word.contains("tables") && !word.contains('.'));
    words.map(str::to_owned).collect()
}

#[test]
fn answers_are_those_of_a_directory() {
    let (files, proof) = (listed(), tempfile::tempdir().unwrap());
    let remote = Remote::of(files.path());
    let prove = with_tables(here(), "prove 2x3 --rules standard --rests-on 6 --quiet --proof").arg(proof.path()).run();
    prove.success();
    let certificate = proof.path().join("standard-3.3_3.3.certificate");
    for line in [
        &format!("probe {WITHIN}"),
        &format!("probe {WITHIN} --json"),
        &format!("probe {WITHIN} --no-line"),
        &format!("review {WITHIN}"),
        &format!("review {ABOVE} --no-book"),
        &format!("solve {WITHIN}"),
        &format!("play {WITHIN} --south perfect --north perfect"),
        "play 6x1 --south greedy --north perfect",
        "tournament perfect random --start 6x1 --rules empty-capture",
        "verify --seeds 10 --consistency --sample 500",
        "verify",
        &format!("check {}", certificate.display()),
    ] {
        let line = format!("{line} --quiet");
        let [expected, found] = [with_tables(here(), &line), remote.kalah(&line)].map(|mut it| it.run().printed());
        assert!(!found.is_empty());
        assert_eq!(masked(&found), masked(&expected), "{line}");
    }
    let digests = |mut command: Command| {
        let answer = command.run().success().json();
        let tables = answer["tables"].as_array().unwrap();
        tables.iter().map(|table| table["digest"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(digests(remote.kalah("info --json")), digests(with_tables(here(), "info --json")));
}

#[test]
fn an_engine_plays_the_same_moves() {
    let rows = |position: &str| format!("<6,0,0,{}>", position.replace('/', ","));
    let (above, within) = (rows(ABOVE), rows(WITHIN));
    let session = format!("kalah 1\nnewgame empty-capture {above}\nposition {within}\ngo\nposition {above}\ngo\n");
    let moves = |mut command: Command| {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(session.as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let moves: Vec<String> = lines.filter(|line| line.starts_with("bestmove")).take(2).collect();
        // Earlier, it would end the search.
        input.write_all(b"quit\n").unwrap();
        (moves, child.wait_with_output().unwrap().stderr())
    };
    let line = "engine --threads 1";
    let ((expected, _), (found, notes)) = (moves(with_tables(here(), line)), moves(Remote::new().kalah(line)));
    assert_eq!(found.len(), 2, "{notes}");
    assert_eq!(found, expected);
    assert!(notes.contains(&format!("fetching the tables to {SEEDS} seeds")), "{notes}");
}

#[test]
fn a_server_probes_and_searches() {
    let answers = |server: &Server| {
        [WITHIN, ABOVE].map(|position| {
            let (_, answer) = server.get(&format!("/api/position?board={position}"));
            ["value", "best", "source"].map(|field| answer[field].clone())
        })
    };
    let expected = answers(&Server::start(here(), &["--no-book"]));
    for limit in ["256MiB", "0"] {
        let remote = Remote::new();
        let cache = remote.cache.path().to_str().unwrap();
        let server = Server::start(&remote.host.address, &["--no-book", "--cache", cache, "--fetch-limit", limit]);
        remote.host.requests();
        assert_eq!(answers(&server), expected);
        let (fetched, notes) = (remote.block_requests(), server.messages());
        if limit == "0" {
            assert!(notes.contains(&format!("of 2 to {SEEDS} seeds")) && !fetched.is_empty(), "{notes}");
        } else {
            // All tables were fetched at the start.
            assert!(notes.contains(&format!("fetching the tables to {SEEDS} seeds")), "{notes}");
            assert_eq!(fetched, []);
        }
    }
}

#[test]
fn a_search_states_what_it_fetches_and_keeps_to_it() {
    let line = format!("solve {ABOVE} --value-only --json --no-book");
    let value = with_tables(here(), &line).run().success().json()["value"].take();
    for (limit, note) in [
        ("256MiB", format!("fetching the tables to {SEEDS} seeds")),
        ("1MiB", "kalah fetch".to_owned()),
        ("0", format!("of 2 to {SEEDS} seeds")),
    ] {
        let remote = Remote::new();
        let ran = remote.kalah(&line).args(["--fetch-limit", limit]).run().success();
        assert_eq!(ran.json()["value"], value);
        assert!(ran.stderr().contains(&note), "{limit}: {}", ran.stderr());
        let blocks = remote.block_requests();
        let read = [2, SEEDS].map(|seeds| blocks.iter().any(|one| one.name.contains(&format!("-{seeds:02}."))));
        assert_eq!(read, [limit != "0", limit == "256MiB"], "{limit}: {blocks:?}");
        assert_eq!(blocks.is_empty(), limit == "0", "{blocks:?}");
    }
}

#[test]
fn a_position_of_the_tables_is_only_looked_up() {
    let remote = Remote::new();
    let line = format!("solve {LARGE} --json --no-book");
    let fields = |mut answer: Value| ["value", "best", "line"].map(|field| answer[field].take());
    let ran = remote.kalah(&line).run().success().does_not_print("fetching");
    assert_eq!(fields(ran.json()), fields(with_tables(here(), &line).run().success().json()));
    let files = std::fs::read_dir(here()).unwrap();
    let whole: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let read = on_disk(remote.cache.path());
    assert!(read < whole / 2, "{read} of {whole} bytes");
}
