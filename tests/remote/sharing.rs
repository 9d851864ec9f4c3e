//! Processes share what they read, and the cache stays within its limit.

use std::time::Duration;

use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::{Table, TableKey};

use crate::setup::{LARGE, Remote, SEEDS, here, layer, on_disk};
use kalah_tests::host::Host;
use kalah_tests::program::{Ran, Run, with_tables};

#[test]
fn a_second_process_requests_no_block_again() {
    let remote = Remote::new();
    let mut command = remote.kalah(&format!("probe {LARGE}"));
    let first = command.run().success().parts();
    assert!(!remote.block_requests().is_empty());
    assert_eq!(command.run().parts(), first);
    assert_eq!(remote.block_requests(), []);
}

/// Scores alone cost one round of requests, a line one for each of its moves.
#[test]
fn a_probe_without_a_line_requests_the_blocks_of_its_moves() {
    let remote = Remote::new();
    let probe = |flag: &str| {
        let answer = remote.kalah(&format!("probe {LARGE} --json{flag}")).run().success().json();
        (answer, remote.block_requests().len())
    };
    let (mut short, few) = probe(" --no-line");
    let (long, more) = probe("");
    assert!((1..=2 * 7).contains(&few) && more > 0, "{few} {more}");
    assert!(short.get("line").is_none());
    short["line"] = long["line"].clone();
    assert_eq!(short, long);
}

#[test]
fn processes_at_once_give_the_same_answers() {
    let (remote, line) = (Remote::new(), format!("probe {LARGE}"));
    // Long enough that all of them read at once.
    remote.host.conduct().latency = Duration::from_millis(20);
    let expected = with_tables(here(), &line).run().printed();
    let children = [(); 6].map(|()| remote.kalah(&line).spawn().unwrap());
    for child in children {
        assert_eq!(child.wait_with_output().unwrap().printed(), expected);
    }
}

#[test]
fn the_cache_evicts_what_was_not_used_for_longest() {
    let [old, new] = [(); 2].map(|()| Host::new(here(), "/tables"));
    let directory = tempfile::tempdir().unwrap();
    let open = |host: &Host, limit| {
        let cache = Cache::new(directory.path(), limit);
        RemoteTables::open(&Address::parse(&host.address).unwrap(), RemoteOptions::new(cache)).unwrap()
    };
    let opened = open(&old, 1 << 30);
    let key = TableKey::named(&layer(opened.folder(), SEEDS)).unwrap();
    let table = Table::open_key(opened.directory(), key).unwrap();
    table.check().unwrap();
    let full = on_disk(directory.path());
    assert!(full > 1 << 20, "{full} bytes");
    open(&new, 1 << 20);
    let rest = on_disk(directory.path());
    assert!(rest < full - (1 << 20), "{rest} of {full} bytes");
    // The open table still has its blocks; a new process reads them again.
    assert!(table.bytes() == std::fs::read(layer(here(), SEEDS)).unwrap());
    let opened = open(&old, 1 << 30);
    old.requests();
    Table::open_key(opened.directory(), key).unwrap().check().unwrap();
    let is_block = |(start, end)| start > 0 || end >= Some(9000);
    assert!(old.requests().iter().any(|one| one.range.is_some_and(is_block)));
}
