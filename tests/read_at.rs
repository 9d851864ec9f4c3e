//! Tables that are not mapped: read into memory, or block by block. They give the same scores as mapped ones, and find
//! the same damage.

use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::index::RowIndex;
use kalah::table::{Layer, ReadAt, ReadAtTable, Table, TableKey, Tables};
use tempfile::TempDir;

const PITS: usize = 4;
const SEEDS: usize = 13;

static SOUND: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    for rules in Rules::ALL {
        build(directory.path(), rules, PITS, SEEDS).unwrap();
    }
    directory
});

fn key(rules: Rules, seeds: usize) -> TableKey {
    TableKey { rules, pits: PITS, seeds }
}

/// Every score of a layer, frame by frame, or the first error.
fn scores(layer: &impl Layer) -> Result<Vec<u8>, String> {
    let rows = RowIndex::new(PITS, SEEDS);
    let mut scores = Vec::new();
    for mover in 1..layer.key().seeds {
        let count = |seeds| rows.rows(seeds) as u32;
        for other_rank in 0..count(layer.key().seeds - mover) {
            for mover_rank in 0..count(mover) {
                scores.push(layer.score(mover, mover_rank, other_rank).map_err(|error| error.to_string())?);
            }
        }
    }
    Ok(scores)
}

#[test]
fn all_ways_to_read_a_table_give_the_same_scores() {
    for rules in Rules::ALL {
        for seeds in 2..=SEEDS {
            let path = key(rules, seeds).path(SOUND.path());
            let mapped = Table::open(&path).unwrap();
            let expected = scores(&mapped).unwrap();
            assert_eq!(expected.len() as u64, mapped.header().positions);
            let read = Table::read(&path).unwrap();
            assert_eq!(scores(&read).unwrap(), expected);
            let by_block = ReadAtTable::open(&path).unwrap();
            by_block.check().unwrap();
            assert_eq!((scores(&by_block).unwrap(), by_block.header()), (expected, mapped.header()));
        }
    }
}

#[test]
fn tables_that_are_not_mapped_answer_the_same() {
    for rules in Rules::ALL {
        let mapped = Tables::open(SOUND.path(), rules, PITS, SEEDS).unwrap();
        let unmapped = Tables::open_unmapped(SOUND.path(), rules, PITS, SEEDS).unwrap();
        assert_eq!(unmapped.max_seeds(), Some(SEEDS));
        for text in ["4x1", "<4,3,0,1,0,2,3,0,1,5,1>", "3,0,0,1/1,2,0,5", "0,0,0,1/9,0,0,0"] {
            let position: Position = text.parse().unwrap();
            assert_eq!(unmapped.probe(&position).unwrap(), mapped.probe(&position).unwrap(), "{text}");
        }
        let above: Position = "4x2".parse().unwrap();
        assert_eq!(unmapped.probe(&above).unwrap_err().to_string(), mapped.probe(&above).unwrap_err().to_string());
    }
}

#[test]
fn every_damaged_byte_is_found_wherever_the_table_is_read_from() {
    let key = key(Rules::EmptyCapture, 7);
    let sound = std::fs::read(key.path(SOUND.path())).unwrap();
    let path = key.path(Path::new("damaged"));
    let expected = scores(&ReadAtTable::new(&path, sound.clone()).unwrap()).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        let by_block = ReadAtTable::new(&path, bytes.clone());
        // Opening finds damage of header and directory, checking that of the rest; a score is right or an error.
        match by_block.as_ref().map(|table| (table.check(), scores(table))) {
            Err(error) => assert!(error.is_damage()),
            Ok((checked, scores)) => {
                assert_eq!(checked.is_ok(), Table::from_bytes(&path, bytes).unwrap().check().is_ok(), "byte {at}");
                assert!(scores.is_err() || scores == Ok(expected.clone()), "byte {at}");
                assert!(checked.is_err() || at > sound.len() - 64, "byte {at}");
            }
        }
    }
}

/// A source that fails after a number of reads, and counts them.
struct Failing<'a> {
    bytes: &'a [u8],
    left: AtomicU64,
}

impl ReadAt for Failing<'_> {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            return Err(io::Error::other("the network is down"));
        }
        self.bytes.to_vec().read_exact_at(buffer, offset)
    }
}

#[test]
fn a_source_that_fails_is_an_error_with_the_file() {
    let key = key(Rules::Standard, 5);
    let bytes = std::fs::read(key.path(SOUND.path())).unwrap();
    let path = key.path(Path::new("remote"));
    let source = |left| Failing { bytes: &bytes, left: AtomicU64::new(left) };
    let error = ReadAtTable::new(&path, source(0)).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: the network is down", path.display()));
    let table = ReadAtTable::new(&path, source(1)).unwrap();
    assert!(table.score(1, 0, 0).unwrap_err().to_string().contains("the network is down"));
    // What was read once is kept: header, block, checksum and frame take four reads.
    let table = ReadAtTable::new(&path, source(4)).unwrap();
    let first = table.score(1, 0, 0).unwrap();
    assert_eq!(table.score(1, 0, 0).unwrap(), first);
    assert!(table.score(2, 0, 0).is_err());
}
