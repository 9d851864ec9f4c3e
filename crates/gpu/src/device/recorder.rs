use std::num::NonZeroU64;
use std::sync::Arc;

use wgpu::{BindGroupEntry, BufferBinding, BufferUsages, CommandEncoder, ComputePass, QuerySet};

use super::buffer::Staging;
use super::buffer::{DeviceBuffer, Window};
use super::error::GpuError;
use super::gpu::{Gpu, Pipeline};
use super::kernel::{Access, Kernel};
use super::pace::{Flights, Kind, Pace, Work};
use super::timing::Timing;
use super::twin::{Params, WORKGROUP};

/// Maximum workgroups of a dispatch.
pub(crate) const MAX_WORKGROUPS: u32 = 65535;

/// Bytes from the parameters of one dispatch to those of the next: an alignment that every adapter
/// supports.
const PARAMS_STRIDE: usize = 256;
const PARAMS_BYTES: usize = PARAMS_STRIDE * 2048;

/// Small data that kernels read: see [`Recorder::records`].
pub(crate) type Record = [u32; 4];

/// Maximum records of one submission.
const RECORDS: usize = 1 << 14;

/// Bytes of device memory that a recorder uses.
pub(crate) const RECORDER_BYTES: u64 = (PARAMS_BYTES + RECORDS * size_of::<Record>()) as u64;

/// Bytes of the records of one submission.
const RECORDS_BYTES: u64 = (RECORDS * size_of::<Record>()) as u64;

/// Submissions that may be in flight.
const IN_FLIGHT: usize = 3;

/// Maximum and minimum bytes of a buffer for copying data to the device, and the maximum number of
/// such buffers. If the processor can access only a part of the device's memory, often 256 MiB,
/// wgpu takes the buffers from that part.
const PIECE: u64 = 16 << 20;
const LEAST_PIECE: u64 = 1 << 18;
const PIECES: usize = 6;

/// Recorded work is submitted after this many bytes to the device.
const SUBMIT_UPLOAD: u64 = 2 * PIECE;

/// Copies within the device are split into multiples of this.
const COPY_UNIT: u64 = 1 << 16;

/// A kernel with its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    kernel: &'static Kernel,
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
}

/// State that a recorder needs and leaves to the next one: memory, and the measured speed of the
/// device.
#[derive(Debug)]
pub(crate) struct RecorderBuffers {
    params: DeviceBuffer,
    records: DeviceBuffer,
    /// For parameters and records.
    small: Staging,
    /// For all other data.
    staging: Staging,
    pace: Pace,
}

impl RecorderBuffers {
    /// Makes buffers for uploads that are usually smaller than `upload` bytes.
    pub(crate) fn new(gpu: &Gpu, upload: u64) -> Result<RecorderBuffers, GpuError> {
        let params_usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        Ok(RecorderBuffers {
            params: gpu.buffer("parameters", PARAMS_BYTES as u64, params_usage)?,
            records: gpu.storage("records", RECORDS_BYTES)?,
            small: Staging::new(gpu, PARAMS_BYTES as u64 + RECORDS_BYTES, IN_FLIGHT + 2)?,
            staging: Staging::new(gpu, upload.next_multiple_of(8).clamp(LEAST_PIECE, PIECE), PIECES)?,
            pace: Pace::new(gpu.options.submission.as_secs_f64()),
        })
    }
}

/// Records work for the device and submits it in batches.
#[derive(Debug)]
pub(crate) struct Recorder<'g> {
    pub gpu: &'g Gpu,
    buffers: RecorderBuffers,
    encoder: Option<CommandEncoder>,
    pass: Option<(&'static Kernel, ComputePass<'static>)>,
    params: Vec<u8>,
    records: Vec<Record>,
    /// Number of records that are on the device, or on their way.
    records_sent: usize,
    work: Work,
    uploading: u64,
    pub flights: Flights,
    pub timing: Option<Timing>,
    /// Bytes of frames copied to the device, counted by their callers.
    pub uploaded: u64,
    /// Bytes copied from one place on the device to another.
    pub copied: u64,
}

impl<'g> Recorder<'g> {
    pub(crate) fn new(gpu: &'g Gpu, buffers: RecorderBuffers) -> Recorder<'g> {
        Recorder {
            gpu,
            buffers,
            encoder: None,
            pass: None,
            params: Vec::new(),
            records: Vec::new(),
            records_sent: 0,
            work: Work::default(),
            uploading: 0,
            flights: Flights::default(),
            timing: None,
            uploaded: 0,
            copied: 0,
        }
    }

    /// Returns the buffers for the next recorder. Work that was not submitted is dropped.
    pub(crate) fn into_buffers(mut self) -> RecorderBuffers {
        (self.pass, self.encoder) = (None, None);
        self.buffers.small.abandon();
        self.buffers.staging.abandon();
        self.buffers
    }

    /// The buffer in which [`Recorder::records`] puts records.
    pub(crate) fn records_window(&self) -> Window {
        self.buffers.records.window()
    }

    /// Stores records for the kernels recorded next. Returns the number of the first.
    pub(crate) fn records(&mut self, records: &[Record]) -> Result<u32, GpuError> {
        assert!(records.len() <= RECORDS);
        if self.records.len() + records.len() > RECORDS {
            // After this submission they may be overwritten.
            self.submit()?;
            self.records.clear();
            self.records_sent = 0;
        } else if self.small_bytes() + size_of_val(records) > self.buffers.small.bytes() {
            self.encoder();
            self.submit()?;
        }
        let first = self.records.len() as u32;
        self.records.extend_from_slice(records);
        Ok(first)
    }

    /// Binds a kernel to its buffers, in the order of its bindings.
    pub(crate) fn bind(&self, kernel: &'static Kernel, windows: &[Window]) -> Bound {
        assert_eq!(windows.len(), kernel.access.len(), "buffers of {}", kernel.name);
        // The check for races relies on this: bindings do not share memory that is written.
        for (window, _) in windows.iter().zip(kernel.access).filter(|(_, access)| **access == Access::Write) {
            let bindings = windows.iter().filter(|other| other.buffer == window.buffer).count();
            assert_eq!(bindings, 1, "bindings of a buffer that {} writes", kernel.name);
        }
        fn binding(window: &Window) -> wgpu::BindingResource<'_> {
            let Window { buffer, offset, bytes } = window;
            wgpu::BindingResource::Buffer(BufferBinding { buffer, offset: *offset, size: NonZeroU64::new(*bytes) })
        }
        let params = Window { bytes: PARAMS_STRIDE as u64, ..self.buffers.params.window() };
        let entries: Vec<BindGroupEntry> = (0..)
            .zip([&params].into_iter().chain(windows))
            .map(|(number, window)| BindGroupEntry { binding: number, resource: binding(window) })
            .collect();
        let pipeline = self.gpu.pipeline(kernel);
        let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(kernel.name),
            layout: &pipeline.layout,
            entries: &entries,
        });
        Bound { kernel, pipeline, group }
    }

    /// Runs a kernel in `workgroups` workgroups, at most [`MAX_WORKGROUPS`].
    pub(crate) fn dispatch<P: Params>(&mut self, bound: &Bound, params: &P, workgroups: u32) -> Result<(), GpuError> {
        assert!(workgroups <= MAX_WORKGROUPS && size_of::<P>() <= PARAMS_STRIDE);
        if workgroups == 0 {
            return Ok(());
        }
        let (kind, threads) = (Kind::Kernel(bound.kernel.name), u64::from(workgroups * WORKGROUP));
        self.submit_if_full(kind, threads)?;
        let offset = self.params.len();
        self.params.extend_from_slice(bytemuck::bytes_of(params));
        self.params.resize(offset + PARAMS_STRIDE, 0);
        let pass = self.pass(bound.kernel);
        pass.set_pipeline(&bound.pipeline.pipeline);
        pass.set_bind_group(0, &bound.group, &[offset as u32]);
        pass.dispatch_workgroups(workgroups, 1, 1);
        self.recorded(kind, threads)
    }

    /// Submits the recorded work, if it would take too long together with this work.
    fn submit_if_full(&mut self, kind: Kind, units: u64) -> Result<(), GpuError> {
        let pace = &self.buffers.pace;
        let expected = pace.expected(&self.work) + pace.expected(&Work::from([(kind, units)]));
        if !self.work.is_empty() && expected > 2.0 * pace.seconds {
            self.submit()?;
        }
        Ok(())
    }

    /// Counts recorded work, and submits it if there is enough.
    fn recorded(&mut self, kind: Kind, units: u64) -> Result<(), GpuError> {
        *self.work.entry(kind).or_default() += units;
        let is_full =
            self.params.len() >= PARAMS_BYTES || self.small_bytes() + PARAMS_STRIDE > self.buffers.small.bytes();
        if is_full || self.buffers.pace.expected(&self.work) >= self.buffers.pace.seconds {
            self.submit()?;
        }
        Ok(())
    }

    /// Bytes of parameters and records in the next submission: at most one staging buffer, since
    /// others may be unavailable.
    fn small_bytes(&self) -> usize {
        self.params.len() + size_of_val(&self.records[self.records_sent..])
    }

    /// Number of threads of a kernel that are expected to take a fraction of a second.
    pub(crate) fn threads_at_once(&self, kernel: &'static Kernel) -> u64 {
        self.buffers.pace.units(Kind::Kernel(kernel.name))
    }

    /// Runs a kernel over `threads` threads, in parts that are multiples of `unit` threads and take
    /// a fraction of a second. `params` returns the parameters of a part from its first thread and
    /// its number of threads.
    pub(crate) fn dispatch_threads<P: Params>(
        &mut self,
        bound: &Bound,
        threads: u64,
        unit: u64,
        params: impl Fn(u64, u32) -> P,
    ) -> Result<(), GpuError> {
        let most = u64::from(MAX_WORKGROUPS * WORKGROUP) / unit * unit;
        assert!(most > 0, "a unit of {unit} threads");
        let mut first = 0;
        while first < threads {
            let quick = self.threads_at_once(bound.kernel) / unit * unit;
            let part = most.min(quick.max(unit)).min(threads - first) as u32;
            self.dispatch(bound, &params(first, part), part.div_ceil(WORKGROUP))?;
            first += u64::from(part);
        }
        Ok(())
    }

    fn encoder(&mut self) -> &mut CommandEncoder {
        self.pass = None;
        self.encoder.get_or_insert_with(|| self.gpu.device.create_command_encoder(&Default::default()))
    }

    /// Returns the current pass, or a new one. With timing, each kernel has a new one.
    fn pass(&mut self, kernel: &'static Kernel) -> &mut ComputePass<'static> {
        let timed = self.timing.is_some();
        if self.pass.as_ref().is_none_or(|(other, _)| timed && other.name != kernel.name) {
            self.encoder();
            let times = self.timing.as_mut().map(|timing| timing.begin(kernel));
            let timestamp_writes =
                times.as_ref().map(|(set, first): &(QuerySet, u32)| wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: Some(*first),
                    end_of_pass_write_index: Some(first + 1),
                });
            let descriptor = wgpu::ComputePassDescriptor { label: Some(kernel.name), timestamp_writes };
            let encoder = self.encoder.as_mut().expect("made above");
            self.pass = Some((kernel, encoder.begin_compute_pass(&descriptor).forget_lifetime()));
        }
        &mut self.pass.as_mut().expect("made above").1
    }

    /// Fills a part of a buffer with zeros.
    pub(crate) fn clear(&mut self, window: &Window) -> Result<(), GpuError> {
        self.in_parts(window.bytes, |encoder, at, bytes| {
            encoder.clear_buffer(&window.buffer, window.offset + at, Some(bytes));
        })
    }

    /// Copies `bytes` from the beginning of one window to the beginning of another.
    pub(crate) fn copy(&mut self, from: &Window, to: &Window, bytes: u64) -> Result<(), GpuError> {
        self.copied += bytes;
        self.in_parts(bytes, |encoder, at, bytes| {
            encoder.copy_buffer_to_buffer(&from.buffer, from.offset + at, &to.buffer, to.offset + at, bytes);
        })
    }

    /// Records copying `bytes` bytes in parts that take a fraction of a second.
    fn in_parts(&mut self, bytes: u64, record: impl Fn(&mut CommandEncoder, u64, u64)) -> Result<(), GpuError> {
        let mut at = 0;
        while at < bytes {
            let quick = (self.buffers.pace.units(Kind::Copy) / COPY_UNIT).max(1) * COPY_UNIT;
            let part = quick.min(bytes - at);
            self.submit_if_full(Kind::Copy, part)?;
            record(self.encoder(), at, part);
            self.recorded(Kind::Copy, part)?;
            at += part;
        }
        Ok(())
    }

    /// Makes a buffer that kernels use, with these words.
    pub(crate) fn storage_of(&mut self, what: &'static str, words: &[u32]) -> Result<DeviceBuffer, GpuError> {
        let buffer = self.gpu.storage(what, 4 * words.len() as u64)?;
        self.upload(bytemuck::cast_slice(words), &buffer.window())?;
        Ok(buffer)
    }

    /// Copies bytes, a multiple of 4, to the beginning of a window.
    pub(crate) fn upload(&mut self, bytes: &[u8], to: &Window) -> Result<(), GpuError> {
        let (mut rest, mut offset, mut was_none) = (bytes, to.offset, false);
        while !rest.is_empty() {
            let Some(staged) = self.buffers.staging.write(self.gpu, rest)? else {
                self.submit()?;
                self.wait_for_one(&mut was_none)?;
                continue;
            };
            (was_none, rest) = (false, &rest[staged.bytes as usize..]);
            let bytes = staged.bytes;
            self.encoder().copy_buffer_to_buffer(&staged.buffer, staged.offset, &to.buffer, offset, bytes);
            offset += bytes;
            self.uploading += bytes;
            self.recorded(Kind::Copy, bytes)?;
            if self.uploading >= SUBMIT_UPLOAD {
                self.submit()?;
            }
        }
        Ok(())
    }

    /// Waits until one submission less is in flight, so that its staging buffers are free. Fails if
    /// none was in flight the last time either.
    fn wait_for_one(&mut self, was_none: &mut bool) -> Result<(), GpuError> {
        let most = match self.flights.count() {
            0 if *was_none => return Err(GpuError::Lost("buffers for copying were not returned".to_owned())),
            0 => {
                *was_none = true;
                return self.gpu.wait(None);
            }
            count => count - 1,
        };
        self.flights.wait(self.gpu, most, &mut self.buffers.pace)
    }

    /// Returns commands that copy the parameters and new records of the recorded work to the
    /// device.
    fn send_small(&mut self) -> Result<CommandEncoder, GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let records_at = (self.records_sent * size_of::<Record>()) as u64;
        let params = (std::mem::take(&mut self.params), self.buffers.params.buffer.clone(), 0);
        let records: Vec<u8> = bytemuck::cast_slice(&self.records[self.records_sent..]).to_vec();
        for (data, to, mut offset) in [params, (records, self.buffers.records.buffer.clone(), records_at)] {
            let (mut rest, mut was_none) = (&data[..], false);
            while !rest.is_empty() {
                let Some(staged) = self.buffers.small.write(self.gpu, rest)? else {
                    self.wait_for_one(&mut was_none)?;
                    continue;
                };
                encoder.copy_buffer_to_buffer(&staged.buffer, staged.offset, &to, offset, staged.bytes);
                (was_none, rest) = (false, &rest[staged.bytes as usize..]);
                offset += staged.bytes;
            }
        }
        self.records_sent = self.records.len();
        Ok(encoder)
    }

    /// Submits the recorded work. Waits while too many submissions are in flight.
    ///
    /// # Errors
    /// When the device reported a fault, or hangs.
    pub(crate) fn submit(&mut self) -> Result<(), GpuError> {
        self.pass = None;
        if let Some(mut encoder) = self.encoder.take() {
            if let Some(timing) = &mut self.timing {
                timing.resolve(&mut encoder);
            }
            let small = self.send_small()?;
            let mut staged = [self.buffers.small.finish(), self.buffers.staging.finish()];
            let work = std::mem::take(&mut self.work);
            self.flights.submit(self.gpu, [small.finish(), encoder.finish()], work);
            self.buffers.small.recall(std::mem::take(&mut staged[0]));
            self.buffers.staging.recall(std::mem::take(&mut staged[1]));
            self.uploading = 0;
        }
        self.flights.wait(self.gpu, IN_FLIGHT, &mut self.buffers.pace)?;
        if let Some(timing) = &mut self.timing {
            timing.collect(self.gpu)?;
        }
        Ok(())
    }

    /// Submits the recorded work and waits until it is done.
    ///
    /// # Errors
    /// When the device reported a fault.
    pub(crate) fn finish(&mut self) -> Result<(), GpuError> {
        self.submit()?;
        self.flights.wait(self.gpu, 0, &mut self.buffers.pace)?;
        self.gpu.wait(None)
    }
}
