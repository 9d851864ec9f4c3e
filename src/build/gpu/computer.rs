use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};

use super::collector::{READBACKS, collect, send};
use super::device::DeviceBuffer;
use super::lower::Lower;
use super::memory::DeviceMemory;
use super::packer::Packer;
use super::pair::Pair;
use super::recorder::Recorder;
use super::rows::DeviceRows;
use super::{Gpu, GpuError, Timing};
use crate::build::cpu::{Evaluator, Pulse};
use crate::build::{Computer, Output};
use crate::index::Frame;
use crate::isa::Isa;
use crate::table::Tables;

/// Bytes that went one way or the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// What the stages for moves, turning and packing read and write at least: every score and child once a move.
    pub touched: u64,
    /// Bytes of lower frames that are on the device now.
    pub resident: u64,
}

/// Computes frames on a GPU.
pub struct GpuComputer {
    gpu: Arc<Gpu>,
    rows: DeviceRows,
    lower: Lower,
    pair: Pair,
    packer: Packer,
    /// Buffers for what comes back, kept from layer to layer: never more than [`READBACKS`].
    spare: Vec<Option<DeviceBuffer>>,
    /// Where the times of stages are added up, if they are measured.
    pub timing: Option<Timing>,
    /// What went back and forth so far.
    pub traffic: Traffic,
}

impl GpuComputer {
    /// A computer for the layers up to `seeds` of the board and rules of `tables`; it takes the memory for all at once.
    ///
    /// # Errors
    /// When the device has not as much memory, or its limits do not allow so large a layer.
    pub fn new(gpu: Arc<Gpu>, tables: &Tables, seeds: usize) -> Result<GpuComputer, GpuError> {
        let pits = tables.pits();
        let largest = super::memory::largest_layer(pits, gpu.max_binding(), gpu.report().max_buffer_bytes);
        if seeds > largest {
            let reason = format!("its limits allow layers of up to {largest} seeds");
            return Err(GpuError::Unfit { adapter: gpu.report().name.clone(), reason });
        }
        let memory = DeviceMemory::new(pits, seeds, gpu.budget(), gpu.max_binding());
        if gpu.budget().is_some_and(|budget| budget < memory.least()) {
            return Err(GpuError::OutOfMemory {
                what: "a build of this size",
                bytes: memory.least(),
                used: 0,
                budget: gpu.budget(),
                advice: "allow more with --gpu-memory, build fewer seeds, or use --backend cpu",
            });
        }
        let frames: Vec<Frame> = (1..seeds).map(|mover| Frame { pits, mover, other: seeds - mover }).collect();
        let evaluator = Evaluator::new(Isa::detect(), tables.rules(), Arc::clone(tables.rows()));
        Ok(GpuComputer {
            rows: DeviceRows::new(&gpu, evaluator)?,
            lower: Lower::new(&gpu, memory.operand_bytes, gpu.budget())?,
            pair: Pair::new(&gpu, &memory)?,
            packer: Packer::new(&gpu, &frames)?,
            spare: Vec::new(),
            timing: None,
            traffic: Traffic::default(),
            gpu,
        })
    }

    /// Computes the frames while a collector takes them off.
    fn run(&mut self, tables: &Tables, frames: &[Frame], pulse: &Pulse, output: &dyn Output) -> Result<bool, GpuError> {
        let gpu = Arc::clone(&self.gpu);
        let mut recorder = Recorder::new(&gpu)?;
        recorder.timing = self.timing.take();
        let (sender, deliveries) = sync_channel(READBACKS);
        let (give_back, spares) = channel();
        // Those of the layer before; where there are fewer, some that the first frames replace by larger ones. Beyond
        // these, one is sent only when one came back.
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.spare.resize_with(READBACKS, || None);
        for spare in &mut self.spare {
            let buffer = match spare.take() {
                Some(buffer) => buffer,
                None => gpu.host_buffer(0, usage)?,
            };
            give_back.send(buffer).expect("both ends are here");
        }
        let result = std::thread::scope(|scope| {
            let collecting = scope.spawn(|| collect(&gpu, deliveries, give_back, output));
            let deliver = |recorder: &mut Recorder, frame: Frame, packed: &super::packer::PackedOnDevice| {
                match spares.recv() {
                    Ok(spare) => Ok(sender.send(send(recorder, frame, packed, spare)?).is_ok()),
                    // The collector has given up; its error is told below.
                    Err(_) => Ok(false),
                }
            };
            let computed = self.compute_pairs(&mut recorder, tables, frames, pulse, output, deliver);
            drop(sender);
            let collected = collecting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // A fault shows on both sides; what the device said first is the cause.
            Ok(computed? & collected?)
        });
        self.spare = spares.try_iter().map(Some).collect();
        self.traffic.uploaded += recorder.uploaded;
        self.traffic.copied += recorder.copied;
        self.traffic.touched += recorder.touched;
        self.traffic.resident = self.lower.resident_bytes();
        self.timing = recorder.timing.take();
        result
    }

    fn compute_pairs(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn Output,
        deliver: impl Fn(&mut Recorder, Frame, &super::packer::PackedOnDevice) -> Result<bool, GpuError>,
    ) -> Result<bool, GpuError> {
        let mut frames = frames.iter().copied().peekable();
        while let Some(frame) = frames.next() {
            output.pair(frame);
            let small = if frame.mover <= frame.other { frame } else { frame.mirrored() };
            if !self.compute_pair(recorder, tables, small, pulse)? {
                return Ok(false);
            }
            // Of a pair that an earlier run left half written only the second frame is missing.
            let mirrored = frames.next_if(|next| *next == frame.mirrored());
            for frame in [Some(frame), mirrored].into_iter().flatten() {
                let scores = if frame == small { &self.pair.small_moves } else { self.pair.turn_large(recorder)? };
                let packed = loop {
                    // More patches than were reckoned with may need the room of lower frames.
                    match self.packer.pack(recorder, frame, scores) {
                        Err(GpuError::OutOfMemory { .. }) if self.lower.evict(recorder)? => {}
                        other => break other?,
                    }
                };
                self.traffic.downloaded += packed.head.bytes + packed.patch_bytes;
                self.lower.keep(recorder, frame, &packed.head, &packed.patches)?;
                if !deliver(recorder, frame, &packed)? {
                    return Ok(false);
                }
            }
        }
        recorder.finish()?;
        Ok(true)
    }

    /// Computes a pair, if need be with fewer lower frames on the device.
    fn compute_pair(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        small: Frame,
        pulse: &Pulse,
    ) -> Result<bool, GpuError> {
        loop {
            let before = pulse.positions.load(std::sync::atomic::Ordering::Relaxed);
            let computed = self.pair.compute(recorder, &mut self.lower, &mut self.rows, tables, small, pulse);
            self.rows.forget_relay_rows();
            match computed {
                Err(GpuError::OutOfMemory { .. }) if self.lower.evict(recorder)? => {
                    pulse.positions.store(before, std::sync::atomic::Ordering::Relaxed);
                }
                other => return other,
            }
        }
    }
}

impl Computer for GpuComputer {
    fn compute(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn Output,
    ) -> Result<bool, crate::build::ComputeError> {
        Ok(self.run(tables, frames, pulse, output)?)
    }
}
