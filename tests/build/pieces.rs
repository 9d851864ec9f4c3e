//! Pieces of layers: the format in docs/cluster.md, damage, and expired leases.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kalah::build::{Backend, BuildEvent, BuildPlan, BuildReport, Builder, build};
use kalah::file::beside;
use kalah::game::Rules;
use kalah::index::layer_positions;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{LayerFiles, Leases, PackedFrame, PairKey, Piece, PieceWriter, Table, TableError, TableKey};

use kalah_tests::files::{assert_same_files, files};

const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 8 };

fn cpu() -> Backend {
    Backend::Cpu(Isa::detect())
}

/// Builds the layers to that of `key` as one of several processes. Also returns true if a damaged piece was reported.
fn shared(directory: &Path, key: TableKey) -> (BuildReport, bool) {
    let reported_damage = AtomicBool::new(false);
    let on_event = |event: BuildEvent| {
        if matches!(event, BuildEvent::Damaged(_)) {
            reported_damage.store(true, Ordering::Relaxed);
        }
    };
    let builder = Builder::new(directory, key).backend(cpu()).shared(Duration::from_secs(2));
    let report = builder.run(&Pulse::default(), &on_event).unwrap();
    (report, reported_damage.into_inner())
}

fn pair(small: usize) -> PairKey {
    PairKey { layer: KEY, small }
}

/// Frames of a pair as a process computes them, from a finished layer.
fn frames(whole: &Table, pair: PairKey) -> impl Iterator<Item = PackedFrame> {
    pair.frames().map(|frame| {
        let packed = whole.frame(frame.mover).unwrap();
        let score = |index| packed.score(frame.ranks(index).0, frame.ranks(index).1).unwrap();
        let scores: Vec<u8> = (0..frame.positions()).map(score).collect();
        PackedFrame::pack(Isa::detect(), frame, &scores)
    })
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

/// Makes a directory with all layers below `key` and all its pieces, as a process leaves it that is killed before it
/// joins them.
fn unjoined(key: TableKey) -> tempfile::TempDir {
    let directory = with_pieces(key, &(1..=key.seeds / 2).collect::<Vec<_>>());
    assert!(LayerFiles::read(directory.path(), key).unwrap().missing.is_empty());
    directory
}

fn whole(key: TableKey) -> std::collections::BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    files(directory.path())
}

/// Names of the files other than tables, lock and log.
fn leftovers(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| [".piece", ".tmp", ".lease", ".partial"].iter().any(|end| name.ends_with(end))).collect()
}

/// Builds the layer in one process, with the crate's other builder.
fn ordinary(directory: &Path, key: TableKey) -> u64 {
    Builder::new(directory, key).run(&Pulse::default(), &|_| {}).unwrap().positions()
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
        let table = &whole(KEY)["empty-capture-2-08.kalah"];
        let table_number = |at: usize| u64::from_le_bytes(table[at..at + 8].try_into().unwrap()) as usize;
        let mut offset = first;
        for (index, mover) in [small, 8 - small].into_iter().take(frames).enumerate() {
            let (own, other) = (128 + 72 * index, 128 + 72 * (mover - 1));
            assert_eq!(piece[own + 8..own + 72], table[other + 8..other + 72]);
            assert_eq!(number(own) as usize, offset);
            // Frames follow each other: 3|5, 5|3, 4|4.
            let next =
                [(3, 5), (5, 4)].iter().find(|(frame, _)| *frame == mover).map(|(_, next)| 128 + 72 * (next - 1));
            let section = table_number(other)..next.map_or(table.len(), table_number);
            let bytes = section.len();
            assert_eq!(piece[offset..offset + bytes], table[section]);
            offset += bytes;
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

#[test]
fn damaged_pieces_are_computed_again_by_the_process_that_joins_them() {
    let whole = whole(KEY);
    let damage = |directory: &Path, small: usize| {
        let path = pair(small).piece_path(directory);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() - 100;
        bytes[at] ^= 4;
        std::fs::write(path, bytes).unwrap();
    };
    let directory = with_pieces(KEY, &[1, 2]);
    damage(directory.path(), 2);
    let (report, reported_damage) = shared(directory.path(), KEY);
    assert_eq!((report.pairs, report.joined, reported_damage), (vec![pair(3), pair(4)], 1, true));
    assert_same_files(&whole, &files(directory.path()), "joined");
    assert_eq!(leftovers(directory.path()), [""; 0]);
}

/// If leases fail, two processes compute the same pair.
#[test]
fn two_writers_of_the_same_piece_do_no_harm() {
    let directory = with_pieces(KEY, &[2]);
    let path = pair(2).piece_path(directory.path());
    let right = std::fs::read(&path).unwrap();
    let whole = Table::from_bytes(Path::new("whole"), whole(KEY)[&KEY.file_name()].clone()).unwrap();
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
    let whole = whole(KEY);
    let killed = || {
        let directory = unjoined(KEY);
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("empty-capture-2-08.kalah.kalah-0123456789ab.tmp", "half a table");
        write("empty-capture-2-08.03.piece.kalah-0123456789ab.tmp", "");
        write("empty-capture-2-08.join.lease", "process 1 on nowhere, 0: 0000000007\n");
        // A lease whose text was lost.
        std::fs::write(directory.path().join("empty-capture-2-08.03.lease"), [0; 8]).unwrap();
        directory
    };
    let check = |directory: &tempfile::TempDir, what: &str| {
        assert_same_files(&whole, &files(directory.path()), what);
        assert_eq!(leftovers(directory.path()), [""; 0], "{what}");
    };
    // A process that shares the build, after watching the lease for its two seconds.
    let directory = killed();
    let start = Instant::now();
    let (report, _) = shared(directory.path(), KEY);
    assert!(report.pairs.is_empty() && report.joined == 1);
    assert!(start.elapsed() > Duration::from_secs(2));
    check(&directory, "a shared build");

    // An ordinary build uses no pieces, and removes them.
    let directory = killed();
    assert_eq!(ordinary(directory.path(), KEY), layer_positions(KEY.pits, KEY.seeds));
    check(&directory, "an ordinary build");

    // The process was killed after it gave the table its name and before it removed the pieces.
    let directory = killed();
    std::fs::write(KEY.path(directory.path()), &whole["empty-capture-2-08.kalah"]).unwrap();
    let (report, _) = shared(directory.path(), KEY);
    assert!(report.pairs.is_empty() && report.joined == 0);
    check(&directory, "finished already");

    // An unfinished table of an ordinary build, whose layer other processes finished.
    std::fs::write(beside(&KEY.path(directory.path()), ".partial"), "KALAHTB\nunder way").unwrap();
    assert_eq!(ordinary(directory.path(), KEY), 0);
    check(&directory, "finished by others");
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

#[test]
fn a_plan_counts_what_is_missing() {
    let key = TableKey { rules: Rules::Standard, pits: 4, seeds: 11 };
    let directory = tempfile::tempdir().unwrap();
    let plan = |key| BuildPlan::new(directory.path(), key, &cpu(), 2);
    let all = plan(key);
    let positions = |seeds: &[usize]| seeds.iter().map(|&seeds| layer_positions(4, seeds)).sum::<u64>();
    assert_eq!(all.missing.iter().map(|layer| layer.key.seeds).collect::<Vec<_>>(), (2..=11).collect::<Vec<_>>());
    assert_eq!(all.positions, positions(&(2..=11).collect::<Vec<_>>()));
    assert_eq!(Some(all.memory), all.missing.iter().map(|layer| layer.memory).max());
    let seconds: f64 = all.missing.iter().map(|layer| layer.seconds).sum();
    assert!((all.seconds - seconds).abs() < 1e-9);
    // A layer reads all those below, whether they exist or not.
    build(directory.path(), key.rules, key.pits, 9).unwrap();
    std::fs::remove_file(TableKey { seeds: 7, ..key }.path(directory.path())).unwrap();
    let rest = plan(key);
    assert_eq!(rest.missing.iter().map(|layer| layer.key.seeds).collect::<Vec<_>>(), [7, 10, 11]);
    assert_eq!(rest.positions, positions(&[7, 10, 11]));
    assert_eq!(rest.missing[0], all.missing[5]);
    // Tables have the estimated sizes or slightly less.
    let bytes = |seeds| TableKey { seeds, ..key }.path(directory.path()).metadata().unwrap().len();
    for layer in all.missing.iter().filter(|layer| layer.key.seeds < 7) {
        assert!(bytes(layer.key.seeds) <= layer.disk, "{}", layer.key);
    }
    build(directory.path(), key.rules, key.pits, 11).unwrap();
    let none = plan(key);
    assert_eq!((none.missing.len(), none.positions, none.disk), (0, 0, 0));
}
