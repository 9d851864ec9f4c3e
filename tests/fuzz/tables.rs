//! Random bytes and modified files as tables.

use kalah::index::LayerIndex;
use kalah::table::{ManifestEntry, ProbeError};
use kalah::verify::Oracle;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::fuzz;
use crate::mutation::{changed, changes};
use crate::small_table::{HEADER_BYTES, KEY, field, open, position, read_all, seal, seal_frames, sound, tables_with};

/// Fails if the process ever had more memory than these small files can justify.
pub(crate) fn assert_modest() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(most.is_none_or(|most| most < 2 << 20), "{most:?} KiB of memory");
}

#[test]
fn altered_tables_are_refused_or_answer_right() {
    let right = tables_with(open(sound()).unwrap());
    let index = LayerIndex::new(right.rows(), KEY.seeds);
    let manifest = ManifestEntry::of(right.layer(KEY.seeds).unwrap()).unwrap();
    let inputs = (changes(), prop::collection::vec(any::<Index>(), 20));
    fuzz("altered tables", &inputs, |(changes, ranks)| {
        let bytes = changed(sound(), &changes);
        let same = bytes == sound();
        let altered = match open(bytes) {
            Ok(table) => tables_with(table),
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
            let position = position(&mover, &other);
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

/// Anyone can compute checksums. No content of a file may make the reader panic, or take more memory than the file has
/// bytes.
#[test]
fn forged_tables_are_read_without_panic() {
    let numbers = prop_oneof![0u64..200, any::<u64>(), Just(u64::MAX), (0u32..64).prop_map(|bit| 1 << bit)];
    // Other headers and fields are rare, so that many inputs open as tables.
    let fields = prop::collection::vec((0usize..KEY.seeds + 2, 0usize..9, numbers, any::<bool>()), 0..5);
    let fields = prop_oneof![3 => Just(Vec::new()), 2 => fields];
    let header = prop::collection::vec((12usize..32, any::<u8>()), 0..4);
    let header = prop_oneof![3 => Just(Vec::new()), 2 => header];
    let ranks = prop::collection::vec(any::<Index>(), 40);
    let oracle = Oracle::new(KEY.rules, KEY.pits).unwrap();
    let other = prop::option::weighted(0.2, prop::collection::vec(any::<u8>(), 0..4000));
    let inputs = (changes(), fields, header, ranks, other, any::<bool>());
    fuzz("forged tables", &inputs, |(changes, fields, header, ranks, other, with_frames)| {
        prop_assert!(other.as_ref().is_none_or(|other| open(other.clone()).is_err()), "random bytes are a table");
        let mut bytes = changed(other.as_deref().unwrap_or(sound()), &changes);
        if with_frames && bytes.len() == sound().len() {
            seal_frames(&mut bytes);
        }
        if bytes.len() >= HEADER_BYTES {
            bytes[..12].copy_from_slice(&sound()[..12]);
            bytes[15] = 1;
            for (at, value) in header {
                bytes[at] = value;
            }
            let length = bytes.len() as u64;
            bytes[24..32].copy_from_slice(&length.to_le_bytes());
        }
        for (entry, number, value, relative) in fields {
            if let Some(field) = field(&mut bytes, entry, number) {
                let value = if relative { u64::from_le_bytes(*field).wrapping_add(value) } else { value };
                *field = value.to_le_bytes();
            }
        }
        seal(&mut bytes);
        let table = match open(bytes) {
            Ok(table) => table,
            Err(error) => {
                prop_assert!(error.is_damage(), "{}", error);
                return Ok(());
            }
        };
        prop_assert!(other.is_none(), "random bytes with a header are a table");
        read_all(&table);
        if table.key() != KEY {
            return Ok(());
        }
        // With new checksums it is another table, which may contradict itself.
        let tables = tables_with(table);
        let index = LayerIndex::new(tables.rows(), KEY.seeds);
        for rank in ranks {
            let (mover, other) = index.unrank(rank.index(index.positions() as usize) as u64);
            let position = position(&mover, &other);
            for error in [tables.probe(&position).err(), tables.move_scores(&position).err()].into_iter().flatten() {
                prop_assert!(matches!(error, ProbeError::Table(error) if error.is_damage()));
            }
            let _ = oracle.minimax(&mover, &other, |mover, other| tables.score_rows(mover, other));
        }
        Ok(())
    });
    assert_modest();
}
