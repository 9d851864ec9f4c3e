//! Tables that are not mapped, but read into memory or block by block. They give the same scores as mapped ones, and
//! find the same damage.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kalah::build::build;
use kalah::game::Rules;
use kalah::header::Kind;
use kalah::index::Frame;
use kalah::table::format::BLOCK_BYTES;
use kalah::table::{Damage, LocalFile, Table, TableError, TableKey, check_in_parallel};
use kalah_tests::tables::built;
use tempfile::TempDir;

const PITS: usize = 4;
const SEEDS: usize = 13;

/// Tables by all rules.
fn directory() -> &'static Path {
    built(&Rules::ALL.map(|rules| (rules, PITS, SEEDS)))
}

fn key(rules: Rules, seeds: usize) -> TableKey {
    TableKey { rules, pits: PITS, seeds }
}

/// Returns every score of a layer, frame by frame, or the first error.
fn scores(layer: &Table) -> Result<Vec<u8>, String> {
    let score = |(frame, index): (Frame, u64)| {
        let (mover, other) = frame.ranks(index);
        layer.score(frame.mover, mover, other).map_err(|error| error.to_string())
    };
    let places = |frame: Frame| (0..frame.positions()).map(move |index| (frame, index));
    layer.key().frames().flat_map(places).map(score).collect()
}

/// Opens the table at `path`, whose blocks are read when they are needed.
fn in_file(path: &Path) -> Table {
    Table::of(Kind::Table, Box::new(LocalFile::open(path).unwrap())).unwrap()
}

#[test]
fn all_ways_to_read_a_table_give_the_same_scores() {
    for rules in Rules::ALL {
        for seeds in 2..=SEEDS {
            let path = key(rules, seeds).path(directory());
            let mapped = Table::open(&path).unwrap();
            let expected = scores(&mapped).unwrap();
            assert_eq!(expected.len() as u64, mapped.header().positions);
            let by_block = in_file(&path);
            assert_eq!((scores(&by_block).unwrap(), by_block.header()), (expected, mapped.header()));
            assert!(!by_block.blocks().is_resident());
            by_block.check().unwrap();
            assert!(by_block.bytes() == mapped.bytes());
        }
    }
}

#[test]
fn every_damaged_byte_is_found_wherever_the_table_is_read_from() {
    let (place, key) = (tempfile::tempdir().unwrap(), key(Rules::EmptyCapture, 7));
    let (right, path) = (key.path(directory()), key.path(place.path()));
    let (sound, expected) = (std::fs::read(&right).unwrap(), scores(&in_file(&right)).unwrap());
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).unwrap();
        let by_block = Table::of(Kind::Table, Box::new(LocalFile::open(&path).unwrap()));
        // Opening finds damage of the header and directory, checking finds damage of the rest. A score is right or an
        // error.
        match by_block.as_ref().map(|table| (scores(table), table.check())) {
            Err(error) => assert!(error.is_damage()),
            Ok((scores, checked)) => {
                assert_eq!(checked.is_ok(), Table::from_bytes(&path, bytes).unwrap().check().is_ok(), "byte {at}");
                assert!(scores.is_err() || scores == Ok(expected.clone()), "byte {at}");
                assert!(checked.is_err() || at > sound.len() - 64, "byte {at}");
            }
        }
    }
}

/// A table with frames of many blocks. The profile of the frame with 21 seeds in the mover's row takes two blocks.
static LARGE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 22 };
    build(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    let path = key.path(directory.path());
    (directory, path)
});

/// Random ranks of the rows of a frame.
fn random_ranks(random: &mut fastrand::Rng, frame: Frame) -> (u32, u32) {
    frame.ranks(random.u64(0..frame.positions()))
}

#[test]
fn frames_of_many_blocks_are_read_the_same_block_by_block() {
    let (mapped, by_block) = (Table::open(&LARGE.1).unwrap(), in_file(&LARGE.1));
    let mut random = fastrand::Rng::with_seed(1);
    let frames: Vec<Frame> = mapped.key().frames().collect();
    let block = |at: u64| at / BLOCK_BYTES as u64;
    let entries = mapped.header().entries.iter();
    let across =
        entries.filter(|entry| block(entry.patches_at()) < block(entry.patches_at() + entry.patch_bytes)).count();
    assert!(across > 3, "patches lie across blocks in {across} frames");
    for _ in 0..20_000 {
        let frame = *random.choice(&frames).unwrap();
        let (mover_rank, other_rank) = random_ranks(&mut random, frame);
        let expected = mapped.score(frame.mover, mover_rank, other_rank).unwrap();
        assert_eq!(by_block.score(frame.mover, mover_rank, other_rank).unwrap(), expected, "{frame:?}");
    }
}

#[test]
fn no_score_is_read_from_a_profile_that_was_found_damaged() {
    let sound = Table::open(&LARGE.1).unwrap();
    let frame = Frame { pits: 6, mover: 21, other: 1 };
    let entry = &sound.header().entries[frame.mover - 1];
    assert_eq!(entry.rows.div_ceil(BLOCK_BYTES as u64), 2);
    let mut random = fastrand::Rng::with_seed(2);
    for block in 0..2 {
        let mut bytes = sound.bytes().to_vec();
        let place = (entry.offset + block * BLOCK_BYTES as u64 + 5) as usize;
        bytes[place] ^= 8;
        let [damaged, again] = [bytes.clone(), bytes].map(|bytes| Table::from_bytes(&LARGE.1, bytes).unwrap());
        // The error names the first damaged block, whichever read finds it.
        let start = entry.offset + block * BLOCK_BYTES as u64;
        for error in [damaged.check().unwrap_err(), check_in_parallel(again.blocks()).unwrap_err()] {
            let TableError::Damaged { damage, .. } = error else { panic!("{error}") };
            assert_eq!(damage, Damage::Part { part: "block of scores", offset: start });
        }
        for table in [&damaged, &again] {
            let mut ranks: Vec<(u32, u32)> = (0..2000).map(|_| random_ranks(&mut random, frame)).collect();
            ranks.extend((0..10).map(|rank| (rank, 0)));
            for (mover_rank, other_rank) in ranks {
                let expected = sound.score(frame.mover, mover_rank, other_rank).unwrap();
                let score = table.score(frame.mover, mover_rank, other_rank);
                assert!(score.as_ref().map_or(true, |&score| score == expected), "{score:?} for {expected}");
            }
        }
    }
}

#[test]
fn a_file_that_became_shorter_is_an_error_wherever_it_is_read() {
    let (copy, key) = (tempfile::tempdir().unwrap(), key(Rules::EmptyCapture, 7));
    let path = key.path(copy.path());
    std::fs::copy(key.path(directory()), &path).unwrap();
    let table = in_file(&path);
    table.score(1, 0, 0).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(table.header().file_bytes - 1).unwrap();
    // Neither the block of the first score nor that of the other one lost a byte.
    for mover in [1, 2] {
        let error = table.score(mover, 0, 0).unwrap_err();
        assert!(matches!(error, TableError::Damaged { damage: Damage::Shrunk, .. }), "{error}");
    }
}
