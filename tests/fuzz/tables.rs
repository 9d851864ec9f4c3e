//! Random bytes and modified files as tables.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use kalah::game::{Position, Row, Rules};
use kalah::index::{LayerIndex, RankSet};
use kalah::isa::Isa;
use kalah::table::{ManifestEntry, RUN_MARGIN, Table, TableError, TableKey, Tables, score_counts};
use proptest::prelude::*;
use proptest::sample::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::fuzz;

/// A small table that has exceptions.
const KEY: TableKey = TableKey { rules: Rules::Standard, pits: 2, seeds: 20 };

const HEADER_BYTES: usize = 128;
const ENTRY_BYTES: usize = 72;

/// Files of all layers up to [`KEY`].
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    kalah::build::build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    let file = |seeds| std::fs::read(TableKey { seeds, ..KEY }.path(directory.path())).unwrap();
    (2..=KEY.seeds).map(file).collect()
});

fn sound() -> &'static [u8] {
    FILES.last().unwrap()
}

fn open(bytes: Vec<u8>) -> Result<Table, TableError> {
    Table::from_bytes(Path::new("altered"), bytes)
}

/// Opens the tables with `last` as the last one.
fn tables(last: Table) -> Result<Tables, TableError> {
    let mut tables = Tables::empty(Path::new("no such directory"), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    for file in &FILES[..FILES.len() - 1] {
        tables.push(Arc::new(open(file.clone())?))?;
    }
    tables.push(Arc::new(last))?;
    Ok(tables)
}

/// A change of a file.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    /// Cuts off the end.
    Cut(Index),
    /// Adds bytes at the end.
    Grow(Vec<u8>),
    /// Copies bytes from one place to another.
    Splice(Index, Index, usize),
    /// Removes bytes, so that all bytes after them move.
    Remove(Index, usize),
    Swap(Index, Index),
}

/// Strategy for changes of files: one or several.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let index = any::<Index>;
    let change = prop_oneof![
        6 => (index(), 0..8u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        3 => (index(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        1 => index().prop_map(Change::Cut),
        1 => prop::collection::vec(any::<u8>(), 1..200).prop_map(Change::Grow),
        2 => (index(), index(), 1..2000usize).prop_map(|(from, to, count)| Change::Splice(from, to, count)),
        1 => (index(), 1..200usize).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (index(), index()).prop_map(|(a, b)| Change::Swap(a, b)),
    ];
    prop_oneof![prop::collection::vec(change.clone(), 1..2), prop::collection::vec(change, 1..12)]
}

/// Returns the file after the changes.
pub(crate) fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match change {
            Change::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Change::Set(at, value) => bytes[at.index(len)] = *value,
            Change::Cut(at) => bytes.truncate(at.index(len)),
            Change::Grow(more) => bytes.extend(more),
            Change::Splice(from, to, count) => {
                let (from, to) = (from.index(len), to.index(len));
                let count = *count.min(&(len - from.max(to)));
                bytes.copy_within(from..from + count, to);
            }
            Change::Remove(at, count) => {
                let at = at.index(len);
                bytes.drain(at..len.min(at + count));
            }
            Change::Swap(a, b) => bytes.swap(a.index(len), b.index(len)),
        }
    }
    bytes
}

/// Reads everything in a table, right or wrong.
fn read_all(table: &Table) {
    for mover in 1..table.key().seeds {
        let scores = table.frame_unchecked(mover);
        let (movers, others) = (scores.frame().mover_rows(), scores.frame().mirrored().mover_rows());
        let mut buffer = vec![0; movers + 2 * RUN_MARGIN];
        let some = RankSet::new(movers, (0..movers as u32).filter(|rank| rank % 5 < 3));
        for other in 0..others as u32 {
            let _ = scores.unpack_run(Isa::detect(), (0, other), movers, &mut buffer, RUN_MARGIN);
            let _ = scores.unpack_selected(Isa::detect(), other, &some, &mut buffer);
        }
        let _ =
            scores.score(movers as u32 - 1, others as u32 - 1).map_err(|line| table.damaged_group(line).to_string());
        let _ = table.frame(mover).map_err(|error| assert!(error.is_damage()));
    }
    let _ = score_counts(table);
    let _ = kalah::table::check_in_parallel(table.blocks());
}

/// Fails if the process ever had more memory than these small files can justify.
pub(crate) fn assert_modest() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(most.is_none_or(|most| most < 2 << 20), "{most:?} KiB of memory");
}

#[test]
fn altered_tables_are_refused_or_answer_right() {
    let right = tables(open(sound().to_vec()).unwrap()).unwrap();
    let index = LayerIndex::new(right.rows(), KEY.seeds);
    let row = |row: &kalah::index::TableRow| Row::new(&row.map(u32::from)[..KEY.pits]).unwrap();
    let manifest = ManifestEntry::of(right.layer(KEY.seeds).unwrap()).unwrap();
    let inputs = (changes(), prop::collection::vec(any::<Index>(), 20));
    fuzz("altered tables", &inputs, |(changes, ranks)| {
        let bytes = changed(sound(), &changes);
        let same = bytes == sound();
        let altered = match open(bytes) {
            Ok(table) => tables(table).unwrap(),
            Err(error) => {
                prop_assert!(error.is_damage() && !same, "{error}");
                return Ok(());
            }
        };
        for rank in ranks {
            let (mover, other) = index.unrank(rank.index(index.positions() as usize) as u64);
            match altered.score_rows(&mover, &other) {
                Ok(score) => prop_assert_eq!(score, right.score_rows(&mover, &other).unwrap()),
                Err(error) => prop_assert!(error.is_damage() && !same),
            }
            let position = Position::new(row(&mover), row(&other), 0, 0).unwrap();
            if let Ok(probe) = altered.probe(&position) {
                prop_assert_eq!(probe, right.probe(&position).unwrap());
            }
            if let Ok(scores) = altered.move_scores(&position) {
                prop_assert_eq!(scores, right.move_scores(&position).unwrap());
            }
        }
        let table = altered.layer(KEY.seeds).unwrap();
        match ManifestEntry::of(table) {
            Ok(entry) => prop_assert_eq!(&entry, &manifest),
            Err(error) => prop_assert!(error.is_damage() && !same),
        }
        // A copy in memory is compared completely. Bytes without a checksum are not scores.
        let copied = (1..KEY.seeds).try_for_each(|mover| table.copied_frame(mover, &Default::default()).map(drop));
        match copied {
            Ok(()) => prop_assert!(table.blocks().is_checked()),
            Err(error) => prop_assert!(error.is_damage() && !same),
        }
        read_all(table);
        Ok(())
    });
    assert_modest();
}

/// Writes the right digest and checksum of the header and directory of `bytes`.
fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEADER_BYTES {
        return;
    }
    let directory = HEADER_BYTES + usize::from(bytes[14]).saturating_sub(1) * ENTRY_BYTES;
    let directory = &bytes[HEADER_BYTES..directory.clamp(HEADER_BYTES, bytes.len())];
    let digest = blake3::hash(&[&bytes[..15], directory].concat());
    bytes[32..64].copy_from_slice(digest.as_bytes());
    bytes[120..128].fill(0);
    let checksum = xxh3_64(&bytes[..HEADER_BYTES]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
}

/// Anyone can compute checksums. No content of a file may make the reader panic, or take more memory than the file has
/// bytes.
#[test]
fn forged_tables_are_read_without_panic() {
    let numbers = prop_oneof![0u64..200, any::<u64>(), Just(u64::MAX), (0u32..64).prop_map(|bit| 1 << bit)];
    let fields = prop::collection::vec((0usize..KEY.seeds + 2, 0usize..9, numbers, any::<bool>()), 0..5);
    let header = prop::collection::vec((12usize..32, any::<u8>()), 0..4);
    fuzz("forged tables", &(changes(), fields, header, any::<bool>()), |(changes, fields, header, random)| {
        let mut bytes = if random { vec![0x5a; 4000] } else { sound().to_vec() };
        bytes = changed(&bytes, &changes);
        if bytes.len() >= HEADER_BYTES {
            bytes[..12].copy_from_slice(&sound()[..12]);
            bytes[15] = 1;
            for (at, value) in header {
                bytes[at] = value;
            }
            let length = bytes.len() as u64;
            bytes[24..32].copy_from_slice(&length.to_le_bytes());
        }
        for (entry, field, value, relative) in fields {
            let at = HEADER_BYTES + entry * ENTRY_BYTES + 8 * field;
            if let Some(bytes) = bytes.get_mut(at..at + 8) {
                let before = u64::from_le_bytes(bytes.try_into().unwrap());
                let value = if relative { before.wrapping_add(value) } else { value };
                bytes.copy_from_slice(&value.to_le_bytes());
            }
        }
        seal(&mut bytes);
        match open(bytes) {
            Ok(table) => read_all(&table),
            Err(error) => prop_assert!(error.is_damage(), "{}", error),
        }
        Ok(())
    });
    assert_modest();
}
