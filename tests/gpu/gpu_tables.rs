//! The GPU builder writes the CPU's files byte for byte, on every adapter and with any amount of memory, or reports the
//! reason why it cannot.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kalah::build::gpu::{GpuComputer, self_test};
use kalah::build::{
    ARRIVING_FRAMES, BuildError, ComputeError, Computer, Device, DeviceComputer, DeviceTraffic, SMALL_ARRIVING_FRAMES,
    measure,
};
use kalah::cancel::Stopped;
use kalah::game::{Position, Rules};
use kalah::gpu::{Gpu, GpuError, GpuOptions, Shortage};
use kalah::index::{Frame, game_row};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{PackedFrame, Table, TableKey, TableWriter, Tables};
use kalah::verify::{Fault, check_against};

use crate::adapter::{self, TestAdapter, gpu_error, limits};
use crate::builds::{assert_goes_on, assert_right, build, build_pairs, comparing, cpu, key, on, pairs_to, tables};
use kalah_tests::files::{assert_same_files, files, flip, sources};
use kalah_tests::tables::scores;

/// Boards and layers that are quick to build, and others for slow adapters. Those with two pits have exceptions.
const BOARDS: [(usize, usize); 8] = [(1, 20), (2, 21), (3, 12), (4, 10), (5, 9), (6, 10), (7, 6), (8, 6)];
const SMALL_BOARDS: [(usize, usize); 8] = [(1, 12), (2, 14), (3, 8), (4, 7), (5, 6), (6, 7), (7, 4), (8, 4)];

/// A layer to build with little memory.
const SHORT: TableKey = key(Rules::Standard, 6, 12);

/// Runs a test on each adapter with these layers, on a slow one only with the first.
fn each<const N: usize>(layers: [TableKey; N], test: impl Fn(&'static TestAdapter, TableKey)) {
    adapter::each(|adapter| {
        for key in layers.into_iter().take(if adapter.is_slow() { 1 } else { N }) {
            test(adapter, key);
        }
    });
}

fn frames(key: TableKey) -> Vec<Frame> {
    key.frames().collect()
}

/// Builds all layers on a device, and compares the files with the CPU's.
fn assert_builds_the_same(key: TableKey, device: &Arc<Gpu>, what: &str) {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, on(device)).unwrap();
    assert_right(directory.path(), key, &format!("on {}: {what}", device.report().name));
}

/// Computes the layers from `first` up on one computer, as a build does, and compares them with the CPU's. Returns the
/// traffic up to the end of each.
fn compute_layers(key: TableKey, device: &Arc<Gpu>, first: usize) -> Vec<DeviceTraffic> {
    let tables = tables(key);
    let mut computer = GpuComputer::new(Arc::clone(device), &tables, key.seeds).unwrap();
    let layer = |seeds: usize| {
        let table = tables.require(seeds).unwrap();
        computer.compute(&tables, &frames(table.key()), &Pulse::default(), &comparing(table)).unwrap();
        assert!(device.used() <= device.budget().unwrap_or(u64::MAX));
        computer.traffic()
    };
    (first..=key.seeds).map(layer).collect()
}

/// Bytes of all tables with up to `seeds` seeds, without the parts that only files have.
fn bytes_of(key: TableKey, seeds: usize) -> u64 {
    let tables = tables(key);
    let layers = tables.layers().iter().filter(|table| table.key().seeds <= seeds);
    let entries = layers.flat_map(|table| &table.header().entries);
    entries.map(|entry| entry.rows + 64 * entry.groups + entry.patch_bytes).sum()
}

/// Least memory with which a layer can be built, as the error states it.
fn least_memory(adapter: &TestAdapter, key: TableKey) -> u64 {
    let (device, directory) = (adapter.open(limits(Some(1), None)), tempfile::tempdir().unwrap());
    let built = build_pairs(directory.path(), key, on(&device), &|_, _| panic!("a pair is begun"));
    let error = built.unwrap_err();
    match gpu_error(&error) {
        Some(&GpuError::OutOfMemory { bytes, allowed: Some(1), shortage: Shortage::Allowed, .. }) => {
            assert_eq!(device.used(), 0);
            assert_eq!(directory.path().read_dir().unwrap().count(), 0, "nothing is left");
            bytes
        }
        _ => panic!("{error}"),
    }
}

/// On software adapters, shaders check every index by default. On a card they do not.
#[test]
fn layers_are_those_of_the_cpu_with_and_without_checks_of_indices() {
    adapter::each(|adapter| {
        let (boards, larger) = if adapter.is_slow() { (SMALL_BOARDS, (4, 5)) } else { (BOARDS, (6, 8)) };
        for rules in Rules::ALL {
            for (pits, seeds) in boards {
                let key = key(rules, pits, seeds);
                assert_builds_the_same(key, &adapter.shared(), "all at once");
                // As after an earlier run, lower frames come from files.
                let traffic = compute_layers(key, &adapter.shared(), seeds)[0];
                assert!(pits == 1 || traffic.uploaded > 0, "{key}");
            }
            for (pits, seeds) in [(2, 20), larger] {
                assert_builds_the_same(key(rules, pits, seeds), &adapter.unchecked(), "no checks");
            }
        }
    });
}

#[test]
fn with_the_least_memory_frames_are_given_up_and_loaded_again() {
    // Frames of the last layer do not stay on the device. So the layer must be a little larger before lower frames have
    // to go.
    let short = TableKey { seeds: SHORT.seeds + 1, ..SHORT };
    each([short, key(Rules::EmptyCapture, 3, 34), key(Rules::SKalaha, 4, 10)], |adapter, key| {
        let least = least_memory(adapter, key);
        let traffic = *compute_layers(key, &adapter.open(limits(Some(least), None)), 2).last().unwrap();
        if !key.rules.relays() {
            assert!(traffic.uploaded > 0, "{key}: everything stayed, choose a larger layer");
            let all = bytes_of(key, key.seeds);
            assert!(traffic.resident < all, "{key}: {} of {all} bytes stay", traffic.resident);
        }
        // With one byte less the device is refused.
        let (device, directory) = (adapter.open(limits(Some(least - 1), None)), tempfile::tempdir().unwrap());
        let error = build(directory.path(), key, on(&device)).unwrap_err();
        assert!(matches!(gpu_error(&error), Some(GpuError::OutOfMemory { .. })), "{error}");
    });
}

#[test]
fn a_device_holds_what_fits_beside_the_build() {
    adapter::each(|adapter| {
        let (least, lower) = (least_memory(adapter, SHORT), bytes_of(SHORT, SHORT.seeds));
        let holds = |memory| adapter.open(limits(Some(memory), None)).holds(SHORT.pits, SHORT.seeds, lower);
        assert!(!holds(least), "with the least memory, frames are loaded again");
        assert!(holds(4 * (least + lower)), "nothing is loaded again");
    });
}

#[test]
fn with_enough_memory_nothing_is_loaded_again() {
    adapter::each(|adapter| {
        for (seeds, traffic) in (2..).zip(compute_layers(SHORT, &adapter.shared(), 2)) {
            assert_eq!(traffic.uploaded, 0, "{seeds} seeds");
            // No other layer reads the frames of the last layer, so they do not stay.
            let kept = seeds.min(SHORT.seeds - 1);
            let least = bytes_of(SHORT, kept);
            let most = least + 64 * (kept * kept) as u64;
            assert!((least..=most).contains(&traffic.resident), "{seeds} seeds: {traffic:?}");
            assert!(traffic.downloaded >= bytes_of(SHORT, seeds));
        }
    });
}

/// Those frames stay that are read again soonest, so that few are loaded more than once in a layer.
#[test]
fn with_little_memory_few_frames_are_loaded_again() {
    adapter::each(|adapter| {
        // The frames that stay are the same on all adapters.
        if adapter.is_slow() {
            return;
        }
        let key = key(Rules::EmptyCapture, 6, 14);
        let (least, lower) = (least_memory(adapter, key), bytes_of(key, key.seeds - 1));
        // Both as percentages of all lower frames: the memory beside the least, and what the last layer may load.
        for (more, most) in [(0, 150), (25, 80)] {
            let layers = compute_layers(key, &adapter.open(limits(Some(least + lower * more / 100), None)), 2);
            let [.., before, last] = &layers[..] else { panic!("{} layers", layers.len()) };
            let loaded = last.uploaded - before.uploaded;
            assert!(loaded > 0 && 100 * loaded <= most * lower, "{more} %: {loaded} of {lower} bytes");
        }
    });
}

/// With one pit and no relays, a class of moves reads one lower frame or none.
#[test]
fn a_single_lower_frame_is_read_in_place() {
    adapter::each(|adapter| {
        let traffic = compute_layers(key(Rules::Standard, 1, 20), &adapter.shared(), 20)[0];
        assert!(traffic.uploaded > 0);
        // The layer's own frames are copied, in order to be downloaded.
        assert_eq!(traffic.copied, traffic.downloaded);
    });
}

/// Fails unless a build is refused before any computation, since the device cannot build the layer.
fn assert_unfit(key: TableKey, device: &Arc<Gpu>) {
    let directory = tempfile::tempdir().unwrap();
    let built = build_pairs(directory.path(), key, on(device), &|_, _| panic!("a pair is begun"));
    let (error, needed) = (built.unwrap_err(), format!("{} are needed", key.seeds));
    let is_limit = matches!(gpu_error(&error), Some(GpuError::Unfit { reason, .. }) if reason.contains(&needed));
    assert!(is_limit && error.to_string().contains("seeds"), "{key}: {error}");
}

/// As with frames of more than 2 GiB: no stage can use the scores at once. Then also one of the largest frames below is
/// read in parts, and a frame does not fit a buffer.
#[test]
fn frames_are_computed_read_and_packed_in_parts() {
    each([key(Rules::Standard, 6, 10), key(Rules::SKalaha, 4, 11), key(Rules::EmptyCapture, 4, 15)], |adapter, key| {
        let positions = key.frames().map(|frame| frame.positions()).max().unwrap();
        for (part, buffer) in [(None, None), (Some(positions / 20), Some(positions / 10))] {
            let open = |percent: u64| {
                let mut options = limits(None, Some(positions * percent / 100));
                (options.max_part, options.max_buffer) = (part, buffer);
                adapter.open(options)
            };
            assert_unfit(key, &open(5));
            let mut devices = (20..200).step_by(5).map(open);
            let device = devices.find(|device| device.require_layer(key.pits, key.seeds).is_ok()).unwrap();
            assert!((key.pits < 6 && part.is_some()) || device.max_binding() < positions, "{key}");
            // The last layer from files, and all layers from frames on the device.
            compute_layers(key, &device, key.seeds);
            assert_builds_the_same(key, &device, "in parts");
        }
    });
}

/// Writes a table with these scores.
fn write(directory: &Path, key: TableKey, mut scores: impl FnMut(Frame) -> Vec<u8>) {
    let mut writer = TableWriter::open(directory, key).unwrap();
    for frame in key.frames() {
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores(frame))).unwrap();
    }
    writer.finish().unwrap();
}

/// Random scores make exceptions of most groups.
#[test]
fn frames_full_of_exceptions_are_read_and_written() {
    each([key(Rules::SKalaha, 3, 24), key(Rules::Standard, 3, 36), key(Rules::EmptyCapture, 2, 48)], |adapter, key| {
        let lower = tempfile::tempdir().unwrap();
        let (lower, mut rng) = (lower.path(), fastrand::Rng::with_seed(5));
        for seeds in 2..key.seeds {
            let mut scores = |frame: Frame| (0..frame.positions()).map(|_| rng.u8(0..=seeds as u8)).collect();
            write(lower, TableKey { seeds, ..key }, &mut scores);
        }
        build(lower, key, cpu()).unwrap();
        let right = files(lower);
        let table = Table::open(key.path(lower)).unwrap();
        assert!(table.header().entries.iter().any(|entry| entry.patch_bytes > 0), "{key}");
        drop(table);
        let least = least_memory(adapter, key);
        // Operands and patches become larger than expected.
        for memory in [least + least / 2, u64::MAX] {
            std::fs::remove_file(key.path(lower)).unwrap();
            build(lower, key, on(&adapter.open(limits(Some(memory), None)))).unwrap();
            assert_same_files(&right, &files(lower), &format!("{key} with {memory} bytes"));
        }
    });
}

#[test]
fn a_build_can_change_between_cpu_and_gpu_at_any_pair() {
    each([key(Rules::SKalaha, 4, 6), key(Rules::Standard, 3, 8), key(Rules::EmptyCapture, 2, 9)], |adapter, key| {
        for stop in 1..=pairs_to(key.seeds) {
            for (first, second) in [(cpu(), on(&adapter.shared())), (on(&adapter.shared()), cpu())] {
                let what = format!("{} until pair {stop}, then {}", first.name(), second.name());
                let directory = tempfile::tempdir().unwrap();
                let built = build_pairs(directory.path(), key, first, &|number, pulse| {
                    if number == stop {
                        pulse.cancel.cancel();
                    }
                });
                assert!(matches!(built, Err(BuildError::Stopped(_))), "{what}: {built:?}");
                assert_goes_on(directory.path(), key, second, &what);
            }
        }
    });
}

#[test]
fn a_frame_alone_of_its_pair_is_computed() {
    each([key(Rules::Standard, 4, 9)], |adapter, key| {
        let tables = tables(key);
        let mut computer = GpuComputer::new(adapter.shared(), &tables, key.seeds).unwrap();
        let output = comparing(tables.require(key.seeds).unwrap());
        for frame in key.frames() {
            computer.compute(&tables, &[frame], &Pulse::default(), &output).unwrap();
        }
    });
}

/// As when the disk is full.
#[test]
fn when_no_more_frames_are_wanted_the_computation_ends() {
    each([key(Rules::EmptyCapture, 3, 10)], |adapter, key| {
        let tables = tables(key);
        let compare = comparing(tables.require(key.seeds).unwrap());
        let mut computer = GpuComputer::new(adapter.shared(), &tables, key.seeds).unwrap();
        for wanted in 0..key.frames().count() {
            let taken = AtomicUsize::new(0);
            let output = |packed: PackedFrame| {
                compare(packed)?;
                if taken.fetch_add(1, Ordering::Relaxed) < wanted { Ok(()) } else { Err(Stopped.into()) }
            };
            let computed = computer.compute(&tables, &frames(key), &Pulse::default(), &output);
            assert!(matches!(computed, Err(ComputeError::Stopped(_))), "{wanted} frames wanted: {computed:?}");
        }
        computer.compute(&tables, &frames(key), &Pulse::default(), &compare).unwrap();
    });
}

#[test]
fn a_device_waits_only_if_frames_are_taken_more_slowly_than_computed() {
    each([key(Rules::EmptyCapture, 3, 20)], |adapter, key| {
        let (tables, frames) = (tables(key), frames(key));
        let waited = |time: Duration| {
            let mut computer = GpuComputer::new(adapter.shared(), &tables, key.seeds).unwrap();
            // Things that are made once are made now.
            computer.compute(&tables, &frames, &Pulse::default(), &|_: PackedFrame| Ok(())).unwrap();
            computer.begin_measuring().unwrap();
            let slow = |_: PackedFrame| {
                std::thread::sleep(time);
                Ok(())
            };
            let start = Instant::now();
            computer.compute(&tables, &frames, &Pulse::default(), &slow).unwrap();
            (computer.traffic().waited, start.elapsed())
        };
        let (fast, all) = waited(Duration::ZERO);
        assert!(fast <= all / 4, "{fast:?} of {all:?}");
        // Some frames wait in buffers while one is taken.
        let waiting = frames.len() as u32 - (ARRIVING_FRAMES + SMALL_ARRIVING_FRAMES.0) as u32 - 1;
        // Several times as long as computing a frame takes; still longer if the machine became busy meanwhile.
        let times = [6, 12, 24, 48].map(|times| all * times / frames.len() as u32 + Duration::from_millis(200));
        let waits = |&time: &Duration| waited(time).0 >= time * waiting / 3;
        assert!(times.iter().any(waits), "it does not wait with {times:?} a frame");
    });
}

/// Shaders trust the scores that they read, so every copy to the device is compared with its checksums.
#[test]
fn damaged_scores_are_not_loaded_to_the_device() {
    each([key(Rules::EmptyCapture, 3, 9)], |adapter, key| {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key, cpu()).unwrap();
        let path = TableKey { seeds: 6, ..key }.path(directory.path());
        let offset = Table::open(&path).unwrap().header().entries[2].offset;
        flip(&path, offset as usize + 1, 2);
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let mut computer = GpuComputer::new(adapter.shared(), &tables, key.seeds).unwrap();
        let output = comparing(tables.require(key.seeds).unwrap());
        let error = computer.compute(&tables, &frames(key), &Pulse::default(), &output).unwrap_err().to_string();
        let expected = format!("its block of scores is damaged (byte {offset})");
        assert!(error.contains(&expected) && error.contains("empty-capture-3-06.kalah"), "{error}");
        // `kalah bench` refuses to measure with it too.
        let measured = measure(&on(&adapter.shared()), &tables, key.seeds, directory.path(), &Pulse::default());
        assert!(measured.unwrap_err().to_string().contains(&expected));
    });
}

/// Replaces the table of `key` by one with one wrong score and correct checksums. Returns the position of that score.
fn change_a_score(directory: &Path, key: TableKey) -> Position {
    let tables = tables(key);
    let changed = Frame { pits: key.pits, mover: key.seeds / 2 + 1, other: key.seeds - key.seeds / 2 - 1 };
    let ranks = (changed.mover_rows() as u32 / 2, changed.mirrored().mover_rows() as u32 / 2);
    std::fs::remove_file(key.path(directory)).unwrap();
    write(directory, key, |frame| {
        let mut scores = scores(tables.require(key.seeds).unwrap(), frame);
        if frame == changed {
            scores[frame.index(ranks.0, ranks.1) as usize] ^= 1;
        }
        scores
    });
    let row = |seeds, rank| game_row(key.pits, &tables.rows().unrank(seeds, rank)).unwrap();
    Position::new(row(changed.mover, ranks.0), row(changed.other, ranks.1), 0, 0).unwrap()
}

#[test]
fn a_check_on_the_gpu_finds_a_changed_score_and_no_other() {
    adapter::each(|adapter| {
        let device = on(&adapter.shared());
        for key in [key(Rules::Standard, 3, 9), key(Rules::SKalaha, 4, 7), key(Rules::EmptyCapture, 2, 20)] {
            let directory = tempfile::tempdir().unwrap();
            build(directory.path(), key, device.clone()).unwrap();
            let open = || Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
            let sound = open();
            for table in sound.layers() {
                let compared = check_against(&device, &sound, table.key().seeds, &Pulse::default()).unwrap();
                assert_eq!(compared, table.header().positions);
            }
            let expected = change_a_score(directory.path(), key);
            let changed = open();
            changed.require(key.seeds).unwrap().check().unwrap();
            match check_against(&device, &changed, key.seeds, &Pulse::default()).unwrap_err() {
                Fault::Score { key: reported, position, stored, right } => {
                    assert_eq!((reported, *position, stored), (key, expected, right ^ 1));
                }
                other => panic!("{other}"),
            }
        }
    });
}

/// Kernels that would take too long are run in parts, down to a row. This includes the kernels for relays.
#[test]
fn on_a_slow_device_more_and_smaller_submissions_make_the_same_files() {
    let mut slow = GpuOptions::default();
    // No submission is as short.
    slow.submission = Duration::from_nanos(1);
    let Some(devices) = [GpuOptions::default(), slow].into_iter().map(adapter::open).collect::<Option<Vec<_>>>() else {
        return;
    };
    for key in [key(Rules::Standard, 3, 8), key(Rules::SKalaha, 3, 7)] {
        let submissions: Vec<u64> = devices
            .iter()
            .map(|device| {
                self_test(device, key.rules).unwrap();
                let before = device.submissions();
                assert_builds_the_same(key, device, "in short submissions");
                device.submissions() - before
            })
            .collect();
        assert!(submissions[1] > 3 * submissions[0], "{key}: {submissions:?} submissions");
    }
}

#[test]
fn impatience_ends_a_build_but_makes_nothing_wrong() {
    let key = key(Rules::Standard, 3, 6);
    for microseconds in [0, 100, 1000] {
        let mut options = GpuOptions::default();
        options.patience = Duration::from_micros(microseconds);
        let Some(device) = adapter::open(options) else { return };
        let directory = tempfile::tempdir().unwrap();
        if let Err(error) = build(directory.path(), key, on(&device)) {
            assert!(matches!(gpu_error(&error), Some(GpuError::Hung(_))), "{microseconds} us: {error}");
        }
        // The same process goes on, with a device that it opens again or on the CPU.
        let again = match adapter::open(GpuOptions::default()) {
            Some(device) if microseconds == 0 => on(&device),
            _ => cpu(),
        };
        assert_goes_on(directory.path(), key, again, &format!("a patience of {microseconds} us"));
    }
}

/// No upload uses a method that loses the device when memory runs out.
#[test]
fn no_source_writes_through_the_queue() {
    let folders = ["crates/gpu/src/device", "crates/gpu/src/builder"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: Vec<_> = folders.iter().flat_map(|folder| sources(&root.join(folder))).collect();
    assert!(sources.len() > 20);
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        assert!(!code.any(|line| line.contains(".write_buffer")), "{}", path.display());
    }
}
