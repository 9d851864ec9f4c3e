//! A layer begins while the last frames of the layer below arrive and are written.
#![cfg(feature = "gpu")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kalah::build::{
    ArrivingFrame, Backend, BuildError, BuildEvent, Builder, ComputeError, Computer, Device, DeviceComputer,
    DeviceError, DeviceTraffic, FrameOutput,
};
use kalah::cancel::Stopped;
use kalah::file::beside;
use kalah::game::Rules;
use kalah::gpu::{Gpu, GpuError};
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{FrameMemory, PackedFrame, TableKey, Tables};
use parking_lot::{Condvar, Mutex};

use crate::adapter;
use kalah_tests::files::{assert_same_files, files};

/// Contents of files by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// Longer than any step of a test takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Number of frames of all layers up to that of `seeds` seeds, and of pairs.
fn frames_to(seeds: usize) -> usize {
    (2..=seeds).map(|seeds| seeds - 1).sum()
}

fn pairs_to(seeds: usize) -> usize {
    (2..=seeds).map(|seeds| seeds / 2).sum()
}

/// Called before a frame is collected, with the number of frames before it.
type Arrive = Box<dyn Fn(usize) -> Result<(), ComputeError> + Send + Sync>;

/// A GPU whose frames arrive later.
struct Held {
    device: Arc<Gpu>,
    arrive: Arrive,
    /// True if a layer ends only when all of its frames have arrived.
    awaits_all: bool,
    /// Frames that have arrived.
    arrived: AtomicUsize,
    /// For each layer, the time from its last frame to the first pair of the next one.
    gaps: Arc<Mutex<Vec<Duration>>>,
}

impl Held {
    fn new(device: Arc<Gpu>, arrive: impl Fn(usize) -> Result<(), ComputeError> + Send + Sync + 'static) -> Held {
        let (arrived, gaps) = (AtomicUsize::new(0), Arc::default());
        Held { device, arrive: Box::new(arrive), awaits_all: false, arrived, gaps }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device.fmt(f)
    }
}

impl Device for Held {
    fn name(&self) -> &str {
        Device::name(&*self.device)
    }

    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError> {
        let computer = Arc::clone(&self.device).computer(tables, seeds)?;
        Ok(Box::new(HeldComputer { held: self, computer, frames: AtomicUsize::new(0), ended: Mutex::new(None) }))
    }

    fn require_layer(&self, pits: usize, seeds: usize) -> Result<(), DeviceError> {
        self.device.require_layer(pits, seeds)
    }

    fn least_memory(&self, pits: usize, seeds: usize) -> u64 {
        self.device.least_memory(pits, seeds)
    }

    fn holds(&self, pits: usize, seeds: usize, bytes: u64) -> bool {
        self.device.holds(pits, seeds, bytes)
    }

    fn rate(&self, relays: bool) -> f64 {
        self.device.rate(relays)
    }
}

struct HeldComputer {
    held: Arc<Held>,
    computer: Box<dyn DeviceComputer>,
    frames: AtomicUsize,
    /// When the device ended a layer.
    ended: Mutex<Option<Instant>>,
}

impl Computer for HeldComputer {
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        let HeldComputer { held, computer, frames: number, ended } = self;
        let output = HeldOutput { output, held, number, ended };
        computer.compute_ahead(tables, frames, pulse, &output)?;
        while held.awaits_all && held.arrived.load(Ordering::Relaxed) < number.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl DeviceComputer for HeldComputer {
    fn begin_measuring(&mut self) -> Result<(), DeviceError> {
        self.computer.begin_measuring()
    }

    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>> {
        self.computer.stage_seconds()
    }

    fn traffic(&self) -> DeviceTraffic {
        self.computer.traffic()
    }
}

struct HeldOutput<'a> {
    output: &'a dyn FrameOutput,
    held: &'a Arc<Held>,
    number: &'a AtomicUsize,
    ended: &'a Mutex<Option<Instant>>,
}

impl FrameOutput for HeldOutput<'_> {
    fn pair(&self, frame: Frame) {
        if frame.mover == 1
            && let Some(ended) = self.ended.lock().take()
        {
            self.held.gaps.lock().push(ended.elapsed());
        }
        self.output.pair(frame);
    }

    fn memory(&self) -> FrameMemory {
        self.output.memory()
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.output.take(packed)
    }

    fn receive(&self, frame: ArrivingFrame) -> Result<(), ComputeError> {
        let (number, held) = (self.number.fetch_add(1, Ordering::Relaxed), Arc::clone(self.held));
        *self.ended.lock() = Some(Instant::now());
        self.output.receive(Box::new(move |memory| {
            (held.arrive)(number)?;
            let packed = frame(memory);
            held.arrived.fetch_add(1, Ordering::Relaxed);
            packed
        }))
    }
}

/// Counts begun pairs.
#[derive(Default)]
struct Pairs {
    begun: Mutex<usize>,
    changed: Condvar,
}

impl Pairs {
    fn count(&self, event: &BuildEvent) {
        if matches!(event, BuildEvent::Pair(_)) {
            *self.begun.lock() += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until this many pairs have begun.
    fn await_pairs(&self, count: usize) -> Result<(), ComputeError> {
        let mut begun = self.begun.lock();
        let in_time = !self.changed.wait_while_for(&mut begun, |begun| *begun < count, PATIENCE).timed_out();
        if in_time { Ok(()) } else { Err(Stopped.into()) }
    }
}

fn build(directory: &Path, key: TableKey, backend: Backend, pairs: &Pairs) -> Result<(), BuildError> {
    Builder::new(directory, key).backend(backend).run(&Pulse::default(), &|event| pairs.count(&event)).map(drop)
}

fn cpu() -> Backend {
    Backend::Cpu(Isa::detect())
}

fn right_files(key: TableKey) -> Files {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, cpu(), &Pairs::default()).unwrap();
    files(directory.path())
}

const KEY: TableKey = TableKey { rules: Rules::Standard, pits: 4, seeds: 9 };

/// The layer below whose last two frames the frame with this number is, if there is a layer above.
fn last_frame_of(number: usize) -> Option<usize> {
    (2..KEY.seeds).find(|&seeds| number < frames_to(seeds)).filter(|&seeds| number + 2 >= frames_to(seeds))
}

#[test]
fn a_layer_begins_while_frames_below_arrive_and_after_a_kill_then_all_go_on_to_the_same_files() {
    adapter::each(|adapter| {
        let right = right_files(KEY);
        let directory = tempfile::tempdir().unwrap();
        let (path, pairs) = (directory.path().to_owned(), Arc::new(Pairs::default()));
        let killed: Arc<Mutex<Vec<(usize, Files)>>> = Arc::default();
        let (begun, kills) = (Arc::clone(&pairs), Arc::clone(&killed));
        let device = Held::new(adapter.shared(), move |number| {
            let Some(seeds) = last_frame_of(number) else { return Ok(()) };
            // Its last frames arrive when several pairs of the layer above are computed.
            begun.await_pairs(pairs_to(seeds) + (seeds / 2).clamp(1, 3))?;
            kills.lock().push((seeds, files(&path)));
            Ok(())
        });
        build(directory.path(), KEY, Backend::Gpu(Arc::new(device)), &pairs).unwrap();
        assert_same_files(&right, &files(directory.path()), "frames that arrive late");
        let killed = std::mem::take(&mut *killed.lock());
        assert!(killed.len() >= 2 * (KEY.seeds - 3));
        for (number, (seeds, left)) in killed.into_iter().enumerate() {
            let layer = |seeds| TableKey { seeds, ..KEY }.path(Path::new("")).to_string_lossy().into_owned();
            assert!(left.contains_key(&format!("{}.partial", layer(seeds))), "{:?}", left.keys());
            assert!(!(seeds..=KEY.seeds).any(|seeds| left.contains_key(&layer(seeds))), "{:?}", left.keys());
            let directory = tempfile::tempdir().unwrap();
            for (name, bytes) in left {
                std::fs::write(directory.path().join(name), bytes).unwrap();
            }
            let backend = if number % 2 == 0 { cpu() } else { Backend::Gpu(adapter.shared()) };
            build(directory.path(), KEY, backend, &Pairs::default()).unwrap();
            assert_same_files(&right, &files(directory.path()), &format!("killed at the end of layer {seeds}"));
        }
    });
}

/// A frame does not arrive, or the file vanishes before it has its name.
#[test]
fn a_layer_that_fails_stops_the_layer_above_and_is_the_error() {
    adapter::each(|adapter| {
        for lost_file in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let (failing, above) = (TableKey { seeds: 7, ..KEY }, TableKey { seeds: 8, ..KEY });
            let partial = |key: TableKey| beside(&key.path(directory.path()), ".partial");
            let (pairs, file) = (Arc::new(Pairs::default()), partial(failing));
            let begun = Arc::clone(&pairs);
            let device = Held::new(adapter.shared(), move |number| {
                if last_frame_of(number) == Some(failing.seeds) {
                    begun.await_pairs(pairs_to(failing.seeds) + 1)?;
                    if !lost_file {
                        return Err(ComputeError::Device(GpuError::Refused("it is lost".to_owned()).into()));
                    }
                    let _ = std::fs::remove_file(&file);
                }
                Ok(())
            });
            let error = build(directory.path(), KEY, Backend::Gpu(Arc::new(device)), &pairs).unwrap_err().to_string();
            let expected = if lost_file { "standard-4-07.kalah" } else { "it is lost" };
            assert!(error.contains(expected), "{error}");
            for key in [failing, above, KEY] {
                assert!(!key.path(directory.path()).exists(), "{key}");
            }
            assert!(!partial(above).exists());
            build(directory.path(), KEY, Backend::Gpu(adapter.shared()), &Pairs::default()).unwrap();
            assert_same_files(&right_files(KEY), &files(directory.path()), "after the failure");
        }
    });
}

/// Compares with a device that awaits all frames of a layer, as all did before.
#[test]
fn a_device_does_not_wait_at_the_end_of_a_layer() {
    adapter::each(|adapter| {
        let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 14 };
        // When a layer has more frames than this, those two layers below have arrived at its end.
        let slow_from = frames_to(key.seeds - 3);
        let time = Duration::from_millis(if adapter.is_slow() { 400 } else { 150 });
        let waits = |awaits_all: bool| {
            let directory = tempfile::tempdir().unwrap();
            let mut device = Held::new(adapter.shared(), move |number| {
                if number >= slow_from {
                    std::thread::sleep(time);
                }
                Ok(())
            });
            device.awaits_all = awaits_all;
            let gaps = Arc::clone(&device.gaps);
            build(directory.path(), key, Backend::Gpu(Arc::new(device)), &Pairs::default()).unwrap();
            let gaps = gaps.lock();
            gaps[gaps.len() - 2..].to_vec()
        };
        let (waited, ahead) = (waits(true), waits(false));
        eprintln!("{time:?} a frame: a layer began after {waited:?}, ahead after {ahead:?}");
        assert!(waited.iter().all(|&wait| wait >= 2 * time), "{waited:?}");
        assert!(ahead.iter().all(|&wait| wait < 2 * time), "{ahead:?}");
    });
}
