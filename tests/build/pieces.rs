//! Pieces of layers: the format in docs/cluster.md, damage, and expired leases.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kalah::build::{Backend, BuildReport, Builder, build};
use kalah::file::beside;
use kalah::game::Rules;
use kalah::index::layer_positions;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{LayerFiles, Leases, PackedFrame, PairKey, Piece, PieceWriter, Table, TableError, TableKey};

use kalah_tests::files::{assert_same_files, files};
use kalah_tests::tables::{built, scores};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 8 };

/// Builds the layers to that of [`KEY`] as one of several processes.
fn shared(directory: &Path) -> BuildReport {
    let builder = Builder::new(directory, KEY).backend(Backend::Cpu(Isa::detect())).shared(Duration::from_secs(2));
    builder.run(&Pulse::default(), &|_| {}).unwrap()
}

fn pair(small: usize) -> PairKey {
    PairKey { layer: KEY, small }
}

/// Frames of a pair as a process computes them, from a finished layer.
fn frames(whole: &Table, pair: PairKey) -> impl Iterator<Item = PackedFrame> {
    pair.frames().map(|frame| PackedFrame::pack(Isa::detect(), frame, &scores(whole, frame)))
}

/// Makes a directory with all layers below `key` and the pieces of some of its pairs.
pub(crate) fn with_pieces(key: TableKey, pairs: &[usize]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    let whole = Table::open(key.path(directory.path())).unwrap();
    for &small in pairs {
        let pair = PairKey { layer: key, small };
        let mut writer = PieceWriter::new(directory.path(), pair).unwrap();
        frames(&whole, pair).for_each(|frame| writer.write(&frame).unwrap());
        writer.finish().unwrap();
    }
    std::fs::remove_file(key.path(directory.path())).unwrap();
    directory
}

fn whole() -> Files {
    files(built(&[(KEY.rules, KEY.pits, KEY.seeds)]))
}

/// Names of the files of a directory that a build leaves only when it is killed.
pub(crate) fn leftovers(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| [".piece", ".tmp", ".lease", ".partial"].iter().any(|end| name.ends_with(end))).collect()
}

/// Fails unless the directory has these tables and no leftovers.
#[track_caller]
pub(crate) fn assert_complete(directory: &Path, whole: &Files, what: &str) {
    assert_same_files(whole, &files(directory), what);
    assert_eq!(leftovers(directory), [""; 0], "{what}");
}

#[test]
fn a_piece_is_laid_out_as_the_format_page_states() {
    for (small, frames) in [(3, 2usize), (4, 1)] {
        let directory = with_pieces(KEY, &[small]);
        let piece = std::fs::read(directory.path().join(format!("empty-capture-2-08.0{small}.piece"))).unwrap();
        assert_eq!(piece[..15], *b"KALAHPC\n\x01\0\0\0\0\x02\x08");
        assert_eq!(usize::from(piece[15]), small);
        let number = |at: usize| u64::from_le_bytes(piece[at..at + 8].try_into().unwrap());
        assert_eq!(number(24), piece.len() as u64);
        let first = (128 + 72 * frames).next_multiple_of(64);
        let digest = blake3::hash(&[&piece[..16], &[0; 32], &piece[128..first]].concat());
        assert_eq!(*digest.as_bytes(), piece[32..64]);
        assert_eq!(number(112), xxhash_rust::xxh3::xxh3_64(&piece[128..first]));

        // The frames are those of the table. Their entries differ only in the offsets.
        let table = Table::from_bytes(Path::new("whole"), whole()[&KEY.file_name()].clone()).unwrap();
        let mut offset = first;
        for (index, mover) in [small, 8 - small].into_iter().take(frames).enumerate() {
            let (own, other) = (128 + 72 * index, 128 + 72 * (mover - 1));
            assert_eq!(piece[own + 8..own + 72], table.bytes()[other + 8..other + 72]);
            assert_eq!(number(own) as usize, offset);
            let section = table.header().entries[mover - 1].section();
            let section = &table.bytes()[section.offset as usize..section.end() as usize];
            assert_eq!(piece[offset..offset + section.len()], *section);
            offset += section.len();
        }
        assert_eq!(offset, piece.len());
    }
}

#[test]
fn damage_anywhere_in_a_piece_is_noticed() {
    let directory = with_pieces(KEY, &[2]);
    let path = pair(2).piece_path(directory.path());
    let sound = std::fs::read(&path).unwrap();
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Piece::open(directory.path(), pair(2)).and_then(|mut piece| piece.check())
    };
    check(&sound).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        let error = check(&bytes).expect_err(&format!("byte {at}"));
        assert!(matches!(error, TableError::Damaged { .. }), "byte {at}: {error}");
        assert!(check(&sound[..at]).is_err(), "cut to {at}");
    }
    check(&[&sound[..], &[0]].concat()).unwrap_err();
    // The valid piece of another pair.
    let other = with_pieces(KEY, &[1]);
    let other = std::fs::read(pair(1).piece_path(other.path())).unwrap();
    check(&other).unwrap_err();
}

/// If leases fail, two processes compute the same pair.
#[test]
fn two_writers_of_the_same_piece_do_no_harm() {
    let directory = with_pieces(KEY, &[2]);
    let path = pair(2).piece_path(directory.path());
    let right = std::fs::read(&path).unwrap();
    let whole = Table::from_bytes(Path::new("whole"), whole()[&KEY.file_name()].clone()).unwrap();
    let mut writers = [(); 2].map(|()| PieceWriter::new(directory.path(), pair(2)).unwrap());
    for frame in frames(&whole, pair(2)) {
        writers.iter_mut().for_each(|writer| writer.write(&frame).unwrap());
    }
    for writer in writers {
        writer.finish().unwrap();
        assert!(std::fs::read(&path).unwrap() == right);
    }
    assert_eq!(leftovers(directory.path()), ["empty-capture-2-08.02.piece"]);
}

#[test]
fn a_join_that_was_killed_is_done_by_whoever_comes_next() {
    let whole = whole();
    let killed = || {
        // All pieces, as a process leaves them that is killed before it joins them.
        let directory = with_pieces(KEY, &[1, 2, 3, 4]);
        assert!(LayerFiles::read(directory.path(), KEY).unwrap().missing.is_empty());
        for (name, text) in [
            ("empty-capture-2-08.kalah.kalah-0123456789ab.tmp", "half a table"),
            ("empty-capture-2-08.03.piece.kalah-0123456789ab.tmp", ""),
            ("empty-capture-2-08.join.lease", "process 1 on nowhere, 0: 0000000007\n"),
            // A lease whose text was lost.
            ("empty-capture-2-08.03.lease", "\0\0\0\0\0\0\0\0"),
        ] {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    };
    // Builds the layer with the crate's other builder. Returns the number of computed positions.
    let ordinary = |directory: &tempfile::TempDir| {
        Builder::new(directory.path(), KEY).run(&Pulse::default(), &|_| {}).unwrap().positions
    };
    // A process that shares the build, after watching the lease for its two seconds.
    let directory = killed();
    let start = Instant::now();
    let report = shared(directory.path());
    assert!(report.pairs.is_empty() && report.joined == 1);
    assert!(start.elapsed() > Duration::from_secs(2));
    assert_complete(directory.path(), &whole, "a shared build");

    // An ordinary build uses no pieces, and removes them.
    let directory = killed();
    assert_eq!(ordinary(&directory), layer_positions(KEY.pits, KEY.seeds));
    assert_complete(directory.path(), &whole, "an ordinary build");

    // The process was killed after it gave the table its name and before it removed the pieces.
    let directory = killed();
    std::fs::write(KEY.path(directory.path()), &whole["empty-capture-2-08.kalah"]).unwrap();
    let report = shared(directory.path());
    assert!(report.pairs.is_empty() && report.joined == 0);
    assert_complete(directory.path(), &whole, "finished already");

    // An unfinished table of an ordinary build, whose layer other processes finished.
    std::fs::write(beside(&KEY.path(directory.path()), ".partial"), "KALAHTB\nunder way").unwrap();
    assert_eq!(ordinary(&directory), 0);
    assert_complete(directory.path(), &whole, "finished by others");
}

#[test]
fn a_claim_is_taken_over_only_when_it_gives_no_sign_of_life() {
    let directory = tempfile::tempdir().unwrap();
    let three = pair(3);
    let patience = Duration::from_secs(1);
    let mut others = Leases::new(patience);
    let lease = Leases::new(patience).pair(directory.path(), three).unwrap().unwrap();
    let start = Instant::now();
    while start.elapsed() < 2 * patience {
        assert!(others.pair(directory.path(), three).unwrap().is_none());
        std::thread::sleep(Duration::from_millis(50));
    }
    let path = directory.path().join("empty-capture-2-08.03.lease");
    let text = std::fs::read_to_string(&path).unwrap();
    drop(lease);
    assert!(!path.exists());

    // A killed holder leaves this lease. Those who have seen no other one wait from now on.
    std::fs::write(&path, &text).unwrap();
    let start = Instant::now();
    let mut others = Leases::new(patience);
    let taken = loop {
        if let Some(lease) = others.pair(directory.path(), three).unwrap() {
            break lease;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(start.elapsed() >= patience);
    assert_ne!(std::fs::read_to_string(&path).unwrap(), text);
    // Other work can be claimed in the meantime.
    assert!(others.pair(directory.path(), pair(4)).unwrap().is_some());
    assert!(others.join(directory.path(), KEY).unwrap().is_some());
    drop(taken);
    assert_eq!(leftovers(directory.path()), [""; 0]);
}
