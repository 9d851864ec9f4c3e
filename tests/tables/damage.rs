//! A truncated, modified or foreign file gives an error, never a panic.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use kalah::build::BuildError;
use kalah::cancel::Cancel;
use kalah::game::{Position, Row, Rules};
use kalah::header::{HeaderError, Kind};
use kalah::index::{LayerIndex, RankSet, TableRow};
use kalah::isa::Isa;
use kalah::table::format::BLOCK_BYTES;
use kalah::table::{
    Damage, LocalFile, ProbeError, RUN_MARGIN, SELECTED_MARGIN, Stamps, Table, TableError, TableKey, Tables,
    score_counts,
};
use kalah::verify::{Fault, Oracle, check_checksums};
use proptest::prelude::*;

const HEADER_BYTES: usize = 128;
const ENTRY_BYTES: usize = 72;

/// A small table that has exceptions.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 20 };

fn build(directory: &Path, key: TableKey) -> Result<(), BuildError> {
    let TableKey { rules, pits, seeds } = key;
    kalah::build::build(directory, rules, pits, seeds).map(drop)
}

/// The files of all layers up to [`KEY`].
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), KEY).unwrap();
    let file = |seeds| std::fs::read(TableKey { seeds, ..KEY }.path(directory.path())).unwrap();
    (2..=KEY.seeds).map(file).collect()
});

/// The file of [`KEY`].
fn sound() -> &'static [u8] {
    FILES.last().unwrap()
}

fn open(bytes: impl Into<Vec<u8>>) -> Result<Table, TableError> {
    Table::from_bytes(Path::new("damaged"), bytes.into())
}

fn damage(result: Result<Table, TableError>) -> Damage {
    match result {
        Err(TableError::Damaged { damage, .. }) => damage,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was opened"),
    }
}

/// Length of the header, the directory, and the padding after it.
fn prefix() -> usize {
    (HEADER_BYTES + (KEY.seeds - 1) * ENTRY_BYTES).next_multiple_of(64)
}

/// Writes the digest and the checksum of the header and directory of `bytes`.
fn seal(bytes: &mut [u8]) {
    let directory = HEADER_BYTES + usize::from(bytes[14]).saturating_sub(1) * ENTRY_BYTES;
    let directory = &bytes[HEADER_BYTES..directory.min(bytes.len())];
    let digest = blake3::hash(&[&bytes[..12], &bytes[12..15], directory].concat());
    bytes[32..64].copy_from_slice(digest.as_bytes());
    bytes[120..128].fill(0);
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..HEADER_BYTES]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
}

/// Writes the checksums and digests of the frames of `bytes`, then seals the header.
fn seal_frames(bytes: &mut [u8]) {
    let entries = open(sound()).unwrap().header().entries.clone();
    for (number, entry) in entries.iter().enumerate() {
        let start = entry.offset as usize;
        let (data, end) = (entry.checksums_at() as usize, (entry.section().blocks() as usize * 8).next_multiple_of(64));
        let section = &mut bytes[start..][..data + end];
        let (data, checksums) = section.split_at_mut(data);
        for (block, checksum) in data.chunks(BLOCK_BYTES).zip(checksums.chunks_mut(8)) {
            checksum.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(block).to_le_bytes());
        }
        let digest = blake3::hash(section);
        bytes[HEADER_BYTES + number * ENTRY_BYTES + 40..][..32].copy_from_slice(digest.as_bytes());
    }
    seal(bytes);
}

/// Reads all scores in every possible way. Returns true if all reads succeed.
fn read_all(table: &Table) -> bool {
    let mut well = true;
    for mover in 1..table.key().seeds {
        let scores = table.frame_unchecked(mover);
        let (movers, others) = (scores.frame().mover_rows(), scores.frame().mirrored().mover_rows());
        let mut buffer = vec![0; movers + 2 * RUN_MARGIN];
        let (all, mut selected) = (RankSet::new(movers, 0..movers as u32), vec![0; movers + SELECTED_MARGIN]);
        for other in 0..others as u32 {
            for rank in 0..movers as u32 {
                well &= scores.score(rank, other).map_err(|group| table.damaged_group(group).to_string()).is_ok();
            }
            for isa in Isa::available() {
                let unpacked = scores.unpack_run(isa, (0, other), movers, &mut buffer, RUN_MARGIN);
                assert_eq!(unpacked, scores.unpack_selected(isa, other, &all, &mut selected));
                if unpacked.is_ok() {
                    assert_eq!(buffer[RUN_MARGIN..][..movers], selected[..movers]);
                }
                well &= unpacked.is_ok();
            }
        }
    }
    well
}

/// Opens the tables with the file of [`KEY`] replaced by `bytes`.
fn tables_with(bytes: Vec<u8>) -> Result<Tables, TableError> {
    let mut tables = Tables::empty(Path::new("no such directory"), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    for file in &FILES[..FILES.len() - 1] {
        tables.push(Arc::new(open(&file[..])?))?;
    }
    tables.push(Arc::new(open(bytes)?))?;
    Ok(tables)
}

fn position(mover: &TableRow, other: &TableRow) -> Position {
    let row = |row: &TableRow| Row::new(&row.map(u32::from)[..KEY.pits]).unwrap();
    Position::new(row(mover), row(other), 0, 0).unwrap()
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
    for at in 0..prefix() {
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
    for at in prefix()..bytes.len() {
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
        assert!(matches!(
            damage(table.frame(mover).map(|_| open(sound()).unwrap())),
            Damage::Part { part: "block of scores", .. }
        ));
        let group = table.frame_unchecked(mover).score(0, 0).unwrap_err();
        assert_eq!((group.group, group.mover, group.other), (0, mover, KEY.seeds - mover));
        let error = table.damaged_group(group);
        let part = Damage::Part { part: "group of scores", offset: lines as u64 };
        assert!(matches!(error, TableError::Damaged { damage, .. } if damage == part));
        assert!(score_counts(&table).is_err());
    }
}

#[test]
fn counts_of_exceptions_that_do_not_fit_the_patches_are_refused() {
    let entry = |bytes: &[u8], mover: usize, field: usize| {
        let at = HEADER_BYTES + (mover - 1) * ENTRY_BYTES + 8 * field;
        (at, u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()))
    };
    for mover in 1..KEY.seeds {
        for change in [1, 2, 5, u64::MAX, u64::MAX / 2, 1 << 62] {
            let mut bytes = sound().to_vec();
            let (at, exceptions) = entry(&bytes, mover, 4);
            bytes[at..at + 8].copy_from_slice(&exceptions.wrapping_add(change).to_le_bytes());
            seal(&mut bytes);
            assert!(matches!(damage(open(bytes)), Damage::Part { part: "directory", .. }), "{mover} {change}");
        }
    }
}

#[test]
fn frames_that_do_not_follow_each_other_are_refused() {
    for mover in 1..KEY.seeds {
        let at = HEADER_BYTES + (mover - 1) * ENTRY_BYTES;
        let offset = u64::from_le_bytes(sound()[at..at + 8].try_into().unwrap());
        for moved in [offset - 64, offset - 1, offset + 1, offset + 64] {
            let mut bytes = sound().to_vec();
            bytes[at..at + 8].copy_from_slice(&moved.to_le_bytes());
            seal(&mut bytes);
            assert!(matches!(damage(open(bytes)), Damage::Part { part: "directory", .. }), "{mover} {offset} {moved}");
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
        let tables = tables_with(bytes).unwrap();
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
    for other in [Rules::Standard, Rules::SKalaha] {
        build(directory, TableKey { rules: other, ..key }).unwrap();
    }
    build(directory, TableKey { pits: 3, ..key }).unwrap();
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
    let cases: [(Vec<u8>, Expected); 8] = [
        (read(TableKey { seeds: 5, ..key }), |damage| matches!(damage, Damage::Other { .. })),
        (read(TableKey { rules: Rules::Standard, seeds: 4, ..key }), |damage| matches!(damage, Damage::Other { .. })),
        (read(TableKey { rules: Rules::SKalaha, seeds: 4, ..key }), |damage| matches!(damage, Damage::Other { .. })),
        (read(TableKey { pits: 3, seeds: 4, ..key }), |damage| matches!(damage, Damage::Other { .. })),
        (Vec::new(), |damage| matches!(damage, Damage::Header(HeaderError::Foreign(_)))),
        (b"KALAHTB\n".to_vec(), |damage| matches!(damage, Damage::Header(HeaderError::Foreign(_)))),
        (b"position,score\n".repeat(50), |damage| matches!(damage, Damage::Header(HeaderError::Foreign(_)))),
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
            match &error {
                TableError::Damaged { path: found, damage, kind } => {
                    assert!(*found == path && expected(damage), "{error}");
                    let named = TableKey::named(found);
                    assert_eq!((*kind, named), (Kind::Table, Some(TableKey { seeds: 4, ..key })));
                }
                other => panic!("another error: {other}"),
            }
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    // The layers below are still readable.
    assert_eq!(Tables::open(directory, key.rules, key.pits, 3).unwrap().max_seeds(), Some(3));

    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = Tables::open(directory, key.rules, key.pits, key.seeds).err().unwrap();
    assert!(matches!(&error, TableError::Io { path: found, .. } if *found == path), "{error}");
    assert!(matches!(build(directory, key), Err(BuildError::Table(TableError::Io { .. }))));
    assert!(Table::open(&path).is_err());

    std::fs::remove_dir(&path).unwrap();
    build(directory, key).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), right);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn any_bytes_are_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        magic in any::<bool>(),
        sealed in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if magic && bytes.len() >= HEADER_BYTES {
            bytes[..12].copy_from_slice(&sound()[..12]);
            bytes[15] = 1;
            if sealed {
                seal(&mut bytes);
            }
        }
        prop_assert!(open(bytes).is_err());
    }

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

    #[test]
    fn a_forged_directory_is_refused_or_read_without_panic(
        changes in prop::collection::vec((0..KEY.seeds - 1, 0usize..5, prop_oneof![
            0u64..200, any::<u64>(), Just(u64::MAX), (0u64..64).prop_map(|bit| 1 << bit),
        ]), 1..4),
        relative in any::<bool>(),
    ) {
        let mut bytes = sound().to_vec();
        for (entry, field, value) in changes {
            let at = HEADER_BYTES + entry * ENTRY_BYTES + 8 * field;
            let before = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let value = if relative { before.wrapping_add(value) } else { value };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        seal(&mut bytes);
        if let Ok(table) = open(bytes) {
            read_all(&table);
            let _ = table.header().exceptions();
            let _ = score_counts(&table);
            let _ = check_checksums(table.blocks());
        }
    }

    #[test]
    fn altered_frames_are_answered_right_or_not_at_all(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200),
        ranks in prop::collection::vec(any::<prop::sample::Index>(), 40),
        sealed in any::<bool>(),
    ) {
        let mut bytes = sound().to_vec();
        for (at, value) in changes {
            let at = prefix() + at.index(bytes.len() - prefix());
            bytes[at] = value;
        }
        let altered = bytes != sound();
        if sealed {
            // With new checksums it is another table, which may contradict itself.
            seal_frames(&mut bytes);
        }
        let (tables, right) = (tables_with(bytes).unwrap(), tables_with(sound().to_vec()).unwrap());
        let table = tables.layer(KEY.seeds).unwrap();
        prop_assert_eq!(check_checksums(table.blocks()).is_err(), altered && !sealed);
        let index = LayerIndex::new(tables.rows(), KEY.seeds);
        // The tables are opened again, because an open table remembers the blocks that it has compared.
        let tables = tables_with(table.bytes().to_vec()).unwrap();
        let table = tables.layer(KEY.seeds).unwrap();
        let oracle = Oracle::new(KEY.rules, KEY.pits).unwrap();
        for rank in ranks {
            let (mover, other) = index.unrank(rank.index(index.positions() as usize) as u64);
            let position = position(&mover, &other);
            match tables.probe(&position) {
                Ok(probe) => prop_assert!(sealed || probe == right.probe(&position).unwrap()),
                Err(error) => prop_assert!(matches!(error, ProbeError::Table(error) if error.is_damage())),
            }
            match tables.move_scores(&position) {
                Ok(scores) => prop_assert!(sealed || scores == right.move_scores(&position).unwrap()),
                Err(error) => prop_assert!(matches!(error, ProbeError::Table(error) if error.is_damage())),
            }
            let _ = oracle.minimax(&mover, &other, |mover, other| tables.score_rows(mover, other));
        }
        match score_counts(table) {
            Ok(counts) => prop_assert!(sealed || counts == score_counts(right.layer(KEY.seeds).unwrap()).unwrap()),
            Err(error) => prop_assert!(error.is_damage()),
        }
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
