use std::fmt;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use kalah_base::diagnostic::ErrorKind;
use kalah_base::progress::Pulse;
use kalah_core::game::Rules;
use kalah_core::index::{Frame, layer_frames};
use kalah_core::table::{TableKey, Tables};
use kalah_tables::builder::{
    BuildError, ComputeError, Computer, Device, DeviceComputer, DeviceError, DeviceTraffic, FrameOutput, MemoryBuilder,
};
use kalah_tables::rows::BoardRows;
use kalah_tables::table::PackedFrame;
use parking_lot::Mutex;

use super::classes::read_steps;
use super::lower::{HEADROOM, Lower};
use super::memory::DeviceMemory;
use super::packer::{Packer, Readbacks};
use super::pair::{NumberedPair, Pair};
use super::prefetcher::Prefetcher;
use super::rows::DeviceRows;
use super::stages::Stage;
use crate::device::{Gpu, GpuError, Recorder, RecorderBuffers, Shortage, Tier, Timing};

/// Returns the memory for the layers up to `seeds`.
///
/// # Errors
/// When it is more than the device may use, or the device's limits do not allow such a large layer.
pub(super) fn require(gpu: &Gpu, pits: usize, seeds: usize) -> Result<DeviceMemory, GpuError> {
    let largest = super::memory::largest_layer(pits, gpu.max_binding());
    if seeds > largest {
        return Err(GpuError::limit(&gpu.report().name, "seeds in play", seeds as u64, largest as u64));
    }
    let memory = DeviceMemory::new(pits, seeds, gpu.budget(), gpu.max_binding());
    let (allowed, bytes) = (gpu.budget(), memory.least());
    if allowed.is_some_and(|allowed| allowed < bytes) {
        let (what, shortage) = ("a build of this size", Shortage::Allowed);
        return Err(GpuError::OutOfMemory { what, bytes, used: 0, allowed, shortage });
    }
    Ok(memory)
}

/// Computes frames on a GPU.
pub struct GpuComputer {
    gpu: Arc<Gpu>,
    /// Buffers of recorders, kept from layer to layer; `None` while a recorder has them.
    buffers: Option<RecorderBuffers>,
    /// Seeds of the last layer. No later layer reads its frames.
    last: usize,
    /// Bytes of a large upload.
    upload: u64,
    rows: DeviceRows,
    prefetcher: Arc<Prefetcher>,
    lower: Lower,
    pair: Pair,
    packer: Packer,
    readbacks: Readbacks,
    /// Time since which the device has nothing to do.
    idle: Option<Instant>,
    /// Times of stages, if they are measured.
    timing: Option<Timing>,
    traffic: DeviceTraffic,
}

impl GpuComputer {
    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`, and
    /// allocates all of its memory. If the device has not passed [`self_test`] yet, it is tested
    /// first.
    ///
    /// # Errors
    /// When the device does not have enough memory, its limits do not allow such a large layer, or
    /// it computes wrong scores.
    pub fn new(gpu: Arc<Gpu>, tables: &Tables, seeds: usize) -> Result<GpuComputer, ComputeError> {
        require(&gpu, tables.pits(), seeds)?;
        self_test(&gpu, tables.rules())?;
        GpuComputer::untested(gpu, tables, seeds)
    }

    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`. The device
    /// need not have passed a self-test.
    ///
    /// # Errors
    /// When the device does not have enough memory, or its limits do not allow such a large layer.
    fn untested(gpu: Arc<Gpu>, tables: &Tables, seeds: usize) -> Result<GpuComputer, ComputeError> {
        let pits = tables.pits();
        let mut memory = require(&gpu, pits, seeds)?;
        let frames: Vec<Frame> = layer_frames(pits, seeds).collect();
        // For frames and maps.
        let upload = memory.operand_bytes.max(memory.row_bytes);
        let buffers = RecorderBuffers::new(&gpu, upload)?;
        let (pair, packer) = (Pair::new(&gpu, &memory)?, Packer::new(&gpu, &frames, &memory.matrix_bytes)?);
        // Operands must not take the memory that moves and maps need later.
        let kept_free = gpu.storage("moves and maps", memory.row_bytes)?;
        let lower = loop {
            match Lower::new(&gpu, memory.operand_bytes, gpu.budget()) {
                Err(GpuError::OutOfMemory { .. }) if memory.halve_operands() => {}
                other => break other?,
            }
        };
        drop(kept_free);
        let prefetcher = Arc::new(Prefetcher::new(BoardRows::new(tables.rules(), Arc::clone(tables.rows()))));
        Ok(GpuComputer {
            buffers: Some(buffers),
            last: seeds,
            upload,
            rows: DeviceRows::new(&gpu, Arc::clone(&prefetcher))?,
            prefetcher,
            lower,
            pair,
            packer,
            readbacks: Readbacks::new(),
            idle: None,
            timing: None,
            traffic: DeviceTraffic::default(),
            gpu,
        })
    }

    fn compute_pairs(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        // If an interrupted run wrote half of a pair, only the second frame is missing.
        let pairs: Vec<&[Frame]> = frames.chunk_by(|frame, next| *next == frame.mirrored()).collect();
        let small = |pair: &[Frame]| if pair[0].mover <= pair[0].other { pair[0] } else { pair[0].mirrored() };
        self.lower.resident.plan(read_steps(tables.rules(), tables.rows(), pairs.iter().map(|pair| small(pair))));
        for (number, pair) in (0..).zip(pairs) {
            output.pair(pair[0]);
            let small = small(pair);
            self.compute_pair(recorder, tables, NumberedPair { number, small }, pulse)?;
            for &frame in pair {
                let scores =
                    if frame == small { &self.pair.small_moves } else { self.pair.transpose_large(recorder)? };
                let packed = loop {
                    // More patches than expected may need the memory of lower frames.
                    match self.packer.pack(recorder, frame, scores) {
                        Err(GpuError::OutOfMemory { .. }) if self.lower.evict(recorder)? => {}
                        other => break other?,
                    }
                };
                self.traffic.downloaded += packed.bytes();
                // Frames of the last layer would only evict those that it needs.
                if frame.mover + frame.other < self.last {
                    self.lower.keep(recorder, frame, &packed)?;
                }
                let waited = &mut self.traffic.waited;
                let delivery = self.readbacks.send(&self.gpu, recorder, frame, &packed, waited)?;
                output.receive(Box::new(move |memory| delivery.collect(memory)))?;
            }
        }
        Ok(recorder.finish()?)
    }

    /// Computes a pair, if necessary with fewer lower frames on the device.
    fn compute_pair(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        pair: NumberedPair,
        pulse: &Pulse,
    ) -> Result<(), ComputeError> {
        loop {
            let before = pulse.positions.load(std::sync::atomic::Ordering::Relaxed);
            let computed = self.pair.compute(recorder, &mut self.lower, &mut self.rows, tables, pair, pulse);
            self.rows.forget_relay_rows();
            match computed {
                Err(error) if is_out_of_memory(&error) && self.lower.evict(recorder)? => {
                    pulse.positions.store(before, std::sync::atomic::Ordering::Relaxed);
                }
                other => return other,
            }
        }
    }
}

/// Ends the prefetcher, even when computing panics: the scope waits for it.
struct EndAtLast<'a>(&'a Prefetcher);

impl Drop for EndAtLast<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl fmt::Debug for GpuComputer {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (gpu, traffic) = (&self.gpu.report().name, &self.traffic);
        formatter.debug_struct("GpuComputer").field("gpu", gpu).field("traffic", traffic).finish_non_exhaustive()
    }
}

impl DeviceComputer for GpuComputer {
    fn begin_measuring(&mut self) -> Result<(), DeviceError> {
        (self.traffic, self.timing, self.idle) = (DeviceTraffic::default(), Timing::new(&self.gpu)?, None);
        Ok(())
    }

    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>> {
        let timing = self.timing.as_ref()?;
        Some(Stage::ALL.iter().map(|stage| (stage.name(), timing.seconds(stage.kernel()))).collect())
    }

    fn traffic(&self) -> DeviceTraffic {
        self.traffic
    }
}

impl Computer for GpuComputer {
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        let gpu = Arc::clone(&self.gpu);
        let buffers = self.buffers.take().map_or_else(|| RecorderBuffers::new(&gpu, self.upload), Ok)?;
        let mut recorder = Recorder::new(&gpu, buffers);
        recorder.timing = self.timing.take();
        // The lists of this layer, then those of the next one.
        let seeds = frames.first().map_or(self.last, |frame| frame.mover + frame.other);
        let next = (seeds < self.last).then(|| tables.key(seeds + 1).frames());
        let needed: Vec<Frame> = frames.iter().copied().chain(next.into_iter().flatten()).collect();
        let prefetcher = Arc::clone(&self.prefetcher);
        prefetcher.begin();
        let result = std::thread::scope(|scope| {
            // If no thread can be started, lists are made when they are needed.
            let listing = std::thread::Builder::new().spawn_scoped(scope, || prefetcher.run(needed)).ok();
            let over = EndAtLast(&prefetcher);
            self.traffic.waited += self.idle.take().map_or(Duration::ZERO, |idle| idle.elapsed());
            let computed = self.compute_pairs(&mut recorder, tables, frames, pulse, output);
            self.idle = Some(Instant::now());
            drop(over);
            if let Some(Err(panic)) = listing.map(ScopedJoinHandle::join) {
                std::panic::resume_unwind(panic);
            }
            computed
        });
        self.traffic.uploaded += recorder.uploaded;
        self.traffic.copied += recorder.copied;
        self.traffic.resident = self.lower.resident.bytes();
        self.timing = recorder.timing.take();
        self.buffers = Some(recorder.into_buffers());
        result
    }
}

impl From<GpuError> for ComputeError {
    fn from(error: GpuError) -> ComputeError {
        ComputeError::Device(error.into())
    }
}

/// Returns true if the device did not have enough memory.
pub(super) fn is_out_of_memory(error: &ComputeError) -> bool {
    matches!(error, ComputeError::Device(error) if error.diagnosis().kind == ErrorKind::Memory)
}

/// Positions per second of a GPU, which waits for the disk, and of a software adapter. Rules with
/// relays reach this share of them (docs/measurements.md).
const RATE: f64 = 2e9;
const SOFTWARE_RATE: f64 = 4e6;
const RELAY_SHARE: f64 = 0.4;

impl Device for Gpu {
    fn name(&self) -> &str {
        &self.report().name
    }

    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError> {
        Ok(Box::new(GpuComputer::new(self, tables, seeds)?))
    }

    fn require_layer(&self, pits: usize, seeds: usize) -> Result<(), DeviceError> {
        require(self, pits, seeds)?;
        Ok(())
    }

    fn least_memory(&self, pits: usize, seeds: usize) -> u64 {
        DeviceMemory::new(pits, seeds, self.budget(), self.max_binding()).least()
    }

    fn holds(&self, pits: usize, seeds: usize, bytes: u64) -> bool {
        let free = |budget: u64| budget - budget / HEADROOM;
        self.budget().is_some_and(|budget| self.least_memory(pits, seeds) + bytes <= free(budget))
    }

    fn rate(&self, relays: bool) -> f64 {
        let rate = if self.report().tier == Tier::Software { SOFTWARE_RATE } else { RATE };
        rate * if relays { RELAY_SHARE } else { 1.0 }
    }
}

/// Pits a side of the layer that a device computes before it is trusted with others. Some drivers list hardware that
/// does not exist, and do nothing. Others compile shaders wrongly.
const PITS: usize = 3;

/// Seeds of the layer: 52,668 positions, in frames of up to 35 groups, some with exceptions. Most
/// stages have several workgroups, and the scores several tiles.
const SEEDS: usize = 20;

/// Seeds of a small layer with all kinds of moves: 406 positions. It is used if the large one
/// exceeds the configured limits.
const FEW_SEEDS: usize = 6;

/// Computes a small layer on a device and compares it with the CPU's. Does nothing if the device
/// has passed already.
///
/// The layer has some 50,000 positions, or some hundreds with limits that are too small for this.
///
/// # Errors
/// [`GpuError::WrongScores`], or another fault of the device; or there is not enough memory.
pub fn self_test(gpu: &Arc<Gpu>, rules: Rules) -> Result<(), ComputeError> {
    gpu.once(rules.name(), || {
        let large = require(gpu, PITS, SEEDS).is_ok();
        let last = if large { SEEDS } else { FEW_SEEDS };
        let mut builder = MemoryBuilder::new(TableKey { rules, pits: PITS, seeds: last }).map_err(failed)?;
        let pulse = Pulse::default();
        while builder.build_layer(&pulse).map_err(failed)?.is_some() {}
        let tables = builder.tables();
        let table = tables.require(last)?;
        let frames: Vec<Frame> = table.key().frames().collect();
        let wrong = Mutex::new(None);
        let compare = |packed: PackedFrame| {
            if packed.section() != table.blocks().section_bytes(&table.blocks().sections()[packed.frame.mover - 1]) {
                wrong.lock().get_or_insert(packed.frame);
            }
            Ok(())
        };
        GpuComputer::untested(Arc::clone(gpu), tables, last)?.compute(tables, &frames, &pulse, &compare)?;
        match wrong.into_inner() {
            None => Ok(()),
            Some(Frame { mover, other, .. }) => {
                let first = format!("the frame {mover} | {other} of {PITS} pits, {rules}");
                Err(GpuError::WrongScores { adapter: gpu.report().name.clone(), first }.into())
            }
        }
    })
}

/// Converts an error of the CPU's tables.
fn failed(error: BuildError) -> ComputeError {
    match error {
        BuildError::OutOfMemory(error) => error.into(),
        BuildError::Table(error) => error.into(),
        error => ComputeError::Device(error.into()),
    }
}
