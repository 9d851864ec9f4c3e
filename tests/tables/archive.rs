//! Archives: unpacking gives exactly the bytes that were packed, or an error.

use std::fs;
use std::path::{Path, PathBuf};

use kalah::build::Builder;
use kalah::game::Rules;
use kalah::header::Kind;
use kalah::progress::Pulse;
use kalah::table::{Damage, FileKind, Table, TableError, TableKey, archive};

fn table(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Table {
    Builder::new(directory, TableKey { rules, pits, seeds }).run(&Pulse::default(), &|_| {}).unwrap();
    Table::open(TableKey { rules, pits, seeds }.path(directory)).unwrap()
}

/// Packs a small table into many chunks. Returns the table and the path of its archive.
fn packed(directory: &Path) -> (Table, PathBuf) {
    let table = table(directory, Rules::EmptyCapture, 4, 9);
    let archive = directory.join("archive.zst");
    archive::compress_in_chunks(&table, &archive, 64, &Pulse::default()).unwrap();
    (table, archive)
}

#[test]
fn unpacked_tables_are_those_packed() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 2), (1, 30), (2, 24), (3, 18), (4, 13), (5, 11), (6, 2), (6, 10), (7, 7), (8, 7)] {
            let directory = tempfile::tempdir().unwrap();
            let table = table(directory.path(), rules, pits, seeds);
            let path = directory.path().join("table.zst");
            let unpacked = directory.path().join("unpacked");
            for side in [64, archive::CHUNK_SIDE] {
                let (to, fro) = (Pulse::default(), Pulse::default());
                let info = archive::compress_in_chunks(&table, &path, side, &to).unwrap();
                assert_eq!(info, archive::read_info(&path).unwrap());
                assert_eq!((info.key, info.digest), (table.key(), table.header().digest));
                assert_eq!(info.archive_bytes, fs::metadata(&path).unwrap().len());
                let back = archive::decompress(&path, &unpacked, &fro).unwrap();
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
    let info = archive::compress(&table, directory.path().join("table.zst"), &Pulse::default()).unwrap();
    assert!(info.bits_per_position() < 2.0, "{}", info.bits_per_position());
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path(), Rules::Standard, 6, 10);
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let path = directory.path().join(format!("{threads}.zst"));
        pool.install(|| archive::compress_in_chunks(&table, &path, 256, &Pulse::default())).unwrap();
        fs::read(path).unwrap()
    };
    let one = with_threads(1);
    assert!(one == with_threads(2) && one == with_threads(7));
}

/// Every reader of zstd can read an archive, or a single chunk with the seek table.
#[test]
fn archives_are_seekable_zstd() {
    let directory = tempfile::tempdir().unwrap();
    let (_, path) = packed(directory.path());
    let bytes = fs::read(&path).unwrap();
    let content = zstd::decode_all(&bytes[..]).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(number(bytes.len() - 4), 0x8f92_eab1);
    let frames = number(bytes.len() - 9);
    let seek_table = bytes.len() - 9 - 8 * frames;
    assert_eq!(number(seek_table - 8), 0x184d_2a5e);
    assert_eq!(number(seek_table - 4), bytes.len() - seek_table);
    let (mut offset, mut content_offset) = (0, 0);
    for frame in 0..frames {
        let (size, content_size) = (number(seek_table + 8 * frame), number(seek_table + 8 * frame + 4));
        let alone = zstd::decode_all(&bytes[offset..offset + size]).unwrap();
        assert!(alone == content[content_offset..content_offset + content_size]);
        offset += size;
        content_offset += content_size;
    }
    assert_eq!((offset, content_offset), (seek_table - 8, content.len()));
}

/// Tries to unpack `bytes`, which are not an archive. Checks that no file has the table's name afterwards, and returns
/// the error.
fn refused(directory: &Path, table: &Table, bytes: &[u8]) -> TableError {
    let archive = directory.join("bad.zst");
    fs::write(&archive, bytes).unwrap();
    let unpacked = directory.join("unpacked");
    let error = archive::decompress(&archive, &unpacked, &Pulse::default()).unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("bad.zst"), "{error}");
    assert!(!table.key().path(&unpacked).exists());
    _ = fs::remove_dir_all(unpacked);
    error
}

#[test]
fn a_changed_byte_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(path).unwrap();
    // Every byte of the header, of some chunks and of the seek table, and some bytes between them.
    let all = (0..bytes.len()).filter(|at| *at < 700 || at + 300 > bytes.len() || at % 97 == 0);
    for at in all {
        let mut bytes = bytes.clone();
        bytes[at] ^= [1, 0x10, 0x80, 0xff][at % 4];
        refused(directory.path(), &table, &bytes);
    }
}

#[test]
fn a_shorter_or_longer_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(path).unwrap();
    for length in (0..200).chain((200..bytes.len()).step_by(331)).chain([bytes.len() - 1]) {
        refused(directory.path(), &table, &bytes[..length]);
    }
    refused(directory.path(), &table, &[&bytes[..], &[0]].concat());
    refused(directory.path(), &table, &[&bytes[..], &bytes[..]].concat());
}

#[test]
fn another_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, _) = packed(directory.path());
    let other = zstd::encode_all(&b"something else"[..], 1).unwrap();
    for bytes in [table.bytes(), b"", b"hello", &other] {
        let TableError::Damaged { damage, kind, .. } = refused(directory.path(), &table, bytes) else { panic!() };
        assert_eq!(damage, Damage::Foreign(Kind::Archive));
        assert_eq!(kind, FileKind::Archive);
    }
}

/// Valid chunks under the header of another table: only the digest can show the fault.
#[test]
fn chunks_of_another_table_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let other = self::table(&directory.path().join("standard"), Rules::Standard, 4, 9);
    let other_path = directory.path().join("other.zst");
    archive::compress_in_chunks(&other, &other_path, 64, &Pulse::default()).unwrap();
    let (bytes, other) = (fs::read(path).unwrap(), fs::read(other_path).unwrap());
    let header = 8 + u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let TableError::Damaged { damage, .. } =
        refused(directory.path(), &table, &[&bytes[..header], &other[header..]].concat())
    else {
        panic!()
    };
    assert_eq!(damage, Damage::Digest);
}

#[test]
fn an_altered_table_is_not_packed() {
    let directory = tempfile::tempdir().unwrap();
    let (table, _) = packed(directory.path());
    let mut bytes = table.bytes().to_vec();
    let at = table.header().entries[3].offset as usize + 70;
    bytes[at] ^= 1;
    let altered = Table::from_bytes(Path::new("altered.kalah"), bytes).unwrap();
    let archive = directory.path().join("altered.zst");
    let error = archive::compress(&altered, &archive, &Pulse::default()).unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("altered.kalah"), "{error}");
    let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.starts_with("altered.zst")).collect();
    assert_eq!(left, [""; 0]);
}

/// Returns the archive with the content of one chunk changed and every checksum corrected.
fn forged(bytes: &[u8], chunk: usize, alter: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let frames = number(bytes.len() - 9);
    let seek_table = bytes.len() - 9 - 8 * frames;
    let mut parts = Vec::new();
    let mut rest = bytes;
    for frame in 0..frames {
        let part;
        (part, rest) = rest.split_at(number(seek_table + 8 * frame));
        parts.push((part.to_vec(), number(seek_table + 8 * frame + 4)));
    }
    // The first frame is the header. The last frame holds the checksums of the chunks.
    let chunk = 1 + chunk % (frames - 2);
    let mut content = zstd::decode_all(&parts[chunk].0[..]).unwrap();
    alter(&mut content);
    parts[chunk] = (zstd::encode_all(&content[..], 1).unwrap(), content.len());
    let skippable =
        |magic: u32, content: &[u8]| [&magic.to_le_bytes(), &(content.len() as u32).to_le_bytes(), content].concat();
    let xxh3 = xxhash_rust::xxh3::xxh3_64;
    let mut checksums: Vec<u8> = parts[1..frames - 1].iter().flat_map(|(bytes, _)| xxh3(bytes).to_le_bytes()).collect();
    checksums.extend(xxh3(&checksums).to_le_bytes());
    parts[frames - 1].0 = skippable(0x184d_2a51, &checksums);
    let mut seek_table: Vec<u8> = parts
        .iter()
        .flat_map(|(bytes, content)| [(bytes.len() as u32).to_le_bytes(), (*content as u32).to_le_bytes()])
        .flatten()
        .collect();
    seek_table.extend((frames as u32).to_le_bytes());
    seek_table.push(0);
    seek_table.extend(0x8f92_eab1u32.to_le_bytes());
    let mut forged: Vec<u8> = parts.into_iter().flat_map(|(bytes, _)| bytes).collect();
    forged.extend(skippable(0x184d_2a5e, &seek_table));
    forged
}

/// Anyone can compute checksums, so a right checksum is no reason to trust a chunk.
#[test]
fn forged_chunks_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (table, path) = packed(directory.path());
    let bytes = fs::read(path).unwrap();
    let same = directory.path().join("same.zst");
    fs::write(&same, forged(&bytes, 5, |_| ())).unwrap();
    let unpacked = archive::decompress(&same, directory.path().join("unpacked"), &Pulse::default()).unwrap();
    assert!(fs::read(unpacked).unwrap() == table.bytes());
    fs::remove_dir_all(directory.path().join("unpacked")).unwrap();

    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..150 {
        let forged = forged(&bytes, number, |content| match number % 3 {
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
    let other = self::table(&directory.path().join("standard"), Rules::Standard, 4, 9);
    let other_path = directory.path().join("other.zst");
    let info = archive::compress_in_chunks(&other, &other_path, 64, &Pulse::default()).unwrap();
    // Chunks of the other table under the header of this one. The last of them is damaged.
    let (bytes, other) = (fs::read(path).unwrap(), fs::read(other_path).unwrap());
    let other = forged(&other, info.chunks as usize - 1, |content| content.truncate(content.len() - 1));
    let header = 8 + u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let bad = directory.path().join("bad.zst");
    fs::write(&bad, [&bytes[..header], &other[header..]].concat()).unwrap();

    let right = table.bytes().to_vec();
    let to = tempfile::tempdir().unwrap();
    for seeds in 2..9 {
        let key = TableKey { seeds, ..table.key() };
        fs::copy(key.path(directory.path()), key.path(to.path())).unwrap();
    }
    let error = archive::decompress(&bad, to.path(), &Pulse::default()).unwrap_err();
    assert!(error.is_damage(), "{error}");
    let built = self::table(to.path(), Rules::EmptyCapture, 4, 9);
    assert!(built.bytes() == right, "the table has a frame of the archive");
    let left = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unfinished: Vec<String> = left.filter(|name| name.starts_with(&(table.key().file_name() + "."))).collect();
    assert_eq!(unfinished, [""; 0]);
}
