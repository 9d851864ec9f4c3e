//! Random bytes and modified files as archives.

use std::path::Path;
use std::sync::LazyLock;

use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey, archive};
use proptest::prelude::*;
use proptest::sample::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::fuzz;
use crate::tables::{assert_modest, changed, changes};

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
    match archive::decompress(&archive, &unpacked, &Pulse::default()) {
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

/// Splits an archive into frames: header, chunks, checksums, seek table.
fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let count = number(bytes.len() - 9);
    let seek_table = bytes.len() - 9 - 8 * count;
    let mut rest = bytes;
    let mut frames = Vec::new();
    for frame in 0..count {
        let (part, more) = rest.split_at(number(seek_table + 8 * frame));
        frames.push(part.to_vec());
        rest = more;
    }
    frames.push(rest.to_vec());
    frames
}

/// Joins the frames of an archive with right checksums.
fn sealed(mut frames: Vec<Vec<u8>>) -> Vec<u8> {
    let seek_table = frames.pop().unwrap();
    let checksums = frames.len() - 1;
    let header = &mut frames[0];
    if header.len() == 8 + 72 {
        header[72..].fill(0);
        let checksum = xxh3_64(&header[8..]);
        header[72..].copy_from_slice(&checksum.to_le_bytes());
    }
    let mut content: Vec<u8> = frames[1..checksums].iter().flat_map(|frame| xxh3_64(frame).to_le_bytes()).collect();
    content.extend(xxh3_64(&content).to_le_bytes());
    frames[checksums].truncate(8);
    frames[checksums].extend(content);
    // The seek table must be right about the sizes of the chunks, but not about their contents.
    let mut seek_table = seek_table;
    for (number, frame) in frames.iter().enumerate() {
        if let Some(entry) = seek_table.get_mut(8 + 8 * number..12 + 8 * number) {
            entry.copy_from_slice(&(frame.len() as u32).to_le_bytes());
        }
    }
    frames.concat().into_iter().chain(seek_table).collect()
}

/// Anyone can compute checksums.
#[test]
fn forged_archives_are_refused_or_unpack_to_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = (any::<Index>(), changes(), prop::collection::vec((any::<Index>(), any::<u8>()), 0..3));
    fuzz("forged archives", &inputs, |(frame, changes, header)| {
        let mut frames = frames(&SOUND.1);
        // Not the list of checksums, which is computed again.
        let chosen = frame.index(frames.len() - 2);
        frames[chosen] = changed(&frames[chosen], &changes);
        for (at, value) in header {
            // After the magic number and the version.
            if let Some(byte) = frames[0].get_mut(20 + at.index(52)) {
                *byte = value;
            }
        }
        law(directory.path(), &sealed(frames))
    });
    assert_modest();
}
