//! Processes share what they read, and the cache stays within its limit.

use std::time::Duration;

use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::{Table, TableKey};

use crate::server::{SEEDS, Server, TABLES, kalah, layer, on_disk, run, shown};

const POSITION: &str = "1,2,1,0,1,2/0,3,0,1,1,1";

#[test]
fn a_second_process_requests_no_block_again() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let arguments = ["probe", POSITION, "--tables", &*server.address, "--cache", shown(cache.path())];
    let first = run(&arguments);
    assert_eq!(first.0, 0, "{first:?}");
    assert!(!server.block_requests().is_empty());
    assert_eq!(run(&arguments), first);
    assert_eq!(server.block_requests(), []);
}

/// Scores alone cost one round of requests, a line one for each of its moves.
#[test]
fn a_probe_without_a_line_requests_the_blocks_of_its_moves() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let probe = |flags: &[&str]| {
        let place = ["--tables", &*server.address, "--cache", shown(cache.path())];
        let (code, answer, message) = run(&[&["probe", POSITION, "--json"][..], &place, flags].concat());
        assert_eq!(code, 0, "{message}");
        (serde_json::from_str::<serde_json::Value>(&answer).unwrap(), server.block_requests().len())
    };
    let (mut short, few) = probe(&["--no-line"]);
    let (long, more) = probe(&[]);
    assert!((1..=2 * 7).contains(&few) && more > 0, "{few} {more}");
    assert!(short.get("line").is_none());
    short["line"] = long["line"].clone();
    assert_eq!(short, long);
}

#[test]
fn processes_at_once_give_the_same_answers() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    // Long enough that all of them read at once.
    server.wait(Duration::from_millis(20));
    let expected = run(&["probe", POSITION, "--tables", shown(TABLES.path())]).1;
    let arguments = ["probe", POSITION, "--tables", &*server.address, "--cache", shown(cache.path())];
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = kalah(&arguments);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{:?}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_cache_evicts_what_was_not_used_for_longest() {
    let (old, new) = (Server::of(TABLES.path()), Server::of(TABLES.path()));
    let directory = tempfile::tempdir().unwrap();
    let open = |server: &Server, limit| {
        let cache = Cache::new(directory.path(), limit);
        RemoteTables::open(&Address::parse(&server.address).unwrap(), RemoteOptions::new(cache)).unwrap()
    };
    let remote = open(&old, 1 << 30);
    let key = TableKey::named(&layer(remote.folder(), SEEDS)).unwrap();
    let table = Table::open_key(remote.directory(), key).unwrap();
    table.check().unwrap();
    let full = on_disk(directory.path());
    assert!(full > 1 << 20, "{full} bytes");
    open(&new, 1 << 20);
    let rest = on_disk(directory.path());
    assert!(rest < full - (1 << 20), "{rest} of {full} bytes");
    // The open table still has its blocks; a new process reads them again.
    assert!(table.bytes() == std::fs::read(layer(TABLES.path(), SEEDS)).unwrap());
    let remote = open(&old, 1 << 30);
    old.requests();
    Table::open_key(remote.directory(), key).unwrap().check().unwrap();
    assert!(!old.block_requests().is_empty());
}
