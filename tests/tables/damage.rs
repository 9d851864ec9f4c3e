//! A truncated, modified or foreign file gives an error, never a panic.

use std::path::Path;

use kalah::build::BuildError;
use kalah::cancel::Cancel;
use kalah::game::Rules;
use kalah::header::{HeaderError, Kind};
use kalah::index::LayerIndex;
use kalah::table::{Damage, LocalFile, ProbeError, Stamps, Table, TableError, TableKey, Tables, score_counts};
use kalah::verify::{Fault, Oracle, check_checksums};
use proptest::prelude::*;

use crate::small_table::{
    ENTRY_BYTES, HEADER_BYTES, KEY, field, open, position, read_all, seal, seal_frames, sound, tables_with,
};

/// Length of the header, the directory, and the padding after it.
const PREFIX: usize = (HEADER_BYTES + (KEY.seeds - 1) * ENTRY_BYTES).next_multiple_of(64);

fn build(directory: &Path, key: TableKey) -> Result<(), BuildError> {
    let TableKey { rules, pits, seeds } = key;
    kalah::build::build(directory, rules, pits, seeds).map(drop)
}

fn damage<T>(result: Result<T, TableError>) -> Damage {
    match result {
        Err(TableError::Damaged { damage, .. }) => damage,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[test]
fn a_sound_file_is_read() {
    let table = open(sound()).unwrap();
    assert!(table.header().exceptions() > 0, "choose a layer with exceptions");
    assert!(read_all(&table));
    check_checksums(table.blocks()).unwrap();
    let mut resealed = sound().to_vec();
    seal(&mut resealed);
    assert_eq!(resealed, sound());
}

#[test]
fn a_file_of_another_length_is_refused() {
    for length in 0..sound().len() {
        let expected = sound().len() as u64;
        match damage(open(&sound()[..length])) {
            Damage::Header(HeaderError::Foreign(_)) => assert!(length < HEADER_BYTES),
            found => assert_eq!(found, Damage::Length { found: length as u64, expected }),
        }
    }
    for more in [1, 64, 4096] {
        let longer = [sound(), &vec![0; more]].concat();
        assert!(matches!(damage(open(longer)), Damage::Length { .. }));
    }
}

#[test]
fn a_flipped_bit_before_the_frames_is_refused() {
    let mut bytes = sound().to_vec();
    for at in 0..PREFIX {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            match damage(open(&bytes[..])) {
                Damage::Header(HeaderError::Foreign(_)) => assert!(at < 8),
                Damage::Header(HeaderError::Version { .. }) => assert!((8..12).contains(&at)),
                Damage::Part { part: "header", .. } => assert!((12..HEADER_BYTES).contains(&at)),
                Damage::Part { part: "directory", .. } => assert!(at >= HEADER_BYTES),
                other => panic!("byte {at}: {other}"),
            }
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn a_flipped_bit_in_a_frame_is_found_by_the_checksums_and_read_without_panic() {
    let mut bytes = sound().to_vec();
    for at in PREFIX..bytes.len() {
        let bit = 1 << (at % 8);
        bytes[at] ^= bit;
        let table = open(&bytes[..]).unwrap();
        assert!(matches!(check_checksums(table.blocks()), Err(Fault::Table(_))), "byte {at}");
        // Without optimization, only some of the bytes are tried.
        if !cfg!(debug_assertions) || at % 5 == 0 {
            read_all(&table);
        }
        bytes[at] ^= bit;
    }
}

#[test]
fn a_missing_patch_is_reported() {
    let table = open(sound()).unwrap();
    let entry = table.header().entries.iter().find(|entry| entry.exceptions > 0).unwrap();
    let lines = entry.offset as usize + (entry.rows as usize).next_multiple_of(64);
    for offset in [entry.patch_bytes as u32, entry.patch_bytes as u32 - 6, 1 << 20, u32::MAX] {
        let mut bytes = sound().to_vec();
        bytes[lines + 63] |= 0x80;
        bytes[lines..lines + 4].copy_from_slice(&offset.to_le_bytes());
        let table = open(bytes).unwrap();
        let mover = table.header().entries.iter().position(|entry| entry.exceptions > 0).unwrap() + 1;
        let found = damage(table.frame(mover).map(drop));
        assert!(matches!(found, Damage::Part { part: "block of scores", .. }), "{found}");
        let group = table.frame_unchecked(mover).score(0, 0).unwrap_err();
        assert_eq!((group.group, group.mover, group.other), (0, mover, KEY.seeds - mover));
        let error = table.damaged_group(group);
        let part = Damage::Part { part: "group of scores", offset: lines as u64 };
        assert!(matches!(error, TableError::Damaged { damage, .. } if damage == part));
        assert!(score_counts(&table).is_err());
    }
}

#[test]
fn counts_of_exceptions_and_offsets_that_do_not_fit_the_frames_are_refused() {
    let exceptions = [1, 2, 5, u64::MAX, u64::MAX / 2, 1 << 62].map(|change| (4, change));
    let offsets = [1, 64, u64::MAX, u64::MAX - 63].map(|change| (0, change));
    for mover in 1..KEY.seeds {
        for (number, change) in exceptions.into_iter().chain(offsets) {
            let mut bytes = sound().to_vec();
            let field = field(&mut bytes, mover - 1, number).unwrap();
            *field = u64::from_le_bytes(*field).wrapping_add(change).to_le_bytes();
            seal(&mut bytes);
            let found = damage(open(bytes));
            assert!(matches!(found, Damage::Part { part: "directory", .. }), "{mover} {number} {change}: {found}");
        }
    }
}

#[test]
fn scores_above_the_seeds_are_reported_and_never_make_a_panic() {
    // All profiles, and therefore all scores, are far too high.
    let sound_table = open(sound()).unwrap();
    for add in [40, 128, 200, 240] {
        let mut bytes = sound().to_vec();
        for entry in &sound_table.header().entries {
            bytes[entry.offset as usize..][..entry.rows as usize].iter_mut().for_each(|v| *v = v.wrapping_add(add));
        }
        seal_frames(&mut bytes);
        let tables = tables_with(open(bytes).unwrap());
        assert!(check_checksums(tables.layer(KEY.seeds).unwrap().blocks()).is_ok());
        assert!(score_counts(tables.layer(KEY.seeds).unwrap()).unwrap_err().is_damage());
        let oracle = Oracle::new(KEY.rules, KEY.pits).unwrap();
        let index = LayerIndex::new(tables.rows(), KEY.seeds);
        for rank in 0..index.positions() {
            let (mover, other) = index.unrank(rank);
            let stored = tables.score_rows(&mover, &other).unwrap();
            oracle.minimax(&mover, &other, |mover, other| tables.score_rows(mover, other)).unwrap();
            if usize::from(stored) > KEY.seeds {
                let error = tables.probe(&position(&mover, &other)).unwrap_err();
                let ProbeError::Table(TableError::Damaged { damage: Damage::Part { part, offset }, .. }) = error else {
                    panic!("{error}")
                };
                // The group of the position.
                let held = usize::from(mover.iter().sum::<u8>());
                let entry = &sound_table.header().entries[held - 1];
                let index = u64::from(tables.rows().rank(&other)) * entry.rows + u64::from(tables.rows().rank(&mover));
                let line = entry.offset + entry.rows.next_multiple_of(64) + index / 126 * 64;
                assert_eq!((part, offset), ("score of a position", line));
            }
        }
    }
}

#[test]
fn a_foreign_file_under_the_name_of_a_table_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let key = TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 6 };
    build(directory, key).unwrap();
    for (rules, pits) in [(Rules::Standard, 2), (Rules::SKalaha, 2), (Rules::EmptyCapture, 3)] {
        build(directory, TableKey { rules, pits, ..key }).unwrap();
    }
    let read = |key: TableKey| std::fs::read(key.path(directory)).unwrap();
    let path = TableKey { seeds: 4, ..key }.path(directory);
    let right = std::fs::read(&path).unwrap();

    // The file was interrupted before its end, but has the final name.
    let mut unfinished = right.clone();
    unfinished[15] = 0;
    unfinished[24..64].fill(0);
    unfinished[120..128].fill(0);
    let checksum = xxhash_rust::xxh3::xxh3_64(&unfinished[..HEADER_BYTES]);
    unfinished[120..128].copy_from_slice(&checksum.to_le_bytes());
    unfinished.truncate(right.len() / 2);

    type Expected = fn(&Damage) -> bool;
    let other: Expected = |damage| matches!(damage, Damage::Other { .. });
    let foreign: Expected = |damage| matches!(damage, Damage::Header(HeaderError::Foreign(_)));
    let cases: [(Vec<u8>, Expected); 8] = [
        (read(TableKey { seeds: 5, ..key }), other),
        (read(TableKey { rules: Rules::Standard, seeds: 4, ..key }), other),
        (read(TableKey { rules: Rules::SKalaha, seeds: 4, ..key }), other),
        (read(TableKey { pits: 3, seeds: 4, ..key }), other),
        (Vec::new(), foreign),
        (b"KALAHTB\n".to_vec(), foreign),
        (b"position,score\n".repeat(50), foreign),
        (unfinished, |damage| matches!(damage, Damage::Unfinished)),
    ];
    for (bytes, expected) in cases {
        std::fs::write(&path, &bytes).unwrap();
        for error in [
            Tables::open(directory, key.rules, key.pits, key.seeds).err().unwrap(),
            // A build neither uses nor replaces the file.
            match build(directory, key).unwrap_err() {
                BuildError::Table(error) => error,
                other => panic!("another error: {other}"),
            },
        ] {
            let TableError::Damaged { path: found, damage, kind } = &error else { panic!("another error: {error}") };
            assert!(*found == path && expected(damage), "{error}");
            assert_eq!((*kind, TableKey::named(found)), (Kind::Table, Some(TableKey { seeds: 4, ..key })));
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    // The layers below are still readable.
    assert_eq!(Tables::open(directory, key.rules, key.pits, 3).unwrap().max_seeds(), Some(3));

    std::fs::remove_file(&path).unwrap();
    build(directory, key).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), right);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn a_forged_header_is_refused(
        changes in prop::collection::vec((12usize..32, any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = sound().to_vec();
        for (at, value) in changes {
            bytes[at] = value;
        }
        let changed = bytes[12..32] != sound()[12..32];
        // The length in the header may happen to be right.
        if bytes[24..32] == sound()[24..32] && changed {
            bytes.truncate(length.index(bytes.len()).max(HEADER_BYTES));
            let length = bytes.len() as u64;
            bytes[24..32].copy_from_slice(&length.to_le_bytes());
        }
        seal(&mut bytes);
        // Only the rule set can be forged. Verification then finds that the scores are wrong.
        let key = open(bytes.clone()).map(|table| table.key());
        let only_rules = bytes[13..32] == sound()[13..32] && bytes[12] < 3;
        prop_assert_eq!(key.is_ok(), only_rules);
    }
}

/// A note about a compared file saves the next comparison, but not of a file that was changed a moment ago.
#[cfg(unix)]
#[test]
fn a_changed_or_replaced_file_is_compared_again() {
    let (directory, notes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    build(directory.path(), KEY).unwrap();
    let (path, other) = (KEY.path(directory.path()), directory.path().join("other"));
    let stamps = Stamps::new(Some(notes.path().join("new")));
    let (stopped, go_on) = (Cancel::new(), Cancel::new());
    stopped.cancel();
    // Bytes that were copied from a file get no note.
    let is_noted_after = |cancel: &Cancel| {
        let table = Table::of(Kind::Table, Box::new(LocalFile::open(&path).unwrap())).unwrap();
        stamps.compare(table.blocks(), cancel, &|_| ()).unwrap();
        table.blocks().is_checked()
    };
    let is_noted = || is_noted_after(&stopped);
    assert!(is_noted_after(&go_on) && !is_noted(), "it was written a moment ago");
    let note = || {
        std::thread::sleep(std::time::Duration::from_millis(2100));
        assert!(!is_noted() && is_noted_after(&go_on) && is_noted());
    };
    note();
    // The same bytes, written again: nothing shows that the disk has them.
    std::fs::write(&path, std::fs::read(&path).unwrap()).unwrap();
    note();
    // Another file under the same name, with the same length and time.
    std::fs::copy(&path, &other).unwrap();
    let times = std::fs::FileTimes::new().set_modified(path.metadata().unwrap().modified().unwrap());
    std::fs::File::options().write(true).open(&other).unwrap().set_times(times).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(!is_noted());
}
