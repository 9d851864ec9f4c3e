//! Answers are those of the same tables on this machine, and cost few requests.

use kalah::game::{Position, Rules};
use kalah::remote::RemoteOptions;
use kalah::table::{Table, TableKey, Tables};

use crate::setup::{Remote, SEEDS, WITHIN, here, layer, listed, tables};
use kalah_tests::random::random_position;

/// Random positions of 6 pits within the tables.
pub(crate) fn positions(count: usize) -> Vec<Position> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut position = || {
        let seeds = random.u32(2..=SEEDS as u32);
        random_position(&mut random, 6, seeds)
    };
    (0..count).map(|_| position()).collect()
}

#[test]
fn probes_are_those_of_the_same_tables_here() {
    let remote = Remote::new();
    let opened = remote.open();
    let (here, there) = (tables(here()), tables(opened.directory()));
    assert!(there.is_remote() && !here.is_remote());
    assert_eq!(there.max_seeds(), Some(SEEDS));
    for position in positions(200) {
        assert_eq!(there.probe(&position).unwrap(), here.probe(&position).unwrap(), "{position}");
    }
    // Without a list, the layers of the built-in manifest are asked for.
    let other = Tables::open(opened.directory(), Rules::Standard, 2, 48).unwrap();
    assert_eq!(other.max_seeds(), None);
}

#[test]
fn a_probe_reads_only_its_blocks() {
    let remote = Remote::new();
    let opened = remote.open();
    let there = tables(opened.directory());
    let headers = opened.fetched();
    assert!(headers < 12 * 9000 + 5 * 9000, "{headers}");
    let position: Position = WITHIN.parse().unwrap();
    there.move_scores(&position).unwrap();
    let read = opened.fetched() - headers;
    // Each of 7 positions needs at most the block of its group, the first of its frame, and a piece of checksums.
    assert!(read > 0 && read <= 7 * (2 * 65_536 + 3 * 4096 + 16_384), "{read}");
    // The same again reads nothing.
    remote.host.requests();
    there.move_scores(&position).unwrap();
    assert_eq!(remote.host.requests(), []);
}

#[test]
fn a_file_that_was_read_as_a_whole_is_the_served_one() {
    let remote = Remote::new();
    let opened = remote.open();
    for seeds in 2..=SEEDS {
        let path = layer(opened.folder(), seeds);
        let key = TableKey::named(&path).unwrap();
        let table = Table::open_key(opened.directory(), key).unwrap();
        assert!(!table.blocks().is_resident());
        table.check().unwrap();
        assert!(table.blocks().is_resident());
        let served = std::fs::read(layer(here(), seeds)).unwrap();
        assert!(std::fs::read(path).unwrap() == served, "{seeds} seeds");
        assert!(table.bytes() == served);
    }
}

#[test]
fn opening_requests_each_file_once_and_only_those_of_the_board() {
    let files = listed();
    let names = |options: fn(RemoteOptions) -> RemoteOptions| {
        let remote = Remote::of(files.path());
        let opened = remote.open_with(options).unwrap();
        let mut names = remote.host.names();
        names.sort_unstable();
        let requests = names.len();
        names.dedup();
        assert_eq!(names.len(), requests);
        (std::fs::read_dir(opened.folder()).unwrap().count(), names)
    };
    let (all, _) = names(|options| options);
    assert_eq!(all, SEEDS - 1 + 5);
    let (layers, names) = names(|options| RemoteOptions { rules: vec![Rules::Standard], pits: Some(2), ..options });
    assert_eq!(layers, 5);
    assert!(names.iter().all(|name| name.starts_with("standard-2-") || name == "manifest.jsonl"), "{names:?}");
}

#[test]
fn a_small_layer_is_read_by_one_request() {
    let remote = Remote::new();
    let there = tables(remote.open().directory());
    remote.host.requests();
    for position in ["1,1,0,1,1,0/1,1,1,1,1,0", "0,0,2,2,0,1/0,0,0,0,1,3", "0,1,0,0,0,0/0,3,5,0,0,0"] {
        let position = position.parse().unwrap();
        assert_eq!(there.score(&position).unwrap(), tables(here()).score(&position).unwrap());
    }
    assert_eq!(remote.host.requests().len(), 1);
    assert!(there.layer(9).unwrap().blocks().is_checked());
}
