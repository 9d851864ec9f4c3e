//! Archives: unpacking gives exactly the bytes that were packed, or an error.

use std::fs;
use std::path::{Path, PathBuf};

use kalah::build::Builder;
use kalah::game::Rules;
use kalah::header::{HeaderError, Kind};
use kalah::progress::Pulse;
use kalah::table::format::{LayerHeader, prefix};
use kalah::table::{Damage, DirectoryLock, Table, TableError, TableKey, archive};

use crate::forged_archive::{header, with_content};

fn table(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Table {
    Builder::new(directory, TableKey { rules, pits, seeds }).run(&Pulse::default(), &|_| {}).unwrap();
    Table::open(TableKey { rules, pits, seeds }.path(directory)).unwrap()
}

fn unpack(archive: &Path, directory: &Path, pulse: &Pulse) -> Result<PathBuf, TableError> {
    archive::decompress(archive, &DirectoryLock::take(directory).unwrap(), pulse)
}

/// Packs a small table into many chunks. Returns the table and the path of its archive.
fn packed(directory: &Path) -> (Table, PathBuf) {
    let table = table(directory, Rules::EmptyCapture, 4, 9);
    let archive = directory.join("archive.archive");
    archive::compress_in_chunks(&table, &archive, 64, &Pulse::default()).unwrap();
    (table, archive)
}

/// Packs a table of the same size by other rules. Returns the path of its archive, and the number of its chunks.
fn other(directory: &Path) -> (PathBuf, usize) {
    let (table, path) = (table(directory, Rules::Standard, 4, 9), directory.join("other.archive"));
    let info = archive::compress_in_chunks(&table, &path, 64, &Pulse::default()).unwrap();
    (path, info.chunks as usize)
}

#[test]
fn unpacked_tables_are_those_packed() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 2), (1, 30), (2, 24), (3, 18), (4, 13), (5, 11), (6, 2), (6, 10), (7, 7), (8, 7)] {
            let directory = tempfile::tempdir().unwrap();
            let table = table(directory.path(), rules, pits, seeds);
            let path = directory.path().join("table.archive");
            let unpacked = directory.path().join("unpacked");
            for side in [64, archive::CHUNK_SIDE] {
                let (to, fro) = (Pulse::default(), Pulse::default());
                let info = archive::compress_in_chunks(&table, &path, side, &to).unwrap();
                assert_eq!(info, archive::read_info(&path).unwrap());
                assert_eq!((info.key, info.digest), (table.key(), table.header().digest));
                assert_eq!(info.archive_bytes, fs::metadata(&path).unwrap().len());
                let back = unpack(&path, &unpacked, &fro).unwrap();
                assert!(fs::read(back).unwrap() == table.bytes(), "{} in chunks of {side}", table.key());
                let counted = [to, fro].map(|pulse| pulse.positions.into_inner());
                assert_eq!(counted, [info.positions; 2]);
            }
        }
    }
}

#[test]
fn two_bits_a_position() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), Rules::EmptyCapture, 6, 13);
    let info = archive::compress(&table, directory.path().join("table.archive"), &Pulse::default()).unwrap();
    assert!(info.bits_per_position() < 2.0, "{}", info.bits_per_position());
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), Rules::Standard, 6, 10);
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let path = directory.path().join(format!("{threads}.archive"));
        pool.install(|| archive::compress_in_chunks(&table, &path, 256, &Pulse::default())).unwrap();
        fs::read(path).unwrap()
    };
    let one = with_threads(1);
    assert!(one == with_threads(2) && one == with_threads(7));
}

/// Each chunk is a zstd frame, and the list after the chunks has their lengths, as the page on the format states.
#[test]
fn chunks_are_zstd_frames_of_the_listed_lengths() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(&path).unwrap();
    assert_eq!((&bytes[..8], &bytes[64..96]), (&b"KALAHAR\n"[..], &table.header().digest[..]));
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    for mover in 1..9 {
        let [mut at, chunk_bytes, chunks, table_bytes] =
            [0, 8, 16, 24].map(|field| number(128 + 72 * (mover - 1) + field));
        assert_eq!(table_bytes as u64, table.header().entries[mover - 1].section().bytes());
        let list = at + chunk_bytes;
        for length in bytes[list..list + 4 * chunks].as_chunks().0 {
            let length = u32::from_le_bytes(*length) as usize;
            zstd::decode_all(&bytes[at..at + length]).unwrap();
            at += length;
        }
        assert_eq!(at, list);
    }
}

/// Tries to unpack `bytes`, which are not an archive. Checks that no file has the table's name afterwards, and returns
/// the error.
fn refused(directory: &Path, table: &Table, bytes: &[u8]) -> TableError {
    let archive = directory.join("bad.archive");
    fs::write(&archive, bytes).unwrap();
    let unpacked = directory.join("unpacked");
    let error = unpack(&archive, &unpacked, &Pulse::default()).unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("bad.archive"), "{error}");
    assert!(!table.key().path(&unpacked).exists());
    _ = fs::remove_dir_all(unpacked);
    error
}

#[test]
fn changed_cut_and_longer_archives_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(path).unwrap();
    // Every byte of header and directory, of some chunks and of the last checksums, and some bytes between them.
    for at in (0..bytes.len()).filter(|at| *at < 900 || at + 300 > bytes.len() || at % 97 == 0) {
        let mut bytes = bytes.clone();
        bytes[at] ^= [1, 0x10, 0x80, 0xff][at % 4];
        refused(directory.path(), &table, &bytes);
    }
    for length in (0..200).chain((200..bytes.len()).step_by(331)).chain([bytes.len() - 1]) {
        refused(directory.path(), &table, &bytes[..length]);
    }
    for more in [&[0], &bytes[..]] {
        refused(directory.path(), &table, &[&bytes, more].concat());
    }
}

/// Other files, and valid chunks under the header of another table, where only the digest can show the fault.
#[test]
fn another_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let foreign = || Damage::Header(HeaderError::Foreign(Kind::Archive));
    let renamed = renamed(&fs::read(other(directory.path()).0).unwrap(), &fs::read(path).unwrap());
    for (bytes, expected) in [
        (table.bytes(), foreign()),
        (b"", foreign()),
        (b"hello", foreign()),
        (&zstd::encode_all(&b"something else"[..], 1).unwrap(), foreign()),
        (&renamed, Damage::Digest),
    ] {
        let TableError::Damaged { damage, kind, .. } = refused(directory.path(), &table, bytes) else { panic!() };
        assert_eq!((damage, kind), (expected, Kind::Archive));
    }
}

/// Returns the frames of an archive under the header of `other`, with right checksums.
pub(crate) fn renamed(bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let (own, LayerHeader { key, form, source, .. }) = (header(bytes), header(other));
    let first = prefix(Kind::Archive, key, form, source, &[], &own.entries);
    [&first, &bytes[first.len()..]].concat()
}

/// Anyone can compute checksums, so a right checksum is no reason to trust a chunk.
#[test]
fn forged_chunks_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(path).unwrap();
    let same = directory.path().join("same.archive");
    fs::write(&same, with_content(&bytes, 5, |_| ())).unwrap();
    let unpacked = unpack(&same, &directory.path().join("unpacked"), &Pulse::default()).unwrap();
    assert!(fs::read(unpacked).unwrap() == table.bytes());
    fs::remove_dir_all(directory.path().join("unpacked")).unwrap();

    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..150 {
        let forged = with_content(&bytes, number, |content| match number % 3 {
            // A random count of symbols or escapes.
            0 => content[4 * random.usize(..33)..][..4].copy_from_slice(&random.u32(..).to_le_bytes()),
            // All classes and biases.
            1 => content[132..132 + 2401].iter_mut().for_each(|entry| *entry = random.u8(..)),
            _ => content.truncate(random.usize(..content.len())),
        });
        refused(directory.path(), &table, &forged);
    }
}

/// A refused archive may have valid chunks in front of the damaged one. A build must not use the table unpacked from
/// them.
#[test]
fn a_build_does_not_adopt_what_a_refused_archive_left() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    // Chunks of another table under the header of this one. The last of them is damaged.
    let (other, chunks) = other(directory.path());
    let (bytes, other) = (fs::read(path).unwrap(), fs::read(other).unwrap());
    let other = with_content(&other, chunks - 1, |content| content.truncate(content.len() - 1));
    let bad = directory.path().join("bad.archive");
    fs::write(&bad, renamed(&other, &bytes)).unwrap();

    let to = tempfile::tempdir().unwrap();
    for seeds in 2..9 {
        let key = TableKey { seeds, ..table.key() };
        fs::copy(key.path(directory.path()), key.path(to.path())).unwrap();
    }
    let error = unpack(&bad, to.path(), &Pulse::default()).unwrap_err();
    assert!(error.is_damage(), "{error}");
    let built = self::table(to.path(), Rules::EmptyCapture, 4, 9);
    assert!(built.bytes() == table.bytes(), "the table has a frame of the archive");
    let unfinished = table.key().file_name() + ".";
    for entry in fs::read_dir(to.path()).unwrap() {
        assert!(!entry.unwrap().file_name().to_str().unwrap().starts_with(&unfinished));
    }
}
