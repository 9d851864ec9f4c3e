//! Nothing is trusted because a server sent it.

use std::path::Path;

use kalah::game::{Position, Rules};
use kalah::remote::RemoteError;
use kalah::table::format::{Entry, FrameEntry, RawEntry, RawHeader, table_digest};
use kalah::table::{Directory, ProbeError, Table, TableKey, Tables};

use crate::reading::positions;
use crate::server::{Fault, SEEDS, Server, TABLES, copied, layer, run, shown};

/// A position of the largest layer.
const LARGE: &str = "1,2,1,0,1,2/0,3,0,1,1,1";

fn probe(directory: impl Into<Directory>, position: &Position) -> Result<kalah::table::Probe, ProbeError> {
    Tables::open(directory, Rules::EmptyCapture, 6, SEEDS)?.probe(position)
}

#[test]
fn connections_that_break_are_continued() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    server.next([Fault::Cut(0), Fault::Cut(50), Fault::Status(503), Fault::Cut(99), Fault::Flipped]);
    let position = LARGE.parse().unwrap();
    assert_eq!(probe(remote.directory(), &position).unwrap(), probe(TABLES.path(), &position).unwrap());
}

#[test]
fn wrong_ranges_and_lengths_are_never_used() {
    for fault in [Fault::OtherTotal, Fault::OtherRange, Fault::Flipped, Fault::Cut(0), Fault::Status(500)] {
        let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
        let remote = server.open(cache.path());
        server.always(Some(fault));
        let position = LARGE.parse().unwrap();
        let error = probe(remote.directory(), &position).unwrap_err();
        let ProbeError::Table(error) = error else { panic!("{fault:?}: {error}") };
        assert_eq!(error.is_damage(), fault == Fault::Flipped, "{fault:?}: {error}");
        assert!(error.to_string().contains(&server.address), "{error}");
        // The same process goes on when the server does.
        server.always(None);
        assert_eq!(probe(remote.directory(), &position).unwrap(), probe(TABLES.path(), &position).unwrap());
    }
}

#[test]
fn a_longer_body_than_stated_gives_no_wrong_score() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    server.next([Fault::Longer; 3]);
    let position = LARGE.parse().unwrap();
    if let Ok(found) = probe(remote.directory(), &position) {
        assert_eq!(found, probe(TABLES.path(), &position).unwrap());
    }
}

/// Changes a byte that no checksum covers, the last of the first frame of several blocks. Returns the frame's number.
fn change_padding(path: &Path) {
    change(path, |bytes, entry| bytes[entry.section().end() as usize - 1] ^= 1);
}

/// Shifts the scores of the frame with `mover` seeds in the mover's row by one seed, in all blocks that the file has,
/// and makes their checksums again.
fn shift_scores(path: &Path, mover: usize) {
    let entry = Table::open(path).unwrap().header().entries[mover - 1];
    assert!(entry.section().blocks() > 1);
    let mut bytes = std::fs::read(path).unwrap();
    let section = entry.section();
    for block in 1..entry.section().blocks() {
        let (place, sum) = (section.block_bytes(block), section.checksum_at(block) as usize);
        let (place, sum) = (place.start as usize..place.end as usize, sum..sum + 8);
        // The blocks that the cache lacks have no checksum.
        if bytes[sum.clone()] != [0; 8] {
            // The last byte of a group has its base.
            bytes[place.clone()].chunks_mut(64).for_each(|group| group[group.len() - 1] ^= 1);
            let made = xxhash_rust::xxh3::xxh3_64(&bytes[place]).to_le_bytes();
            bytes[sum].copy_from_slice(&made);
        }
    }
    std::fs::write(path, bytes).unwrap();
}

/// Changes the bytes of a table, given with its first frame of several blocks.
fn change(path: &Path, with: impl Fn(&mut [u8], &FrameEntry)) {
    let header = Table::open(path).unwrap().header().clone();
    let mut bytes = std::fs::read(path).unwrap();
    let large = header.entries.iter().find(|entry| entry.section().blocks() > 1).expect("a frame of several blocks");
    with(&mut bytes, large);
    std::fs::write(path, bytes).unwrap();
}

/// Damages that only the digest of a frame shows.
const UNSEEN: [fn(&Path); 2] = [change_padding, |path| shift_scores(path, 7)];

/// The header is the known one, so only digests and moves show that frames are not.
#[test]
fn a_server_that_lies_is_named() {
    for damage in UNSEEN {
        let (files, cache) = (copied(), tempfile::tempdir().unwrap());
        damage(&layer(files.path(), SEEDS));
        let server = Server::of(files.path());
        let name = format!("{}/empty-capture-6-{SEEDS}.kalah", server.address);
        let place = ["--tables", &*server.address, "--cache", shown(cache.path())];
        let (code, answer, message) = run(&[&["verify", "--seeds", &SEEDS.to_string()][..], &place].concat());
        assert_eq!(code, 3, "{answer}{message}");
        assert!(answer.contains(&name) || message.contains(&name), "{answer}{message}");
    }
    let (files, cache) = (copied(), tempfile::tempdir().unwrap());
    shift_scores(&layer(files.path(), SEEDS), 7);
    let server = Server::of(files.path());
    let error = probe(server.open(cache.path()).directory(), &LARGE.parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains(&server.address), "{error}");
}

/// Replaces a table by one with another digest, and valid header and checksums.
fn forge(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let table = Table::from_bytes(path, bytes.clone()).unwrap();
    let (key, header) = (table.key(), table.header().clone());
    let mut entries = header.entries;
    // A large frame, whose digest is not compared when a block is read.
    let large = entries.iter().position(|entry| entry.section().blocks() > 1).expect("a frame of several blocks");
    entries[large].digest[0] ^= 1;
    let raw: Vec<RawEntry> = entries.iter().map(Entry::raw).collect();
    let directory: &[u8] = bytemuck::cast_slice(&raw);
    let head = RawHeader::finished(key, bytes.len() as u64, table_digest(key, directory));
    bytes[..size_of::<RawHeader>()].copy_from_slice(bytemuck::bytes_of(&head));
    bytes[size_of::<RawHeader>()..][..directory.len()].copy_from_slice(directory);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_known_layer_with_another_digest_is_damage() {
    let (files, cache) = (copied(), tempfile::tempdir().unwrap());
    forge(&layer(files.path(), SEEDS));
    let server = Server::of(files.path());
    let arguments = |position| ["probe", position, "--tables", &*server.address, "--cache", shown(cache.path())];
    let (code, _, message) = run(&arguments(LARGE));
    assert_eq!(code, 3, "{message}");
    assert!(message.contains(&format!("{}/empty-capture-6-{SEEDS}.kalah", server.address)), "{message}");
    assert!(message.contains("its digest is not the expected one"), "{message}");
}

#[test]
fn a_file_that_changes_after_its_header_was_kept_is_damage() {
    let (files, cache) = (copied(), tempfile::tempdir().unwrap());
    let server = Server::of(files.path());
    server.open(cache.path());
    forge(&layer(files.path(), SEEDS));
    let error = server.try_open(cache.path()).unwrap_err();
    assert!(matches!(&error, RemoteError::Table(error) if error.is_damage()), "{error}");
    assert!(error.to_string().contains(&server.address), "{error}");
}

#[test]
fn damage_of_the_cache_is_healed() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    for position in positions(50) {
        probe(remote.directory(), &position).unwrap();
    }
    for seeds in 2..=SEEDS {
        let path = layer(remote.folder(), seeds);
        let header = TableKey::named(&path).unwrap().prefix_bytes() as usize;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[header..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        // In place, as a failing disk does; no table of this process has these files open.
        std::fs::write(&path, bytes).unwrap();
    }
    let again = server.open(cache.path());
    for position in positions(50) {
        assert_eq!(probe(again.directory(), &position).unwrap(), probe(TABLES.path(), &position).unwrap());
    }
}
