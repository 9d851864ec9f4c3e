//! The GPU builder writes the CPU's files byte for byte, on every adapter and with any amount of memory, or reports the
//! reason why it cannot.
#![cfg(feature = "gpu")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kalah::build::gpu::GpuComputer;
use kalah::build::{
    ARRIVING_FRAMES, Backend, BuildError, BuildEvent, Builder, ComputeError, Computer, Device, DeviceComputer,
    DeviceTraffic, FrameOutput, SMALL_ARRIVING_FRAMES,
};
use kalah::cancel::Stopped;
use kalah::game::Rules;
use kalah::gpu::{Gpu, GpuError, GpuOptions, Shortage};
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{PackedFrame, Table, TableKey, TableWriter, Tables};
use kalah::verify::{Fault, check_against};

use crate::adapter::{self, TestAdapter, gpu_error};
#[cfg(target_os = "linux")]
use crate::faults::Faults;
use kalah_tests::files::{assert_same_files, files};

/// Boards and layers that are quick to build. Those with two pits have exceptions.
const BOARDS: [(usize, usize); 8] = [(1, 20), (2, 21), (3, 12), (4, 10), (5, 9), (6, 10), (7, 6), (8, 6)];
/// The same for slow adapters.
const SMALL_BOARDS: [(usize, usize); 8] = [(1, 12), (2, 14), (3, 8), (4, 7), (5, 6), (6, 7), (7, 4), (8, 4)];

/// Returns all of these layers, on a slow adapter only the first.
fn some_of<const N: usize>(
    adapter: &TestAdapter,
    layers: [(Rules, usize, usize); N],
) -> impl Iterator<Item = (Rules, usize, usize)> {
    layers.into_iter().take(if adapter.is_slow() { 1 } else { N })
}

fn boards(adapter: &TestAdapter) -> [(usize, usize); 8] {
    if adapter.is_slow() { SMALL_BOARDS } else { BOARDS }
}

/// A layer to build with little memory.
const SHORT: TableKey = TableKey { rules: Rules::Standard, pits: 6, seeds: 12 };

fn cpu() -> Backend {
    Backend::Cpu(Isa::detect())
}

fn gpu(gpu: &Arc<Gpu>) -> Backend {
    Backend::Gpu(gpu.clone())
}

fn build(
    directory: &Path,
    key: TableKey,
    backend: Backend,
    on_event: &(dyn Fn(BuildEvent) + Sync),
) -> Result<(), BuildError> {
    Builder::new(directory, key).backend(backend).run(&Pulse::default(), on_event).map(drop)
}

/// Builds until the pair with this number begins, counting from 1.
fn build_up_to(directory: &Path, key: TableKey, backend: Backend, last: usize) -> Result<(), BuildError> {
    let (pulse, pairs) = (Pulse::default(), AtomicUsize::new(0));
    let run = Builder::new(directory, key).backend(backend).run(&pulse, &|event| {
        if matches!(event, BuildEvent::Pair(_)) && pairs.fetch_add(1, Ordering::Relaxed) + 1 == last {
            pulse.cancel.cancel();
        }
    });
    run.map(drop)
}

/// Files as the CPU builder writes them.
fn right_files(key: TableKey) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, cpu(), &|_| {}).unwrap();
    files(directory.path())
}

/// Builds all layers on a device, and compares the files with the CPU's.
fn assert_builds_the_same(key: TableKey, device: &Arc<Gpu>, what: &str) {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, gpu(device), &|_| {}).unwrap();
    let what = format!("{key} on {}: {what}", device.report().name);
    assert_same_files(&right_files(key), &files(directory.path()), &what);
}

/// Compares computed frames with correct tables.
struct Compare<'a>(&'a Table);

impl FrameOutput for Compare<'_> {
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        let entry = &self.0.header().entries[packed.frame.mover - 1];
        assert!(
            packed.section() == self.0.blocks().section_bytes(&entry.section()),
            "{:?} of {} seeds",
            packed.frame,
            self.0.key().seeds
        );
        Ok(())
    }
}

/// Traffic for one layer.
struct Layer {
    seeds: usize,
    traffic: DeviceTraffic,
}

/// Computes the layers from `first` up on one computer, as a build does, and compares them with the CPU's tables.
fn compute_layers(key: TableKey, device: &Arc<Gpu>, first: usize) -> Vec<Layer> {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, cpu(), &|_| {}).unwrap();
    let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    let mut computer = GpuComputer::new(Arc::clone(device), &tables, key.seeds).unwrap();
    let layer = |seeds: usize| {
        let table = tables.require(seeds).unwrap();
        let frames: Vec<Frame> = table.key().frames().collect();
        computer.compute(&tables, &frames, &Pulse::default(), &Compare(table)).unwrap();
        assert!(device.used() <= device.budget().unwrap_or(u64::MAX));
        Layer { seeds, traffic: computer.traffic() }
    };
    (first..=key.seeds).map(layer).collect()
}

/// Bytes of all tables with up to `seeds` seeds, without the parts that only files have.
fn bytes_of(key: TableKey, seeds: usize) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), TableKey { seeds, ..key }, cpu(), &|_| {}).unwrap();
    let tables = Tables::open(directory.path(), key.rules, key.pits, seeds).unwrap();
    let entries = tables.layers().iter().flat_map(|table| &table.header().entries);
    entries.map(|entry| entry.rows + 64 * entry.groups + entry.patch_bytes).sum()
}

/// Least memory with which a layer can be built, as the error states it.
fn least_memory(adapter: &TestAdapter, key: TableKey, max_binding: Option<u64>) -> u64 {
    let device = adapter.open(adapter::limits(Some(1), max_binding));
    let directory = tempfile::tempdir().unwrap();
    let pairs = AtomicUsize::new(0);
    let error = build(directory.path(), key, gpu(&device), &|event| {
        pairs.fetch_add(matches!(event, BuildEvent::Pair(_)).into(), Ordering::Relaxed);
    });
    let error = error.unwrap_err();
    match gpu_error(&error) {
        Some(&GpuError::OutOfMemory { bytes, allowed: Some(1), shortage: Shortage::Allowed, .. }) => {
            assert_eq!((pairs.into_inner(), device.used()), (0, 0), "no pair is begun");
            assert_eq!(directory.path().read_dir().unwrap().count(), 0, "nothing is left");
            bytes
        }
        _ => panic!("{error}"),
    }
}

#[test]
fn layers_are_those_of_the_cpu() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        for rules in Rules::ALL {
            for (pits, seeds) in boards(adapter) {
                assert_builds_the_same(TableKey { rules, pits, seeds }, &device, "all at once");
            }
        }
    });
}

/// On software adapters, shaders check every index by default. On a card they do not.
#[test]
fn without_checks_of_indices_layers_are_those_of_the_cpu() {
    adapter::each(|adapter| {
        let device = adapter.unchecked();
        for rules in Rules::ALL {
            for (pits, seeds) in [(2, 20), if adapter.is_slow() { (4, 5) } else { (6, 8) }] {
                assert_builds_the_same(TableKey { rules, pits, seeds }, &device, "no checks");
            }
        }
    });
}

#[test]
fn with_the_least_memory_frames_are_given_up_and_loaded_again() {
    adapter::each(|adapter| {
        // Frames of the last layer do not stay on the device. So the layer must be a little larger before lower frames
        // have to go.
        let short = (SHORT.rules, SHORT.pits, SHORT.seeds + 1);
        let layers = [short, (Rules::EmptyCapture, 3, 34), (Rules::SKalaha, 4, 10)];
        for (rules, pits, seeds) in some_of(adapter, layers) {
            let key = TableKey { rules, pits, seeds };
            let least = least_memory(adapter, key, None);
            let device = adapter.open(adapter::limits(Some(least), None));
            let layers = compute_layers(key, &device, 2);
            let last = layers.last().unwrap();
            if !rules.relays() {
                assert!(last.traffic.uploaded > 0, "{key}: everything stayed, choose a larger layer");
                let (resident, all) = (last.traffic.resident, bytes_of(key, seeds));
                assert!(resident < all, "{key}: {resident} of {all} bytes stay");
            }
            // With one byte less the device is refused.
            let device = adapter.open(adapter::limits(Some(least - 1), None));
            let directory = tempfile::tempdir().unwrap();
            let error = build(directory.path(), key, gpu(&device), &|_| {}).unwrap_err();
            assert!(matches!(gpu_error(&error), Some(GpuError::OutOfMemory { .. })), "{error}");
        }
    });
}

#[test]
fn a_device_holds_what_fits_beside_the_build() {
    adapter::each(|adapter| {
        let least = least_memory(adapter, SHORT, None);
        let holds = |memory: Option<u64>, bytes| {
            adapter.open(adapter::limits(memory, None)).holds(SHORT.pits, SHORT.seeds, bytes)
        };
        let lower = bytes_of(SHORT, SHORT.seeds);
        assert!(!holds(Some(least), lower), "with the least memory, frames are loaded again");
        assert!(holds(Some(4 * (least + lower)), lower), "nothing is loaded again");
    });
}

#[test]
fn with_enough_memory_nothing_is_loaded_again() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        let layers = compute_layers(SHORT, &device, 2);
        for Layer { seeds, traffic } in &layers {
            assert_eq!(traffic.uploaded, 0, "{seeds} seeds");
            // No other layer reads the frames of the last layer, so they do not stay.
            let kept = (*seeds).min(SHORT.seeds - 1);
            let most = bytes_of(SHORT, kept) + 64 * (kept * kept) as u64;
            assert!((bytes_of(SHORT, kept)..=most).contains(&traffic.resident), "{seeds} seeds: {traffic:?}");
            assert!(traffic.downloaded >= bytes_of(SHORT, *seeds));
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
        let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 14 };
        let (least, lower) = (least_memory(adapter, key, None), bytes_of(key, key.seeds - 1));
        // Both as percentages of all lower frames: the memory beside the least, and what the last layer may load.
        for (more, most) in [(0, 150), (25, 80)] {
            let device = adapter.open(adapter::limits(Some(least + lower * more / 100), None));
            let layers = compute_layers(key, &device, 2);
            let [.., before, last] = &layers[..] else { panic!("{} layers", layers.len()) };
            let loaded = last.traffic.uploaded - before.traffic.uploaded;
            assert!(loaded > 0 && 100 * loaded <= most * lower, "{more} %: {loaded} of {lower} bytes");
        }
    });
}

/// With one pit and no relays, a class of moves reads one lower frame or none.
#[test]
fn a_single_lower_frame_is_read_in_place() {
    adapter::each(|adapter| {
        let key = TableKey { rules: Rules::Standard, pits: 1, seeds: 20 };
        let traffic = compute_layers(key, &adapter.shared(), key.seeds)[0].traffic;
        assert!(traffic.uploaded > 0);
        // The layer's own frames are copied, in order to be downloaded.
        assert_eq!(traffic.copied, traffic.downloaded);
    });
}

#[test]
fn frames_that_an_earlier_run_made_are_loaded_from_their_files() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        for rules in Rules::ALL {
            for (pits, seeds) in boards(adapter) {
                let layers = compute_layers(TableKey { rules, pits, seeds }, &device, seeds);
                assert!(pits == 1 || layers[0].traffic.uploaded > 0, "{rules}, {pits} pits");
            }
        }
    });
}

#[test]
fn parts_that_a_stage_can_use_may_be_smaller_than_the_scores() {
    adapter::each(|adapter| {
        let layers = [(Rules::Standard, 6, 9), (Rules::EmptyCapture, 4, 15), (Rules::SKalaha, 4, 11)];
        for (rules, pits, seeds) in some_of(adapter, layers) {
            let (mut split, mut refused) = (0, 0);
            let key = TableKey { rules, pits, seeds };
            let largest = key.frames().map(|frame| frame.positions()).max().unwrap();
            let right = right_files(key);
            for percent in [5, 45, 80, 95] {
                let max_binding = largest * percent / 100;
                let device = adapter.open(adapter::limits(None, Some(max_binding)));
                assert!(device.max_binding() < largest, "scores are a byte each");
                let directory = tempfile::tempdir().unwrap();
                let begun = AtomicUsize::new(0);
                let built = build(directory.path(), key, gpu(&device), &|event| {
                    begun.fetch_add(matches!(event, BuildEvent::Pair(_)).into(), Ordering::Relaxed);
                });
                match built {
                    Ok(()) => {
                        split += 1;
                        let what = format!("{key}, parts of {max_binding} bytes");
                        assert_same_files(&right, &files(directory.path()), &what);
                    }
                    // A limit must show before any computation.
                    Err(error) if matches!(gpu_error(&error), Some(GpuError::Unfit { .. })) => {
                        refused += 1;
                        assert_eq!(begun.into_inner(), 0, "{key}, parts of {max_binding} bytes");
                    }
                    Err(other) => panic!("{key}: {other}"),
                }
            }
            assert!(split > 0 && refused > 0, "{key}: {split} builds in parts, {refused} refused");
        }
    });
}

/// As with frames of more than 2 GiB: no stage can use the scores at once, or one of the largest frames below. A frame
/// does not fit a buffer.
#[test]
fn frames_are_read_and_packed_in_parts() {
    adapter::each(|adapter| {
        let layers = [(Rules::Standard, 6, 10), (Rules::SKalaha, 4, 11), (Rules::EmptyCapture, 3, 20)];
        for (rules, pits, seeds) in some_of(adapter, layers) {
            let key = TableKey { rules, pits, seeds };
            let positions = key.frames().map(|frame| frame.positions()).max().unwrap();
            let open = |percent: u64| {
                let mut options = adapter::limits(None, Some(positions * percent / 100));
                options.max_part = Some(positions / 20);
                options.max_buffer = Some(positions / 10);
                adapter.open(options)
            };
            let mut devices = (20..200).step_by(10).map(open);
            let device = devices.find(|device| device.require_layer(pits, seeds).is_ok()).unwrap();
            assert!(pits < 6 || device.max_binding() < positions, "{key}");
            // The last layer from files, and all layers from frames on the device.
            compute_layers(key, &device, seeds);
            assert_builds_the_same(key, &device, "in parts");
        }
    });
}

/// Writes tables of all layers below that of `key` with random scores: most groups have exceptions.
fn write_random_layers(directory: &Path, key: TableKey) {
    let mut rng = fastrand::Rng::with_seed(5);
    for seeds in 2..key.seeds {
        let key = TableKey { seeds, ..key };
        let mut writer = TableWriter::open(directory, key).unwrap();
        for frame in key.frames() {
            let scores: Vec<u8> = (0..frame.positions()).map(|_| rng.u8(0..=seeds as u8)).collect();
            writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores)).unwrap();
        }
        writer.finish().unwrap();
    }
}

#[test]
fn frames_full_of_exceptions_are_read_and_written() {
    adapter::each(|adapter| {
        let layers = [(Rules::SKalaha, 3, 24), (Rules::Standard, 3, 36), (Rules::EmptyCapture, 2, 48)];
        for (rules, pits, seeds) in some_of(adapter, layers) {
            let key = TableKey { rules, pits, seeds };
            let lower = tempfile::tempdir().unwrap();
            let lower = lower.path();
            write_random_layers(lower, key);
            build(lower, key, cpu(), &|_| {}).unwrap();
            let right = files(lower);
            let tables = Tables::open(lower, rules, pits, seeds).unwrap();
            let patches: u64 =
                tables.require(seeds).unwrap().header().entries.iter().map(|entry| entry.patch_bytes).sum();
            assert!(patches > 0, "{key}");
            drop(tables);

            let least = least_memory(adapter, key, None);
            // Operands and patches become larger than expected.
            for memory in [least + least / 2, u64::MAX] {
                let device = adapter.open(adapter::limits(Some(memory), None));
                std::fs::remove_file(key.path(lower)).unwrap();
                build(lower, key, gpu(&device), &|_| {}).unwrap();
                assert_same_files(&right, &files(lower), &format!("{key} with {memory} bytes"));
            }
        }
    });
}

#[test]
fn a_layer_beyond_the_limits_is_refused() {
    adapter::each(|adapter| {
        let device = adapter.open(adapter::limits(None, Some(4096)));
        let directory = tempfile::tempdir().unwrap();
        let key = TableKey { rules: Rules::Standard, pits: 6, seeds: 12 };
        let error = build(directory.path(), key, gpu(&device), &|_| {}).unwrap_err();
        assert!(
            matches!(gpu_error(&error), Some(GpuError::Unfit { reason, .. }) if reason.contains("12 are needed")),
            "{error}"
        );
        assert!(error.to_string().contains("seeds"), "{error}");
    });
}

#[test]
fn a_build_can_change_between_cpu_and_gpu_at_any_pair() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        let layers = [(Rules::SKalaha, 4, 6), (Rules::Standard, 3, 8), (Rules::EmptyCapture, 2, 9)];
        for (rules, pits, seeds) in some_of(adapter, layers) {
            let key = TableKey { rules, pits, seeds };
            let right = right_files(key);
            let pairs = (2..=seeds).map(|seeds| seeds / 2).sum::<usize>();
            for stop in 1..=pairs {
                for (first, second) in [(cpu(), gpu(&device)), (gpu(&device), cpu())] {
                    let what = format!("{key}, {} until pair {stop}, then {}", first.name(), second.name());
                    let directory = tempfile::tempdir().unwrap();
                    let error = build_up_to(directory.path(), key, first, stop).unwrap_err();
                    assert!(matches!(error, BuildError::Stopped(_)), "{what}: {error}");
                    build(directory.path(), key, second, &|_| {}).unwrap();
                    assert_same_files(&right, &files(directory.path()), &what);
                }
            }
        }
    });
}

#[test]
fn a_frame_alone_of_its_pair_is_computed() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        let key = TableKey { rules: Rules::Standard, pits: 4, seeds: 9 };
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key, cpu(), &|_| {}).unwrap();
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let mut computer = GpuComputer::new(device, &tables, key.seeds).unwrap();
        let table = tables.require(key.seeds).unwrap();
        for frame in key.frames() {
            computer.compute(&tables, &[frame], &Pulse::default(), &Compare(table)).unwrap();
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_lost_device_had_finished_is_kept_and_another_or_the_cpu_goes_on() {
    let test = "gpu_tables::what_a_lost_device_had_finished_is_kept_and_another_or_the_cpu_goes_on";
    let Some(faults) = Faults::of(test) else { return };
    adapter::each(|adapter| {
        let key = TableKey { rules: Rules::Standard, pits: 4, seeds: 9 };
        let right = right_files(key);
        let pairs = (2..=key.seeds).map(|seeds| seeds / 2).sum::<usize>();
        // The device is lost at pairs from the first to the last. Lower frames are on the device or, since the first
        // run left some, in files.
        for (kept, lost_at) in [(1, 1), (1, 2), (1, pairs / 2), (1, pairs), (6, 1), (6, 3), (8, 2)] {
            let device = adapter.open(GpuOptions::default());
            let directory = tempfile::tempdir().unwrap();
            let directory = directory.path();
            if kept > 1 {
                build(directory, TableKey { seeds: kept, ..key }, cpu(), &|_| {}).unwrap();
            }
            let begun = AtomicUsize::new(0);
            let lost = build(directory, key, gpu(&device), &|event| {
                if matches!(event, BuildEvent::Pair(_)) && begun.fetch_add(1, Ordering::Relaxed) + 1 == lost_at {
                    faults.lose();
                }
            });
            match lost.unwrap_err() {
                error if matches!(gpu_error(&error), Some(GpuError::Lost(_))) => {
                    assert!(error.to_string().contains("lost"), "{error}");
                }
                other => panic!("lost at pair {lost_at}: {other}"),
            }
            for (name, bytes) in files(directory) {
                assert!(name.ends_with(".partial") || bytes == right[&name], "{name}");
            }
            // The layers below that of the pair are complete, except that the last frames of the one directly below may
            // have been on the way. Those with 2 to `seeds` seeds have this many pairs.
            let mut whole = kept.max(1);
            let mut done = 0;
            while done + whole.div_ceil(2) < lost_at {
                done += whole.div_ceil(2);
                whole += 1;
            }
            let tables = files(directory).keys().filter(|name| !name.ends_with(".partial")).count();
            let least = (whole - 1).saturating_sub(usize::from(whole > kept.max(1)));
            assert!((least..whole).contains(&tables), "lost at pair {lost_at} after {kept} seeds: {tables} tables");
            faults.end();
            // The same command resumes, on a newly opened device or on the CPU.
            let again = if lost_at % 2 == 1 { gpu(&adapter.open(GpuOptions::default())) } else { cpu() };
            build(directory, key, again, &|_| {}).unwrap();
            assert_same_files(&right, &files(directory), &format!("lost at pair {lost_at}"));
        }
    });
}

/// Fails after some frames, as a writer does when the disk is full.
struct Full<'a>(Compare<'a>, AtomicUsize);

impl FrameOutput for Full<'_> {
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.0.take(packed)?;
        let left = self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        Ok(left.map(drop).map_err(|_| Stopped)?)
    }
}

#[test]
fn when_no_more_frames_are_wanted_the_computation_ends() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 10 };
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key, cpu(), &|_| {}).unwrap();
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let table = tables.require(key.seeds).unwrap();
        let frames: Vec<Frame> = key.frames().collect();
        let mut computer = GpuComputer::new(device, &tables, key.seeds).unwrap();
        for wanted in 0..frames.len() {
            let output = Full(Compare(table), AtomicUsize::new(wanted));
            let computed = computer.compute(&tables, &frames, &Pulse::default(), &output);
            assert!(matches!(computed, Err(ComputeError::Stopped(_))), "{wanted} frames wanted: {computed:?}");
        }
        computer.compute(&tables, &frames, &Pulse::default(), &Compare(table)).unwrap();
    });
}

/// Takes each frame in this time.
struct Slow(Duration);

impl FrameOutput for Slow {
    fn take(&self, _: PackedFrame) -> Result<(), ComputeError> {
        std::thread::sleep(self.0);
        Ok(())
    }
}

#[test]
fn a_device_waits_only_if_frames_are_taken_more_slowly_than_computed() {
    adapter::each(|adapter| {
        let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 20 };
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key, cpu(), &|_| {}).unwrap();
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let frames: Vec<Frame> = key.frames().collect();
        let waited = |time: Duration| {
            let mut computer = GpuComputer::new(adapter.shared(), &tables, key.seeds).unwrap();
            // Things that are made once are made now.
            computer.compute(&tables, &frames, &Pulse::default(), &Slow(Duration::ZERO)).unwrap();
            computer.begin_measuring().unwrap();
            let start = Instant::now();
            computer.compute(&tables, &frames, &Pulse::default(), &Slow(time)).unwrap();
            (computer.traffic().waited, start.elapsed())
        };
        let (fast, all) = waited(Duration::ZERO);
        assert!(fast <= all / 4, "{fast:?} of {all:?}");
        // Several times as long as computing a frame takes, also on a busy machine.
        let time = all * 6 / frames.len() as u32 + Duration::from_millis(200);
        let (slow, _) = waited(time);
        // Some frames wait in buffers while one is taken.
        let waiting = (ARRIVING_FRAMES + SMALL_ARRIVING_FRAMES.0) as u32;
        assert!(slow >= time * (frames.len() as u32 - waiting - 1) / 3, "{slow:?} with {time:?} a frame");
    });
}

/// Shaders trust the scores that they read, so every copy to the device is compared with its checksums.
#[test]
fn damaged_scores_are_not_loaded_to_the_device() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 9 };
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key, cpu(), &|_| {}).unwrap();
        let lower = TableKey { seeds: 6, ..key };
        let path = lower.path(directory.path());
        let entry = Table::open(&path).unwrap().header().entries[2];
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[entry.offset as usize + 1] ^= 2;
        std::fs::write(&path, bytes).unwrap();
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let frames: Vec<Frame> = key.frames().collect();
        let mut computer = GpuComputer::new(Arc::clone(&device), &tables, key.seeds).unwrap();
        let output = Compare(tables.require(key.seeds).unwrap());
        let error = computer.compute(&tables, &frames, &Pulse::default(), &output).unwrap_err().to_string();
        let expected = format!("its block of scores is damaged (byte {})", entry.offset);
        assert!(error.contains(&expected) && error.contains("empty-capture-3-06.kalah"), "{error}");
        // `kalah bench` refuses to measure with it too.
        let measured = kalah::build::measure(&gpu(&device), &tables, key.seeds, directory.path(), &Pulse::default());
        assert!(measured.unwrap_err().to_string().contains(&expected));
    });
}

/// Replaces the table of `key` by one with one wrong score and correct checksums. Returns the frame and ranks of that
/// score.
fn change_a_score(directory: &Path, key: TableKey) -> (Frame, u32, u32) {
    let path = key.path(directory);
    let table = Table::open(&path).unwrap();
    std::fs::create_dir(directory.join("changed")).unwrap();
    let mut writer = TableWriter::open(&directory.join("changed"), key).unwrap();
    let changed = Frame { pits: key.pits, mover: key.seeds / 2 + 1, other: key.seeds - key.seeds / 2 - 1 };
    let (mover_rank, other_rank) = (changed.mover_rows() as u32 / 2, changed.mirrored().mover_rows() as u32 / 2);
    for frame in key.frames() {
        let scores = table.frame(frame.mover).unwrap();
        let mut all: Vec<u8> = (0..frame.positions())
            .map(|index| frame.ranks(index))
            .map(|(mover, other)| scores.score(mover, other).unwrap())
            .collect();
        if frame == changed {
            all[frame.index(mover_rank, other_rank) as usize] ^= 1;
        }
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &all)).unwrap();
    }
    writer.finish().unwrap();
    std::fs::rename(key.path(&directory.join("changed")), path).unwrap();
    (changed, mover_rank, other_rank)
}

#[test]
fn a_check_on_the_gpu_finds_a_changed_score_and_no_other() {
    adapter::each(|adapter| {
        let device = adapter.shared();
        for (rules, pits, seeds) in [(Rules::Standard, 3, 9), (Rules::SKalaha, 4, 7), (Rules::EmptyCapture, 2, 20)] {
            let key = TableKey { rules, pits, seeds };
            let directory = tempfile::tempdir().unwrap();
            let directory = directory.path();
            build(directory, key, gpu(&device), &|_| {}).unwrap();
            let tables = || Tables::open(directory, rules, pits, seeds).unwrap();
            let sound = tables();
            for table in sound.layers() {
                let layer = table.key().seeds;
                let compared = check_against(&gpu(&device), &sound, layer, &Pulse::default()).unwrap();
                assert_eq!(compared, table.header().positions);
            }
            drop(sound);
            let (frame, mover, other) = change_a_score(directory, key);
            let changed = tables();
            changed.require(seeds).unwrap().check().unwrap();
            match check_against(&gpu(&device), &changed, seeds, &Pulse::default()).unwrap_err() {
                Fault::Score { key: reported, position, stored, right } => {
                    assert_eq!((reported, stored), (key, right ^ 1));
                    let rows = changed.rows();
                    let row = |seeds, rank| kalah::index::game_row(pits, &rows.unrank(seeds, rank)).unwrap();
                    let rows = (row(frame.mover, mover), row(frame.other, other));
                    assert_eq!(*position, kalah::game::Position::new(rows.0, rows.1, 0, 0).unwrap());
                }
                other => panic!("{other}"),
            }
        }
    });
}
