//! Random bytes and modified files as archives.

use std::path::Path;
use std::sync::LazyLock;

use kalah::game::Rules;
use kalah::header::Kind;
use kalah::progress::Pulse;
use kalah::table::archive::ArchiveEntry;
use kalah::table::format::{BLOCK_BYTES, Entry, LayerHeader, prefix};
use kalah::table::{DirectoryLock, Table, TableKey, archive};
use proptest::prelude::*;
use proptest::sample::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::fuzz;
use crate::mutation::{changed, changes};
use crate::tables::assert_modest;

const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 10 };

/// A table, and its archive in small chunks.
static SOUND: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    kalah::build::build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    let (path, packed) = (KEY.path(directory.path()), directory.path().join("packed"));
    archive::compress_in_chunks(&Table::open(&path).unwrap(), &packed, 16, &Pulse::default()).unwrap();
    (std::fs::read(path).unwrap(), std::fs::read(packed).unwrap())
});

/// Unpacks `bytes`. The result must be the original table, or an error and no file.
fn law(directory: &Path, bytes: &[u8]) -> Result<(), TestCaseError> {
    let (archive, unpacked) = (directory.join("archive"), directory.join("unpacked"));
    std::fs::write(&archive, bytes).unwrap();
    let info = archive::read_info(&archive);
    match archive::decompress(&archive, &DirectoryLock::take(&unpacked).unwrap(), &Pulse::default()) {
        Ok(path) => {
            prop_assert_eq!(info.unwrap().key, KEY);
            prop_assert!(std::fs::read(path).unwrap() == SOUND.0);
        }
        Err(error) => {
            prop_assert!(error.is_damage(), "{}", error);
            prop_assert!(*bytes != SOUND.1[..]);
            if let Ok(files) = std::fs::read_dir(&unpacked) {
                let tables = files.filter(|file| file.as_ref().unwrap().path().extension() == Some("kalah".as_ref()));
                prop_assert_eq!(tables.count(), 0);
            }
        }
    }
    let _ = std::fs::remove_dir_all(unpacked);
    Ok(())
}

#[test]
fn altered_archives_are_refused_or_unpack_to_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    fuzz("altered archives", &changes(), |changes| law(directory.path(), &changed(&SOUND.1, &changes)));
    assert_modest();
}

/// Puts the right checksums and digests into the first bytes of an archive.
fn seal(bytes: &mut [u8], first: usize) {
    let digest = blake3::hash(&[&bytes[..16], &bytes[64..96], &bytes[128..first]].concat());
    bytes[32..64].copy_from_slice(digest.as_bytes());
    let checksum = xxh3_64(&bytes[128..first]).to_le_bytes();
    bytes[112..128].copy_from_slice(&[checksum, [0; 8]].concat());
    let checksum = xxh3_64(&bytes[..128]).to_le_bytes();
    bytes[120..128].copy_from_slice(&checksum);
}

/// Anyone can compute checksums.
#[test]
fn forged_archives_are_refused_or_unpack_to_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = (any::<Index>(), changes(), prop::collection::vec((any::<Index>(), any::<u8>()), 0..3));
    let LayerHeader { key, form, source, entries, .. } =
        LayerHeader::<ArchiveEntry>::read_as(Kind::Archive, &SOUND.1, SOUND.1.len() as u64).unwrap();
    fuzz("forged archives", &inputs, |(chosen, changes, header)| {
        let (mut entries, chosen) = (entries.clone(), 1 + chosen.index(entries.len()));
        let mut bytes = prefix(Kind::Archive, key, form, source, &[], &entries);
        let first = bytes.len();
        for frame in key.frames() {
            let entry = &mut entries[frame.mover - 1];
            let section = entry.section_of(frame.mover);
            let mut data = SOUND.1[section.offset as usize..][..section.data as usize].to_vec();
            if frame.mover == chosen {
                data = changed(&data, &changes);
                // The list stays at the end.
                entry.chunk_bytes = (data.len() as u64).saturating_sub(section.data - entry.chunk_bytes);
                data.resize(entry.section_of(frame.mover).data as usize, 0);
            }
            let checksums = data.chunks(BLOCK_BYTES).flat_map(|block| xxh3_64(block).to_le_bytes());
            let mut checksums: Vec<u8> = checksums.collect();
            checksums.resize(checksums.len().next_multiple_of(64), 0);
            data.extend(checksums);
            (entry.offset, entry.digest) = (bytes.len() as u64, *blake3::hash(&data).as_bytes());
            bytes.extend(data);
        }
        bytes[..first].copy_from_slice(&prefix(Kind::Archive, key, form, source, &[], &entries));
        for (at, value) in header {
            // After the magic number and the version.
            bytes[12 + at.index(first - 12)] = value;
        }
        seal(&mut bytes, first);
        law(directory.path(), &bytes)
    });
    assert_modest();
}
