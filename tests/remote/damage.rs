//! Nothing is trusted because a server sent it.

use std::path::Path;

use kalah::game::Position;
use kalah::remote::RemoteError;
use kalah::table::format::{Entry, RawEntry, RawHeader, table_digest};
use kalah::table::{Directory, Probe, ProbeError, Table, TableKey};

use crate::reading::positions;
use crate::setup::{LARGE, Remote, SEEDS, here, layer, tables};
use kalah_tests::files::{copied, flip};
use kalah_tests::host::Fault;
use kalah_tests::program::{Ran, Run};

fn probe(directory: impl Into<Directory>) -> Result<Probe, ProbeError> {
    tables(directory).probe(&LARGE.parse().unwrap())
}

#[test]
fn connections_that_break_are_continued() {
    let remote = Remote::new();
    let opened = remote.open();
    remote.host.next([Fault::Cut(0), Fault::Cut(50), Fault::Status(503), Fault::Cut(99), Fault::Flipped]);
    assert_eq!(probe(opened.directory()).unwrap(), probe(here()).unwrap());
}

#[test]
fn wrong_ranges_and_lengths_are_never_used() {
    for fault in [Fault::OtherTotal, Fault::OtherRange, Fault::Flipped, Fault::Cut(0), Fault::Status(500)] {
        let remote = Remote::new();
        let opened = remote.open();
        remote.host.conduct().later = Some(fault);
        let error = probe(opened.directory()).unwrap_err();
        let ProbeError::Table(error) = error else { panic!("{fault:?}: {error}") };
        assert_eq!(error.is_damage(), fault == Fault::Flipped, "{fault:?}: {error}");
        assert!(error.to_string().contains(&remote.host.address), "{error}");
        // The same process goes on when the server does.
        remote.host.conduct().later = None;
        assert_eq!(probe(opened.directory()).unwrap(), probe(here()).unwrap());
    }
}

#[test]
fn a_longer_body_than_stated_gives_no_wrong_score() {
    let remote = Remote::new();
    let opened = remote.open();
    remote.host.next([Fault::Longer; 3]);
    if let Ok(found) = probe(opened.directory()) {
        assert_eq!(found, probe(here()).unwrap());
    }
}

/// Changes a byte that no checksum covers, the last of the first frame of several blocks.
fn change_padding(path: &Path) {
    let header = Table::open(path).unwrap().header().clone();
    let large = header.entries.iter().find(|entry| entry.section().blocks() > 1).expect("a frame of several blocks");
    flip(path, large.section().end() as usize - 1, 1);
}

/// Shifts the scores of the frame of [`LARGE`] by one seed, in all blocks but the first, and makes their checksums
/// again.
fn shift_scores(path: &Path) {
    let frame = LARGE.parse::<Position>().unwrap().mover().total() as usize - 1;
    let section = Table::open(path).unwrap().header().entries[frame].section();
    assert!(section.blocks() > 1);
    let mut bytes = std::fs::read(path).unwrap();
    for block in 1..section.blocks() {
        let (place, sum) = (section.block_bytes(block), section.checksum_at(block) as usize);
        let place = place.start as usize..place.end as usize;
        // The last byte of a group has its base.
        bytes[place.clone()].chunks_mut(64).for_each(|group| group[group.len() - 1] ^= 1);
        let made = xxhash_rust::xxh3::xxh3_64(&bytes[place]).to_le_bytes();
        bytes[sum..sum + 8].copy_from_slice(&made);
    }
    std::fs::write(path, bytes).unwrap();
}

/// The header is the known one, so only digests and moves show that frames are not.
#[test]
fn a_server_that_lies_is_named() {
    for (damage, is_seen_by_probes) in [(change_padding as fn(&Path), false), (shift_scores, true)] {
        let files = copied(here());
        damage(&layer(files.path(), SEEDS));
        let remote = Remote::of(files.path());
        let name = format!("{}/empty-capture-6-{SEEDS}.kalah", remote.host.address);
        remote.kalah(&format!("verify --seeds {SEEDS}")).run().exits(3).prints(&name);
        if is_seen_by_probes {
            let error = probe(remote.open().directory()).unwrap_err().to_string();
            assert!(error.contains(&remote.host.address), "{error}");
        }
    }
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
    let files = copied(here());
    let remote = Remote::of(files.path());
    remote.open();
    forge(&layer(files.path(), SEEDS));
    // It changes after its header was kept.
    let Err(RemoteError::Table(error)) = remote.open_with(|options| options) else { panic!("it is opened") };
    assert!(error.is_damage() && error.to_string().contains(&remote.host.address), "{error}");
    // It is another one from the beginning.
    let remote = Remote::of(files.path());
    let ran = remote.kalah(&format!("probe {LARGE}")).run();
    ran.fails(3, &format!("{}/empty-capture-6-{SEEDS}.kalah", remote.host.address))
        .prints("its digest is not the expected one");
}

#[test]
fn damage_of_the_cache_is_healed() {
    let remote = Remote::new();
    let opened = remote.open();
    let probed = |directory: Directory| {
        let tables = tables(directory);
        positions(50).iter().map(|position| tables.probe(position).unwrap()).collect::<Vec<_>>()
    };
    let expected = probed(opened.directory());
    for seeds in 2..=SEEDS {
        let path = layer(opened.folder(), seeds);
        let header = TableKey::named(&path).unwrap().prefix_bytes() as usize;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[header..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        // In place, as a failing disk does; no table of this process has these files open.
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(probed(remote.open().directory()), expected);
    assert_eq!(probed(here().into()), expected);
}
