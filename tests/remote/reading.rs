//! Answers are those of the same tables on this machine, and cost few requests.

use std::path::Path;

use kalah::game::{Position, Rules};
use kalah::table::{Table, Tables};

use crate::server::{SEEDS, Server, TABLES, run, shown};

/// Opens tables of 6 pits.
fn tables(directory: &Path) -> Tables {
    Tables::open(directory, Rules::EmptyCapture, 6, SEEDS).unwrap()
}

/// Random positions of 6 pits within the tables.
pub fn positions(count: usize) -> Vec<Position> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut position = || {
        let mut pits = [0; 12];
        for _ in 0..random.usize(2..=SEEDS) {
            pits[random.usize(0..12)] += 1;
        }
        let row = |pits: &[u32]| pits.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("{}/{}", row(&pits[..6]), row(&pits[6..])).parse().unwrap()
    };
    (0..count).map(|_| position()).collect()
}

#[test]
fn probes_are_those_of_the_same_tables_here() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    let (here, there) = (tables(TABLES.path()), tables(remote.directory()));
    assert!(there.is_remote() && !here.is_remote());
    assert_eq!(there.max_seeds(), Some(SEEDS));
    for position in positions(200) {
        assert_eq!(there.probe(&position).unwrap(), here.probe(&position).unwrap(), "{position}");
    }
    // Boards that no table here has are looked for, and found.
    let other = Tables::open(remote.directory(), Rules::Standard, 2, 48).unwrap();
    assert_eq!(other.max_seeds(), Some(6));
}

#[test]
fn a_probe_reads_only_its_blocks() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    let there = tables(remote.directory());
    let headers = remote.traffic();
    assert!(headers.bytes < 12 * 9000 + 5 * 9000, "{headers:?}");
    server.requests();
    let position: Position = "1,2,0,0,1,2/0,3,0,2,1,1".parse().unwrap();
    there.move_scores(&position).unwrap();
    let read = remote.traffic();
    // Each of 7 positions needs at most the block of its group, the first of its frame, and a piece of checksums.
    assert!(read.bytes - headers.bytes <= 7 * (2 * 65_536 + 3 * 4096 + 16_384), "{read:?}");
    // The same again reads nothing.
    there.move_scores(&position).unwrap();
    assert_eq!(remote.traffic(), read);
}

#[test]
fn a_file_that_was_read_as_a_whole_is_the_served_one() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    for seeds in 2..=SEEDS {
        let path = crate::server::layer(remote.directory(), seeds);
        let table = Table::open(&path).unwrap();
        assert!(!table.blocks().is_resident());
        table.check().unwrap();
        assert!(table.blocks().is_resident());
        let served = std::fs::read(crate::server::layer(TABLES.path(), seeds)).unwrap();
        assert!(std::fs::read(path).unwrap() == served, "{seeds} seeds");
        assert!(table.bytes() == served);
    }
}

#[test]
fn commands_answer_as_with_a_directory() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let here = shown(TABLES.path());
    for command in [
        &["probe", "1,2,0,0,1,2/0,3,0,2,1,1"][..],
        &["probe", "1,2,0,0,1,2/0,3,0,2,1,1", "--json"],
        &["stats", "--seeds", "9"],
        &["verify", "--seeds", "10", "--consistency", "--sample", "500"],
        &["verify"],
    ] {
        let with = |tables: &str| {
            let mut arguments = command.to_vec();
            arguments.extend(["--tables", tables, "--quiet"]);
            if tables != here {
                arguments.extend(["--cache", shown(cache.path())]);
            }
            run(&arguments)
        };
        let (expected, found) = (with(here), with(&server.address));
        assert_eq!(found.0, expected.0, "{command:?}: {found:?}");
        let masked = |text: &str| {
            let words = text.split_whitespace().filter(|word| !word.contains("tables") && !word.contains('.'));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(masked(&found.1), masked(&expected.1), "{command:?}: {}", found.2);
    }
    let digests = |arguments: &[&str]| {
        let (code, answer, message) = run(arguments);
        assert_eq!(code, 0, "{message}");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let tables = answer["tables"].as_array().unwrap();
        tables.iter().map(|table| table["digest"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let there = digests(&["info", "--json", "--tables", &server.address, "--cache", shown(cache.path())]);
    assert_eq!(there, digests(&["info", "--json", "--tables", here]));
}
