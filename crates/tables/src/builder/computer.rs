use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use kalah_base::diagnostic::{Diagnosis, Diagnostic};
use kalah_base::parallel::small_thread;
use kalah_base::progress::Pulse;
use kalah_base::system::OutOfMemory;
use kalah_core::cancel::Stopped;
use kalah_core::game::Rules;
use kalah_core::index::{Frame, TableRow, row_seeds};
use kalah_core::table::{TableError, Tables};
use serde::{Serialize, Serializer};

use crate::rows::RowMove;
use crate::table::{FrameMemory, PackedFrame};

/// The cause of a device failure: an error of the crate that drives it.
#[derive(Debug)]
pub struct DeviceError(Box<dyn Diagnostic + Send + Sync>);

impl DeviceError {
    /// The diagnosis of that error.
    pub fn diagnosis(&self) -> Diagnosis {
        self.0.diagnosis()
    }
}

impl<E: Diagnostic + Send + Sync + 'static> From<E> for DeviceError {
    fn from(error: E) -> DeviceError {
        DeviceError(Box::new(error))
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for DeviceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Reasons why frames could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[source] TableError),
    /// There is not enough memory.
    #[error("{0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// The device failed.
    #[error("{0}")]
    Device(#[source] DeviceError),
    /// The work was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl Diagnostic for ComputeError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            ComputeError::Table(error) => error.diagnosis(),
            ComputeError::OutOfMemory(error) => error.diagnosis(),
            ComputeError::Device(error) => error.diagnosis(),
            ComputeError::Stopped(error) => error.diagnosis(),
        }
    }
}

impl From<TableError> for ComputeError {
    fn from(error: TableError) -> ComputeError {
        match error {
            TableError::Stopped(stopped) => stopped.into(),
            error => ComputeError::Table(error),
        }
    }
}

/// Computes and packs the frames of layers.
pub trait Computer: Send {
    /// Computes `frames` of a layer, in the order of [`kalah_core::table::TableKey::frames`], from the
    /// layers below in `tables`, and passes each to `output`. The last ones may still be arriving when
    /// this returns: [`FrameOutput::receive`].
    ///
    /// # Errors
    /// When a lower table is missing or damaged, the device fails, `output` takes no more frames,
    /// or `pulse` was stopped.
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError>;

    /// The same, with another thread that awaits arriving frames. Returns when `output` has all of them.
    ///
    /// # Errors
    /// As [`Computer::compute_ahead`].
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        std::thread::scope(|scope| {
            let (arriving, collector) = Arriving::new(scope, output)?;
            let computed = self.compute_ahead(tables, frames, pulse, &arriving);
            drop(arriving);
            collected(computed, collector)
        })
    }
}

/// Frames of any size that may be arriving from a device at once.
pub const ARRIVING_FRAMES: usize = 2;

/// Small frames that may be arriving besides, and their maximum bytes. A layer begins with them while the last frames
/// below, which are its largest, still arrive.
pub const SMALL_ARRIVING_FRAMES: (usize, u64) = (6, 16 << 20);

/// A frame that arrives from a device: awaits it, and copies it to this memory.
pub type ArrivingFrame = Box<dyn FnOnce(FrameMemory) -> Result<PackedFrame, ComputeError> + Send>;

/// Receives the frames of a [`Computer`].
pub trait FrameOutput: Sync {
    /// Called when a pair of frames begins, with its first frame.
    fn pair(&self, _frame: Frame) {}

    /// Returns memory for the next packed frame.
    fn memory(&self) -> FrameMemory {
        FrameMemory::default()
    }

    /// Receives a packed frame, in order.
    ///
    /// # Errors
    /// The reason why no more frames are wanted, or [`Stopped`].
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError>;

    /// Receives a frame that is arriving, in order.
    ///
    /// # Errors
    /// As [`FrameOutput::take`]; when the device failed.
    fn receive(&self, frame: ArrivingFrame) -> Result<(), ComputeError> {
        self.take(frame(self.memory())?)
    }
}

/// A function takes the frames.
impl<F: Fn(PackedFrame) -> Result<(), ComputeError> + Sync> FrameOutput for F {
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self(packed)
    }
}

/// The thread that awaits arriving frames.
pub(super) type Collector<'scope> = ScopedJoinHandle<'scope, Result<(), ComputeError>>;

/// An output for which another thread awaits arriving frames.
pub(super) struct Arriving<O> {
    output: O,
    frames: Sender<ArrivingFrame>,
}

impl<O: Deref<Target: FrameOutput> + Clone> Arriving<O> {
    /// Starts the thread. It ends when it has passed all frames to `output`, or one is not taken.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        output: O,
    ) -> Result<(Arriving<O>, Collector<'scope>), TableError>
    where
        O: Send + 'scope,
    {
        let (frames, arriving) = channel::<ArrivingFrame>();
        let to = output.clone();
        let collect = move || arriving.into_iter().try_for_each(|frame| to.receive(frame));
        // Drivers of GPUs need more of the stack than the other threads beside a build.
        let collector = small_thread("collector").stack_size(512 << 10).spawn_scoped(scope, collect);
        let collector = collector.map_err(TableError::io(Path::new("a thread to collect frames")))?;
        Ok((Arriving { output, frames }, collector))
    }
}

impl<O: Deref<Target: FrameOutput> + Sync> FrameOutput for Arriving<O> {
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
        // If the thread has failed, its error is that of [`collected`].
        Ok(self.frames.send(frame).map_err(|_| Stopped)?)
    }
}

/// Returns the result of computing frames, once all of them have arrived.
pub(super) fn collected(computed: Result<(), ComputeError>, collector: Collector) -> Result<(), ComputeError> {
    let collected = collector.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match computed {
        // Possibly because no more frames were taken.
        Err(ComputeError::Stopped(_)) => collected.and(computed),
        // A fault appears on both sides. The first one that the device reported is the cause.
        _ => computed.and(collected),
    }
}

/// A device, other than the CPU, that computes tables.
pub trait Device: fmt::Debug + Send + Sync {
    /// Name in reports.
    fn name(&self) -> &str;

    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`.
    ///
    /// # Errors
    /// When there is not enough memory, the layer is too large for the device, or the device
    /// computes wrong scores.
    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError>;

    /// Checks that the device's limits and the memory that it may use allow the layers up to `seeds`.
    ///
    /// # Errors
    /// What is too small.
    fn require_layer(&self, pits: usize, seeds: usize) -> Result<(), DeviceError>;

    /// Minimum bytes of device memory for the layers up to `seeds`.
    fn least_memory(&self, pits: usize, seeds: usize) -> u64;

    /// Returns true if a build of the layers up to `seeds` keeps `bytes` bytes of lower tables in
    /// device memory, so that it reads no files.
    fn holds(&self, pits: usize, seeds: usize, bytes: u64) -> bool;

    /// Estimated positions per second of a build; `relays` is true for rules with relays.
    fn rate(&self, relays: bool) -> f64;
}

/// A [`Computer`] on a device, which can be measured.
pub trait DeviceComputer: Computer {
    /// Starts measuring the times of stages, if the device can, and the bytes transferred.
    ///
    /// # Errors
    /// When the device fails.
    fn begin_measuring(&mut self) -> Result<(), DeviceError>;

    /// Seconds of each stage since [`DeviceComputer::begin_measuring`], if measured.
    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>>;

    /// Bytes transferred since [`DeviceComputer::begin_measuring`].
    fn traffic(&self) -> DeviceTraffic;
}

/// Bytes transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeviceTraffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// Bytes of lower frames currently on the device.
    pub resident: u64,
    /// Time for which the device had nothing to do, because earlier frames had not been taken, or
    /// between two layers.
    #[serde(rename = "waited_seconds", serialize_with = "seconds")]
    pub waited: Duration,
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Frames of lower layers from which `frame` is computed, ordered by layer and by the seeds in the
/// mover's row.
///
/// The effect of a move on the mover's row depends on its pit, the seeds there, and whether a pit
/// of that row is empty. The same holds for the seeds it sows into the other row. So the rows with
/// all seeds in one or two pits have the moves of all rows. A capture takes any number of seeds.
/// The result of a relay depends on both rows, so it needs every lower frame. None if
/// tables cannot have `frame`.
pub fn lower_frames(rules: Rules, frame: Frame) -> Vec<Frame> {
    if frame.positions() == 0 {
        return Vec::new();
    }
    let Frame { pits, mover, other } = frame;
    let mut dependencies = BTreeSet::new();
    let mut need = |to_move: usize, waiting: usize| {
        if to_move > 0 && waiting > 0 {
            dependencies.insert((to_move + waiting, to_move));
        }
    };
    if rules.moves_again() {
        need(mover - 1, other);
    }
    for (row, pit) in representatives(pits, mover) {
        match RowMove::new(rules, pits, &row, pit) {
            RowMove::Quiet { .. } => {}
            RowMove::Again { own, spilled, .. } => need(row_seeds(&own), other + usize::from(spilled)),
            RowMove::Pass { own, spilled } => need(other + usize::from(spilled), row_seeds(&own)),
            RowMove::Capture { own, spilled, uncaptured, .. } => {
                let opponent = other + usize::from(spilled);
                for captured in usize::from(uncaptured.is_some())..=opponent {
                    need(opponent - captured, row_seeds(&own));
                }
            }
            RowMove::Relay { .. } => {
                for seeds in 2..mover + other {
                    (1..seeds).for_each(|to_move| need(to_move, seeds - to_move));
                }
            }
        }
    }
    let below = dependencies.into_iter().filter(|&(seeds, _)| seeds < mover + other);
    below.map(|(seeds, to_move)| Frame { pits, mover: to_move, other: seeds - to_move }).collect()
}

/// Rows with `seeds` seeds in one or two pits, each with a pit that holds some.
fn representatives(pits: usize, seeds: usize) -> Vec<(TableRow, usize)> {
    let mut rows = Vec::new();
    for pit in 0..pits {
        for sown in 1..=seeds {
            for rest in 0..pits {
                // The other seeds are in another pit. If all seeds are sown, one such row is
                // enough.
                if (sown == seeds) == (rest == pit) {
                    let mut row = TableRow::default();
                    row[rest] = (seeds - sown) as u8;
                    row[pit] = sown as u8;
                    rows.push((row, pit));
                }
            }
        }
    }
    rows
}
