//! Random bytes and modified files as archives.

use std::path::Path;
use std::sync::LazyLock;

use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{DirectoryLock, Table, TableKey, archive};
use proptest::prelude::*;
use proptest::sample::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::forged_archive::{forged, header, with_content};
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

/// Anyone can compute checksums. Changes are of a frame's chunks, of the list of their lengths, or of the content of a
/// chunk, and of the header.
#[test]
fn forged_archives_are_refused_or_unpack_to_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let first = header(&SOUND.1).entries[0].offset as usize;
    let of_header = prop::collection::vec((any::<Index>(), any::<u8>()), 0..3);
    fuzz("forged archives", &(any::<Index>(), changes(), of_header, 0..3u8), |(chosen, changes, of_header, part)| {
        let mut bytes = match part {
            0 => with_content(&SOUND.1, chosen.index(1 << 20), |content| *content = changed(content, &changes)),
            _ => forged(&SOUND.1, |mover, chunks, list| {
                let len = list.len();
                let altered = if part == 1 { chunks } else { &mut *list };
                if mover == 1 + chosen.index(KEY.seeds - 1) {
                    *altered = changed(altered, &changes);
                }
                list.resize(len, 0);
            }),
        };
        for (at, value) in of_header {
            // After the magic number and the version.
            bytes[12 + at.index(first - 12)] = value;
        }
        seal(&mut bytes, first);
        law(directory.path(), &bytes)
    });
    assert_modest();
}
