//! A layer begins while the last frames of the layer below arrive and are written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
use parking_lot::{Condvar, Mutex};

use crate::adapter;
use crate::builds::{assert_right, build, build_pairs, cpu, key, on, pairs_to};
use kalah_tests::files::files;

/// Longer than any step of a test takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Called before a frame is collected, with the number of frames before it.
type Arrive = Box<dyn Fn(usize) -> Result<(), ComputeError> + Send + Sync>;

/// A GPU whose frames arrive later.
struct Held {
    device: Arc<Gpu>,
    arrive: Arrive,
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
        Ok(Box::new(HeldComputer { held: self, computer, frames: AtomicUsize::new(0) }))
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
}

impl Computer for HeldComputer {
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        let output = HeldOutput { output, held: &self.held, frames: &self.frames };
        self.computer.compute_ahead(tables, frames, pulse, &output)
    }
}

/// Only needed by measurements.
impl DeviceComputer for HeldComputer {
    fn begin_measuring(&mut self) -> Result<(), DeviceError> {
        unimplemented!()
    }

    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>> {
        unimplemented!()
    }

    fn traffic(&self) -> DeviceTraffic {
        unimplemented!()
    }
}

struct HeldOutput<'a> {
    output: &'a dyn FrameOutput,
    held: &'a Arc<Held>,
    frames: &'a AtomicUsize,
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
        let (number, held) = (self.frames.fetch_add(1, Ordering::Relaxed), Arc::clone(self.held));
        self.output.receive(Box::new(move |memory| {
            (held.arrive)(number)?;
            frame(memory)
        }))
    }
}

/// The number of pairs that have begun.
#[derive(Default)]
struct Pairs {
    begun: Mutex<usize>,
    changed: Condvar,
}

impl Pairs {
    fn begins(&self, number: usize) {
        *self.begun.lock() = number;
        self.changed.notify_all();
    }

    /// Waits until this many pairs have begun.
    fn await_pairs(&self, count: usize) -> Result<(), ComputeError> {
        let mut begun = self.begun.lock();
        let in_time = !self.changed.wait_while_for(&mut begun, |begun| *begun < count, PATIENCE).timed_out();
        if in_time { Ok(()) } else { Err(Stopped.into()) }
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
    let arrive = Box::new(move |number: usize| match (2..KEY.seeds).find(|&seeds| number < frames_to(seeds)) {
        Some(seeds) if number + 2 >= frames_to(seeds) => arrive(seeds, &begun),
        _ => Ok(()),
    });
    let backend = Backend::Gpu(Arc::new(Held { device, arrive }));
    build_pairs(directory, KEY, backend, &|number, _| pairs.begins(number))
}

#[test]
fn a_layer_begins_while_frames_below_arrive_and_after_a_kill_then_all_go_on_to_the_same_files() {
    adapter::each(|adapter| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let killed: Arc<Mutex<Vec<(usize, BTreeMap<String, Vec<u8>>)>>> = Arc::default();
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
