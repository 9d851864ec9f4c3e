//! Answers are those of the same tables on this machine, and cost few requests.

use kalah::game::{Position, Rules};
use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::{Directory, Table, TableKey, Tables};

use crate::server::{SEEDS, Server, TABLES, listed};

/// Opens tables of 6 pits.
fn tables(directory: impl Into<Directory>) -> Tables {
    Tables::open(directory, Rules::EmptyCapture, 6, SEEDS).unwrap()
}

/// Random positions of 6 pits within the tables.
pub(crate) fn positions(count: usize) -> Vec<Position> {
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
    // Without a list, the layers of the built-in manifest are asked for.
    let other = Tables::open(remote.directory(), Rules::Standard, 2, 48).unwrap();
    assert_eq!(other.max_seeds(), None);
}

#[test]
fn tags_that_differ_from_answer_to_answer_say_nothing_about_the_file() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    server.vary_tags();
    for round in 0..2 {
        let (here, there) = (tables(TABLES.path()), tables(server.open(cache.path()).directory()));
        for position in positions(20 + 20 * round) {
            assert_eq!(there.probe(&position).unwrap(), here.probe(&position).unwrap(), "{position}");
        }
    }
}

#[test]
fn a_probe_reads_only_its_blocks() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    let there = tables(remote.directory());
    let headers = remote.fetched();
    assert!(headers < 12 * 9000 + 5 * 9000, "{headers}");
    let position: Position = "1,2,0,0,1,2/0,3,0,2,1,1".parse().unwrap();
    there.move_scores(&position).unwrap();
    let read = remote.fetched() - headers;
    // Each of 7 positions needs at most the block of its group, the first of its frame, and a piece of checksums.
    assert!(read > 0 && read <= 7 * (2 * 65_536 + 3 * 4096 + 16_384), "{read}");
    // The same again reads nothing.
    server.requests();
    there.move_scores(&position).unwrap();
    assert_eq!(server.requests(), []);
}

#[test]
fn a_file_that_was_read_as_a_whole_is_the_served_one() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    for seeds in 2..=SEEDS {
        let path = crate::server::layer(remote.folder(), seeds);
        let key = TableKey::named(&path).unwrap();
        let table = Table::open_key(remote.directory(), key).unwrap();
        assert!(!table.blocks().is_resident());
        table.check().unwrap();
        assert!(table.blocks().is_resident());
        let served = std::fs::read(crate::server::layer(TABLES.path(), seeds)).unwrap();
        assert!(std::fs::read(path).unwrap() == served, "{seeds} seeds");
        assert!(table.bytes() == served);
    }
}

#[test]
fn opening_requests_each_file_once_and_only_those_of_the_board() {
    let (files, caches) = (listed(), tempfile::tempdir().unwrap());
    let server = Server::of(files.path());
    let names = |options: fn(RemoteOptions) -> RemoteOptions, cache: &str| {
        let cache = Cache::new(caches.path().join(cache), Cache::DEFAULT_LIMIT);
        let address = Address::parse(&server.address).unwrap();
        let remote = RemoteTables::open(&address, options(RemoteOptions::new(cache))).unwrap();
        let layers = std::fs::read_dir(remote.folder()).unwrap().count();
        let mut names: Vec<String> = server.requests().into_iter().map(|request| request.name).collect();
        names.sort_unstable();
        let requests = names.len();
        names.dedup();
        assert_eq!(names.len(), requests);
        (layers, names)
    };
    let (all, _) = names(|options| options, "all");
    assert_eq!(all, SEEDS - 1 + 5);
    let (layers, names) =
        names(|options| RemoteOptions { rules: vec![Rules::Standard], pits: Some(2), ..options }, "one");
    assert_eq!(layers, 5);
    assert!(names.iter().all(|name| name.starts_with("standard-2-") || name == "manifest.jsonl"), "{names:?}");
}

#[test]
fn a_small_layer_is_read_by_one_request() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let there = tables(server.open(cache.path()).directory());
    server.requests();
    for position in ["1,1,0,1,1,0/1,1,1,1,1,0", "0,0,2,2,0,1/0,0,0,0,1,3", "0,1,0,0,0,0/0,3,5,0,0,0"] {
        let position = position.parse().unwrap();
        assert_eq!(there.score(&position).unwrap(), tables(TABLES.path()).score(&position).unwrap());
    }
    assert_eq!(server.requests().len(), 1);
    assert!(there.layer(9).unwrap().blocks().is_checked());
}
