//! A small table that has exceptions, and forgeries of it. The fuzzers use it, too.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use kalah::game::{Position, Row, Rules};
use kalah::index::{RankSet, TableRow};
use kalah::isa::Isa;
use kalah::table::format::BLOCK_BYTES;
use kalah::table::{RUN_MARGIN, SELECTED_MARGIN, Table, TableError, TableKey, Tables, check_in_parallel, score_counts};
use kalah_tests::tables::built;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 20 };

pub(crate) const HEADER_BYTES: usize = 128;
pub(crate) const ENTRY_BYTES: usize = 72;

/// The files of all layers up to [`KEY`].
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let directory = built(&[(KEY.rules, KEY.pits, KEY.seeds)]);
    (2..=KEY.seeds).map(|seeds| std::fs::read(TableKey { seeds, ..KEY }.path(directory)).unwrap()).collect()
});

/// The file of [`KEY`].
pub(crate) fn sound() -> &'static [u8] {
    FILES.last().unwrap()
}

pub(crate) fn open(bytes: impl Into<Vec<u8>>) -> Result<Table, TableError> {
    Table::from_bytes(Path::new("damaged"), bytes.into())
}

/// The tables with another one in the place of [`KEY`].
pub(crate) fn tables_with(last: Table) -> Tables {
    let mut tables = Tables::empty(Path::new("no such directory"), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    for file in &FILES[..FILES.len() - 1] {
        tables.push(Arc::new(open(&file[..]).unwrap())).unwrap();
    }
    tables.push(Arc::new(last)).unwrap();
    tables
}

pub(crate) fn position(mover: &TableRow, other: &TableRow) -> Position {
    let row = |row: &TableRow| Row::new(&row.map(u32::from)[..KEY.pits]).unwrap();
    Position::new(row(mover), row(other), 0, 0).unwrap()
}

/// A field of eight bytes of an entry of the directory, if the file is long enough.
pub(crate) fn field(bytes: &mut [u8], entry: usize, field: usize) -> Option<&mut [u8; 8]> {
    bytes.get_mut(HEADER_BYTES + entry * ENTRY_BYTES + 8 * field..)?.first_chunk_mut()
}

/// Writes the right digest and checksum of the header and directory.
pub(crate) fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEADER_BYTES {
        return;
    }
    let directory = HEADER_BYTES + usize::from(bytes[14]).saturating_sub(1) * ENTRY_BYTES;
    let directory = &bytes[HEADER_BYTES..directory.min(bytes.len())];
    let digest = blake3::hash(&[&bytes[..15], directory].concat());
    bytes[32..64].copy_from_slice(digest.as_bytes());
    bytes[120..128].fill(0);
    let checksum = xxh3_64(&bytes[..HEADER_BYTES]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
}

/// Writes the checksums and digests of the frames of a file like [`sound`], then seals the header.
pub(crate) fn seal_frames(bytes: &mut [u8]) {
    for (number, entry) in open(sound()).unwrap().header().entries.iter().enumerate() {
        let start = entry.offset as usize;
        let (data, end) = (entry.checksums_at() as usize, (entry.section().blocks() as usize * 8).next_multiple_of(64));
        let section = &mut bytes[start..][..data + end];
        let (data, checksums) = section.split_at_mut(data);
        for (block, checksum) in data.chunks(BLOCK_BYTES).zip(checksums.chunks_mut(8)) {
            checksum.copy_from_slice(&xxh3_64(block).to_le_bytes());
        }
        let digest = blake3::hash(section);
        bytes[HEADER_BYTES + number * ENTRY_BYTES + 40..][..32].copy_from_slice(digest.as_bytes());
    }
    seal(bytes);
}

/// Reads everything in a table in every possible way, right or wrong. Returns true if all scores can be read.
pub(crate) fn read_all(table: &Table) -> bool {
    let mut well = true;
    for mover in 1..table.key().seeds {
        let scores = table.frame_unchecked(mover);
        let (movers, others) = (scores.frame().mover_rows(), scores.frame().mirrored().mover_rows());
        let mut buffer = vec![0; movers + 2 * RUN_MARGIN];
        let (all, mut selected) = (RankSet::new(movers, 0..movers as u32), vec![0; movers + SELECTED_MARGIN]);
        let some = RankSet::new(movers, (0..movers as u32).filter(|rank| rank % 5 < 3));
        for other in 0..others as u32 {
            for rank in 0..movers as u32 {
                well &= scores.score(rank, other).map_err(|group| table.damaged_group(group).to_string()).is_ok();
            }
            for isa in Isa::available() {
                let _ = scores.unpack_selected(isa, other, &some, &mut selected);
                let unpacked = scores.unpack_run(isa, 0, other, movers, &mut buffer, RUN_MARGIN);
                assert_eq!(unpacked, scores.unpack_selected(isa, other, &all, &mut selected));
                if unpacked.is_ok() {
                    assert_eq!(buffer[RUN_MARGIN..][..movers], selected[..movers]);
                }
                well &= unpacked.is_ok();
            }
        }
        let _ = table.frame(mover).map_err(|error| assert!(error.is_damage()));
    }
    let _ = table.header().exceptions();
    let _ = score_counts(table).map_err(|error| assert!(error.is_damage()));
    let _ = check_in_parallel(table.blocks()).map_err(|error| assert!(error.is_damage()));
    well
}
