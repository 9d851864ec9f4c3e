//! A layer begins while the last frames of the layer below arrive and are written.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kalah::build::{
    ArrivingFrame, Backend, BuildError, ComputeError, Computer, Device, DeviceComputer, DeviceError, DeviceTraffic,
    FrameOutput,
};
use kalah::cancel::Stopped;
use kalah::file::beside;
use kalah::game::Rules;
use kalah::gpu::{Gpu, GpuError};
use kalah::index::Frame;
use kalah::progress::Pulse;
use kalah::table::{FrameMemory, PackedFrame, TableKey, Tables};
use parking_lot::Mutex;

use crate::adapter;
use crate::builds::{assert_right, build, build_pairs, cpu, key, on, pairs_to};
use kalah_tests::files::files;

/// Longer than any step of a test takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// A GPU whose frames arrive later.
struct Held {
    device: Arc<Gpu>,
    /// The number of computed frames.
    computed: AtomicUsize,
    /// Called with the number of a frame, in the order of computation, before it is collected.
    arrive: Box<dyn Fn(usize) -> Result<(), ComputeError> + Send + Sync>,
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
        Ok(Box::new(HeldComputer { held: self, computer }))
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
}

impl Computer for HeldComputer {
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        self.computer.compute_ahead(tables, frames, pulse, &HeldOutput { output, held: &self.held })
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
}

impl FrameOutput for HeldOutput<'_> {
    fn pair(&self, frame: Frame) {
        self.output.pair(frame);
    }

    fn memory(&self) -> FrameMemory {
        self.output.memory()
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.output.take(packed)
    }

    fn receive(&self, frame: ArrivingFrame) -> Result<(), ComputeError> {
        let held = Arc::clone(self.held);
        // Each layer has a thread that collects its frames, so those of two layers arrive in any order.
        let number = held.computed.fetch_add(1, Ordering::Relaxed);
        self.output.receive(Box::new(move |memory| (held.arrive)(number).and_then(|()| frame(memory))))
    }
}

/// The number of pairs that have begun.
#[derive(Default)]
struct Pairs(AtomicUsize);

impl Pairs {
    /// Waits until this many pairs have begun.
    fn await_pairs(&self, count: usize) -> Result<(), ComputeError> {
        let end = Instant::now() + PATIENCE;
        while self.0.load(Ordering::Relaxed) < count {
            if Instant::now() > end {
                return Err(Stopped.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

const KEY: TableKey = key(Rules::Standard, 4, 9);

/// Builds on a device, with `arrive` before the last two frames of each layer that has a layer above. It is given the
/// seeds of the layer below.
fn build_held(
    directory: &Path,
    device: Arc<Gpu>,
    arrive: impl Fn(usize, &Pairs) -> Result<(), ComputeError> + Send + Sync + 'static,
) -> Result<(), BuildError> {
    let pairs = Arc::new(Pairs::default());
    let begun = Arc::clone(&pairs);
    let frames_to = |seeds: usize| (2..=seeds).map(|seeds| seeds - 1).sum::<usize>();
    let arrive = Box::new(move |number| match (2..KEY.seeds).find(|&seeds| number < frames_to(seeds)) {
        Some(seeds) if number + 2 >= frames_to(seeds) => arrive(seeds, &begun),
        _ => Ok(()),
    });
    let backend = Backend::Gpu(Arc::new(Held { device, computed: AtomicUsize::new(0), arrive }));
    build_pairs(directory, KEY, backend, &|number, _| pairs.0.store(number, Ordering::Relaxed))
}

#[test]
fn a_layer_begins_while_frames_below_arrive_and_after_a_kill_then_all_go_on_to_the_same_files() {
    adapter::each(|adapter| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let killed = Arc::new(Mutex::new(Vec::new()));
        let kills = Arc::clone(&killed);
        let built = build_held(directory.path(), adapter.shared(), move |seeds, pairs| {
            // Its last frames arrive when several pairs of the layer above are computed.
            pairs.await_pairs(pairs_to(seeds) + (seeds / 2).clamp(1, 3))?;
            kills.lock().push((seeds, files(&path)));
            Ok(())
        });
        built.unwrap();
        assert_right(directory.path(), KEY, "frames that arrive late");
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
            build(directory.path(), KEY, if number % 2 == 0 { cpu() } else { on(&adapter.shared()) }).unwrap();
            assert_right(directory.path(), KEY, &format!("killed at the end of layer {seeds}"));
        }
    });
}

/// A frame does not arrive, or the file vanishes before it has its name.
#[test]
fn a_layer_that_fails_stops_the_layer_above_and_is_the_error() {
    adapter::each(|adapter| {
        for (lost_file, expected) in [(false, "it is lost"), (true, "standard-4-07.kalah")] {
            let directory = tempfile::tempdir().unwrap();
            let (failing, above) = (TableKey { seeds: 7, ..KEY }, TableKey { seeds: 8, ..KEY });
            let partial = |key: TableKey| beside(&key.path(directory.path()), ".partial");
            let file = partial(failing);
            let built = build_held(directory.path(), adapter.shared(), move |seeds, pairs| {
                if seeds == failing.seeds {
                    pairs.await_pairs(pairs_to(seeds) + 1)?;
                    if !lost_file {
                        return Err(ComputeError::Device(GpuError::Refused("it is lost".to_owned()).into()));
                    }
                    let _ = std::fs::remove_file(&file);
                }
                Ok(())
            });
            let error = built.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            for key in [failing, above, KEY] {
                assert!(!key.path(directory.path()).exists(), "{key}");
            }
            assert!(!partial(above).exists());
            build(directory.path(), KEY, on(&adapter.shared())).unwrap();
            assert_right(directory.path(), KEY, "after the failure");
        }
    });
}
