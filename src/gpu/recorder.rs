use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use wgpu::{BindGroupEntry, BufferBinding, BufferUsages, CommandEncoder, ComputePass, QuerySet, SubmissionIndex};

use super::buffer::{DeviceBuffer, Window};
use super::device::{Gpu, Pipeline};
use super::error::GpuError;
use super::kernel::{Access, Kernel, Params, WORKGROUP};
use super::report::Tier;
use super::staging::Staging;
use super::timing::Timing;

/// The most workgroups of a dispatch.
pub(crate) const MAX_WORKGROUPS: u32 = 65535;

/// Bytes from the parameters of one dispatch to those of the next: an alignment that every adapter supports.
const PARAMS_STRIDE: usize = 256;
const PARAMS_BYTES: usize = PARAMS_STRIDE * 2048;

/// Small data that kernels read: see [`Recorder::records`].
pub(crate) type Record = [u32; 4];

/// The most records of one submission.
const RECORDS: usize = 1 << 14;

/// Bytes of the device's memory that a recorder uses.
pub(crate) const RECORDER_BYTES: u64 = (PARAMS_BYTES + RECORDS * size_of::<Record>()) as u64;

/// Recorded work is submitted after this many threads, so that a submission takes a fraction of a second and a stop
/// takes effect soon; a software adapter is a hundred times slower.
const SUBMIT_THREADS: u64 = 1 << 26;
const SOFTWARE_SUBMIT_THREADS: u64 = 1 << 20;

/// Submissions that may be in flight.
const IN_FLIGHT: usize = 3;

/// Bytes of the parts in which data is copied to the device.
const PIECE: u64 = 16 << 20;

/// Recorded work is submitted after this many bytes to the device: the limit for staging.
const SUBMIT_UPLOAD: u64 = 4 * PIECE;

/// A kernel with its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    kernel: &'static Kernel,
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
    windows: Arc<Vec<Window>>,
}

/// Records work for the device and submits it in batches.
#[derive(Debug)]
pub(crate) struct Recorder<'g> {
    gpu: &'g Gpu,
    encoder: Option<CommandEncoder>,
    pass: Option<(&'static Kernel, ComputePass<'static>)>,
    params: Vec<u8>,
    params_buffer: DeviceBuffer,
    records: Vec<Record>,
    records_buffer: DeviceBuffer,
    staging: Staging,
    threads: u64,
    uploading: u64,
    in_flight: VecDeque<SubmissionIndex>,
    /// The last submission.
    pub last: Option<SubmissionIndex>,
    pub timing: Option<Timing>,
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes copied from one place on the device to another.
    pub copied: u64,
    /// The least bytes that kernels read and write, counted by their callers.
    pub touched: u64,
    /// Dispatches, and their workgroups.
    pub dispatched: (u64, u64),
}

impl<'g> Recorder<'g> {
    pub fn new(gpu: &'g Gpu) -> Result<Recorder<'g>, GpuError> {
        let params_usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        Ok(Recorder {
            gpu,
            encoder: None,
            pass: None,
            params: Vec::new(),
            params_buffer: gpu.buffer("parameters", PARAMS_BYTES as u64, params_usage)?,
            records: Vec::new(),
            records_buffer: gpu.storage("records", (RECORDS * size_of::<Record>()) as u64)?,
            staging: Staging::new(PIECE),
            threads: 0,
            uploading: 0,
            in_flight: VecDeque::new(),
            last: None,
            timing: None,
            uploaded: 0,
            copied: 0,
            touched: 0,
            dispatched: (0, 0),
        })
    }

    pub fn gpu(&self) -> &'g Gpu {
        self.gpu
    }

    /// The buffer in which [`Recorder::records`] puts records.
    pub fn records_window(&self) -> Window {
        self.records_buffer.window()
    }

    /// Stores records for the kernels recorded next; returns the number of the first.
    pub fn records(&mut self, records: &[Record]) -> Result<u32, GpuError> {
        assert!(records.len() <= RECORDS);
        if self.records.len() + records.len() > RECORDS {
            // After this submission they may be overwritten.
            self.submit()?;
            self.records.clear();
        }
        let first = self.records.len() as u32;
        self.records.extend_from_slice(records);
        Ok(first)
    }

    /// A kernel with its buffers, in the order of its bindings.
    pub fn bind(&self, kernel: &'static Kernel, windows: &[Window]) -> Bound {
        assert_eq!(windows.len(), kernel.access.len(), "buffers of {}", kernel.name);
        // The check for races relies on it: bindings do not share memory that is written.
        for (window, _) in windows.iter().zip(kernel.access).filter(|(_, access)| **access == Access::Write) {
            let bindings = windows.iter().filter(|other| other.buffer == window.buffer).count();
            assert_eq!(bindings, 1, "bindings of a buffer that {} writes", kernel.name);
        }
        fn binding(window: &Window) -> wgpu::BindingResource<'_> {
            let Window { buffer, offset, bytes } = window;
            wgpu::BindingResource::Buffer(BufferBinding { buffer, offset: *offset, size: NonZeroU64::new(*bytes) })
        }
        let params = Window { bytes: PARAMS_STRIDE as u64, ..self.params_buffer.window() };
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
        Bound { kernel, pipeline, group, windows: Arc::new(windows.to_vec()) }
    }

    /// Runs a kernel in `workgroups` workgroups, at most [`MAX_WORKGROUPS`].
    pub fn dispatch<P: Params>(&mut self, bound: &Bound, params: &P, workgroups: u32) -> Result<(), GpuError> {
        assert!(workgroups <= MAX_WORKGROUPS && size_of::<P>() <= PARAMS_STRIDE);
        if workgroups == 0 {
            return Ok(());
        }
        self.dispatched = (self.dispatched.0 + 1, self.dispatched.1 + u64::from(workgroups));
        if self.gpu.is_twin(bound.kernel) {
            return self.run_twin(bound, params, workgroups);
        }
        let offset = self.params.len();
        self.params.extend_from_slice(bytemuck::bytes_of(params));
        self.params.resize(offset + PARAMS_STRIDE, 0);
        let pass = self.pass(bound.kernel);
        pass.set_pipeline(&bound.pipeline.pipeline);
        pass.set_bind_group(0, &bound.group, &[offset as u32]);
        pass.dispatch_workgroups(workgroups, 1, 1);
        self.threads += u64::from(workgroups * WORKGROUP);
        let software = self.gpu.report().tier == Tier::Software;
        let most = if software { SOFTWARE_SUBMIT_THREADS } else { SUBMIT_THREADS };
        if self.threads > most || self.params.len() >= PARAMS_BYTES {
            self.submit()?;
        }
        Ok(())
    }

    /// Runs a kernel over `threads` threads, in parts that are multiples of `unit` threads; `params` gives the
    /// parameters of a part from its first thread and its number of threads.
    pub fn dispatch_threads<P: Params>(
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
            let part = most.min(threads - first) as u32;
            self.dispatch(bound, &params(first, part), part.div_ceil(WORKGROUP))?;
            first += u64::from(part);
        }
        Ok(())
    }

    /// Does the work of a kernel on the CPU, on copies of its buffers.
    fn run_twin<P: Params>(&mut self, bound: &Bound, params: &P, workgroups: u32) -> Result<(), GpuError> {
        self.finish()?;
        self.write_records();
        let mut buffers = Vec::new();
        for window in bound.windows.iter() {
            buffers.push(bytemuck::pod_collect_to_vec(&self.gpu.read(window)?));
        }
        let params: &[u32] = bytemuck::cast_slice(std::slice::from_ref(params));
        for workgroup in 0..workgroups {
            (bound.kernel.twin)(workgroup, params, &mut buffers);
        }
        for ((window, words), access) in bound.windows.iter().zip(&buffers).zip(bound.kernel.access) {
            if *access == Access::Write {
                self.gpu.queue.write_buffer(&window.buffer, window.offset, bytemuck::cast_slice(words));
            }
        }
        Ok(())
    }

    fn write_records(&self) {
        self.gpu.queue.write_buffer(&self.records_buffer.buffer, 0, bytemuck::cast_slice(&self.records));
    }

    fn encoder(&mut self) -> &mut CommandEncoder {
        self.pass = None;
        self.encoder.get_or_insert_with(|| self.gpu.device.create_command_encoder(&Default::default()))
    }

    /// The current pass, or a new one; with timing, a new one for each kernel.
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
    pub fn clear(&mut self, window: &Window) {
        let Window { buffer, offset, bytes } = window;
        self.encoder().clear_buffer(buffer, *offset, Some(*bytes));
    }

    /// Copies `bytes` from the beginning of one window to the beginning of another.
    pub fn copy(&mut self, from: &Window, to: &Window, bytes: u64) {
        if bytes > 0 {
            self.encoder().copy_buffer_to_buffer(&from.buffer, from.offset, &to.buffer, to.offset, bytes);
            self.copied += bytes;
        }
    }

    /// Copies bytes, a multiple of 4, to the beginning of a window.
    pub fn upload(&mut self, bytes: &[u8], to: &Window) -> Result<(), GpuError> {
        let mut offset = to.offset;
        for piece in bytes.chunks(PIECE as usize) {
            let (from, at) = self.staging.write(self.gpu, piece)?;
            self.encoder().copy_buffer_to_buffer(&from, at, &to.buffer, offset, piece.len() as u64);
            offset += piece.len() as u64;
            self.uploaded += piece.len() as u64;
            self.uploading += piece.len() as u64;
            if self.uploading >= SUBMIT_UPLOAD {
                self.submit()?;
            }
        }
        Ok(())
    }

    /// Submits the recorded work; waits while too many submissions are in flight.
    ///
    /// # Errors
    /// When the device reported a fault.
    pub fn submit(&mut self) -> Result<(), GpuError> {
        self.pass = None;
        if let Some(mut encoder) = self.encoder.take() {
            if let Some(timing) = &mut self.timing {
                timing.resolve(&mut encoder);
            }
            self.staging.finish();
            self.gpu.queue.write_buffer(&self.params_buffer.buffer, 0, &self.params);
            self.write_records();
            let submission = self.gpu.queue.submit([encoder.finish()]);
            self.last = Some(submission.clone());
            self.in_flight.push_back(submission);
            self.staging.recall();
            self.params.clear();
            (self.threads, self.uploading) = (0, 0);
        }
        self.gpu.check()?;
        while self.in_flight.len() > IN_FLIGHT {
            self.gpu.wait(self.in_flight.pop_front())?;
        }
        if let Some(timing) = &mut self.timing {
            timing.collect(self.gpu)?;
        }
        Ok(())
    }

    /// Submits the recorded work and waits until all is done.
    ///
    /// # Errors
    /// When the device reported a fault.
    pub fn finish(&mut self) -> Result<(), GpuError> {
        self.submit()?;
        self.in_flight.clear();
        self.gpu.wait(None)
    }
}
