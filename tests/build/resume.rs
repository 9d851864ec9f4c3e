//! A build writes the same bytes on every machine, and after any interruption.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::{Backend, BuildError, BuildEvent, BuildReport, Builder};
use kalah::file::beside;
use kalah::game::Rules;
use kalah::index::layer_positions;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use kalah_tests::files::{assert_same_files, files};
use kalah_tests::tables::built;

/// Tests do a fifth when they are not optimised.
const SLOWER: usize = if cfg!(debug_assertions) { 5 } else { 1 };

/// Boards and layers that are quick to build. Those with two pits have exceptions.
const BOARDS: [(usize, usize); 7] = [(1, 12), (2, 21), (3, 10), (4, 8), (6, 7), (7, 6), (8, 6)];

fn run(directory: &Path, key: TableKey, stop_at_pair: usize) -> Result<BuildReport, BuildError> {
    let builder = Builder::new(directory, key);
    let (pulse, pairs) = (Pulse::default(), AtomicUsize::new(0));
    builder.run(&pulse, &|event| {
        if matches!(event, BuildEvent::Pair(_)) && pairs.fetch_add(1, Ordering::Relaxed) + 1 == stop_at_pair {
            pulse.cancel.cancel();
        }
    })
}

/// Builds all layers up to `key`.
fn build(directory: &Path, key: TableKey) -> BuildReport {
    run(directory, key, usize::MAX).unwrap()
}

fn partial_path(directory: &Path, key: TableKey) -> std::path::PathBuf {
    beside(&key.path(directory), ".partial")
}

/// Threads for a build.
fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn files_do_not_depend_on_threads_or_instruction_set() {
    for rules in Rules::ALL {
        for (pits, seeds) in BOARDS {
            let mut first = None;
            for (isa, threads) in Isa::available().flat_map(|isa| [1, 2, 3].map(|threads| (isa, threads))) {
                let directory = tempfile::tempdir().unwrap();
                let builder =
                    Builder::new(directory.path(), TableKey { rules, pits, seeds }).backend(Backend::Cpu(isa));
                pool(threads).install(|| builder.run(&Pulse::default(), &|_| {})).unwrap();
                let files = files(directory.path());
                assert_eq!(files.len(), seeds - 1);
                let what = format!("{rules}, {pits} pits, {threads} threads, {isa:?}");
                assert_same_files(first.get_or_insert_with(|| files.clone()), &files, &what);
            }
        }
    }
}

#[test]
fn a_build_stopped_at_any_pair_goes_on_to_the_same_files() {
    for (rules, pits, seeds) in [(Rules::EmptyCapture, 2, 9), (Rules::Standard, 3, 8), (Rules::SKalaha, 6, 6)] {
        let key = TableKey { rules, pits, seeds };
        let whole = files(built(&[(rules, pits, seeds)]));
        let pairs = (2..=seeds).map(|seeds| seeds / 2).sum::<usize>();
        for stop in 1..=pairs {
            let directory = tempfile::tempdir().unwrap();
            match run(directory.path(), key, stop).unwrap_err() {
                BuildError::Stopped(stopped) => assert!(partial_path(directory.path(), stopped).exists()),
                other => panic!("{other}"),
            }
            build(directory.path(), key);
            assert_same_files(&whole, &files(directory.path()), &format!("{key} stopped at pair {stop}"));
        }
        // No pair follows the last one, so this build finishes.
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), key, pairs + 1).unwrap();

        // The build is stopped repeatedly, each time after one more pair.
        let directory = tempfile::tempdir().unwrap();
        let mut runs = 1;
        while run(directory.path(), key, 2).is_err() {
            runs += 1;
        }
        assert_eq!(runs, pairs, "every run finishes one pair");
        assert_same_files(&whole, &files(directory.path()), "stopped at every pair");
    }
}

#[test]
fn pairs_that_are_computed_together_give_the_same_files_after_any_stop() {
    // Only from 13 seeds on does this board have several pairs of frames with enough positions.
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 14 };
    let whole = tempfile::tempdir().unwrap();
    pool(1).install(|| build(whole.path(), key));
    let whole = files(whole.path());
    for (threads, stop) in [2, 3].into_iter().flat_map(|threads| (1..=key.seeds / 2).map(move |stop| (threads, stop))) {
        pool(threads).install(|| {
            let directory = tempfile::tempdir().unwrap();
            build(directory.path(), TableKey { seeds: key.seeds - 1, ..key });
            assert!(matches!(run(directory.path(), key, stop), Err(BuildError::Stopped(_))));
            build(directory.path(), key);
            assert_same_files(&whole, &files(directory.path()), &format!("{threads} threads, stopped at pair {stop}"));
        });
    }
}

/// A directory with all layers below a layer, the finished file of that layer, and a partial file without the last
/// pair.
struct Stopped {
    directory: tempfile::TempDir,
    key: TableKey,
    finished: Vec<u8>,
    partial: Vec<u8>,
}

impl Stopped {
    fn new(key: TableKey) -> Stopped {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), TableKey { seeds: key.seeds - 1, ..key });
        run(directory.path(), key, key.seeds / 2).unwrap_err();
        let partial = std::fs::read(partial_path(directory.path(), key)).unwrap();
        build(directory.path(), key);
        let finished = std::fs::read(key.path(directory.path())).unwrap();
        assert!(partial.len() < finished.len());
        Stopped { directory, key, finished, partial }
    }

    /// Positions of the last pair.
    fn last(&self) -> u64 {
        self.key.frames().skip(self.key.seeds / 2 * 2 - 2).map(|frame| frame.positions()).sum()
    }

    /// Returns true if a build that finds this partial file writes the same finished file. Also returns the number of
    /// positions that it computed.
    fn ends_the_same(&self, partial: &[u8]) -> (bool, u64) {
        let (directory, key) = (self.directory.path(), self.key);
        let path = key.path(directory);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(partial_path(directory, key), partial).unwrap();
        let report = build(directory, key);
        assert!(!partial_path(directory, key).exists());
        (std::fs::read(path).unwrap() == self.finished, report.positions)
    }
}

/// Small layers. The first has exceptions.
const STOPPED: [TableKey; 2] = [
    TableKey { rules: Rules::EmptyCapture, pits: 2, seeds: 21 },
    TableKey { rules: Rules::Standard, pits: 3, seeds: 9 },
];

#[test]
fn a_partial_file_cut_anywhere_goes_on_to_the_same_file_and_keeps_what_is_left() {
    for key in STOPPED {
        let stopped = Stopped::new(key);
        let mut least = u64::MAX;
        for length in (0..stopped.partial.len()).step_by(17 * SLOWER).chain([stopped.partial.len()]) {
            let (same, computed) = stopped.ends_the_same(&stopped.partial[..length]);
            assert!(same, "{key} cut to {length}");
            assert!(computed <= least, "{key}: more is kept of {length} bytes than of fewer");
            least = computed;
        }
        assert_eq!(least, stopped.last(), "of the whole partial file everything is kept");
        // A finished file is only renamed. The header is written last.
        let unfinished = [&stopped.partial[..128], &stopped.finished[128..]].concat();
        for finished in [&stopped.finished, &unfinished] {
            assert_eq!(stopped.ends_the_same(finished), (true, 0));
        }
    }
}

/// The parts of a frame are written in any order, and its entry after them.
#[test]
fn any_parts_of_a_frame_without_an_entry_go_on_to_the_same_file() {
    let mut rng = fastrand::Rng::with_seed(3);
    for key in STOPPED {
        let stopped = Stopped::new(key);
        let written = stopped.partial.len();
        for _ in 0..20 {
            // Space is reserved for the whole frame, or for less.
            let mut partial = stopped.partial.clone();
            partial.resize(rng.usize(written + 1..=stopped.finished.len()), 0);
            for (part, right) in partial.chunks_mut(64).zip(stopped.finished.chunks(64)).skip(written / 64) {
                if rng.bool() {
                    part.copy_from_slice(&right[..part.len()]);
                }
            }
            assert_eq!(stopped.ends_the_same(&partial), (true, stopped.last()), "{key}");
        }
    }
}

/// A layer waits for the disk while the next one is computed. A power failure may lose any part of both.
#[test]
fn what_is_left_of_two_unfinished_layers_goes_on_to_the_same_files() {
    for key in STOPPED {
        let stopped = Stopped::new(key);
        let directory = stopped.directory.path();
        let below = TableKey { seeds: key.seeds - 1, ..key };
        let whole = std::fs::read(below.path(directory)).unwrap();
        let both = layer_positions(key.pits, key.seeds) + layer_positions(key.pits, below.seeds);
        let mut random = fastrand::Rng::with_seed(18);
        for lost in 0..20 {
            let mut left = whole.clone();
            // The power failure loses nothing, everything, the end, or some bytes, which then are zero.
            let from = random.usize(..whole.len());
            match lost {
                0 => {}
                1 => left.clear(),
                2..8 => left.truncate(from),
                _ => left[from..whole.len().min(from + 200)].fill(0),
            }
            std::fs::remove_file(below.path(directory)).unwrap();
            std::fs::write(partial_path(directory, below), &left).unwrap();
            let (same, computed) = stopped.ends_the_same(&stopped.partial);
            assert!(same, "{key}: {lost}, from {from}");
            assert_eq!(std::fs::read(below.path(directory)).unwrap(), whole, "{below}: {lost}, from {from}");
            match lost {
                0 => assert_eq!(computed, stopped.last(), "the build resumes both layers"),
                1 => assert_eq!(computed, both, "the build uses no frame of either layer"),
                _ => {}
            }
        }
    }
}

#[test]
fn damage_before_the_frames_of_a_partial_file_is_not_taken_over() {
    for key in STOPPED {
        let stopped = Stopped::new(key);
        assert!(key.pits != 2 || Table::open(key.path(stopped.directory.path())).unwrap().header().exceptions() > 0);
        for at in (0..(128 + 72 * (key.seeds - 1)).next_multiple_of(64)).step_by(7 * SLOWER) {
            for partial in [&stopped.partial, &stopped.finished] {
                let mut bytes = partial.clone();
                bytes[at] ^= 1 << (at % 8);
                assert!(stopped.ends_the_same(&bytes).0, "{key} byte {at}");
            }
        }
        for entry in 0..key.seeds - 1 {
            // Bytes of patches, whose end padding may hide, and exceptions.
            for (field, change) in [(3, 1i64), (3, 2), (3, 5), (3, -1), (3, -7), (4, 1), (4, -1)] {
                let mut bytes = stopped.finished.clone();
                let count: &mut [u8; 8] = bytes[128 + 72 * entry + 8 * field..].first_chunk_mut().unwrap();
                *count = i64::from_le_bytes(*count).wrapping_add(change).to_le_bytes();
                assert!(stopped.ends_the_same(&bytes).0, "{key} entry {entry}, field {field} changed by {change}");
            }
        }
    }
}

#[test]
fn a_partial_file_damaged_anywhere_goes_on_to_the_same_file() {
    for key in STOPPED {
        let stopped = Stopped::new(key);
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300 / SLOWER as u32) };
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
        let length = any::<prop::sample::Index>();
        let more = prop::collection::vec(any::<u8>(), 0..100);
        let damages = (any::<bool>(), changes, length, any::<bool>(), more);
        TestRunner::new(config)
            .run(&damages, |(finished, changes, length, cut, more)| {
                let mut bytes = if finished { stopped.finished.clone() } else { stopped.partial.clone() };
                for (at, value) in changes {
                    let at = at.index(bytes.len());
                    bytes[at] = value;
                }
                if cut {
                    // Without the magic number it would be the file of somebody else.
                    bytes.truncate(length.index(bytes.len()).max(8));
                }
                bytes.extend(more);
                prop_assert!(stopped.ends_the_same(&bytes).0);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn a_partial_file_of_another_table_is_not_taken_over() {
    let stopped = Stopped::new(STOPPED[1]);
    for key in [
        TableKey { seeds: 8, ..stopped.key },
        TableKey { seeds: 10, ..stopped.key },
        TableKey { rules: Rules::EmptyCapture, ..stopped.key },
        TableKey { pits: 2, ..stopped.key },
    ] {
        let other = Stopped::new(key);
        for foreign in [&other.partial, &other.finished] {
            assert_eq!(stopped.ends_the_same(foreign), (true, layer_positions(stopped.key.pits, stopped.key.seeds)));
        }
    }
}
