use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, ErrorFilter};

use super::error::{GpuError, Shortage};
use super::gpu::Gpu;

/// A buffer on the device, counted as used memory while it exists.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    pub buffer: wgpu::Buffer,
    /// Counter of its bytes; `None` for buffers in the memory of the machine.
    used: Option<Arc<AtomicU64>>,
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if let Some(used) = &self.used {
            used.fetch_sub(self.buffer.size(), Ordering::Relaxed);
        }
    }
}

/// A part of a buffer that a kernel uses.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

impl DeviceBuffer {
    pub fn bytes(&self) -> u64 {
        self.buffer.size()
    }

    /// The whole buffer.
    pub fn window(&self) -> Window {
        Window { buffer: self.buffer.clone(), offset: 0, bytes: self.bytes() }
    }

    /// The first `bytes` bytes.
    pub fn front(&self, bytes: u64) -> Window {
        Window { bytes, ..self.window() }
    }
}

impl Gpu {
    /// Makes a zeroed buffer of `bytes` bytes, rounded up to whole words.
    ///
    /// # Errors
    /// When there is not enough memory for it.
    pub(crate) fn buffer(&self, what: &'static str, bytes: u64, usage: BufferUsages) -> Result<DeviceBuffer, GpuError> {
        let bytes = bytes.next_multiple_of(4).max(16);
        let budget = self.options.memory;
        let out_of_memory = |shortage| GpuError::OutOfMemory { what, bytes, used: self.used(), shortage };
        if bytes > self.report().max_buffer_bytes {
            return Err(out_of_memory(Shortage::BufferSize(budget)));
        }
        if let Some(budget) = budget.filter(|&budget| self.used() + bytes > budget) {
            return Err(out_of_memory(Shortage::Allowed(budget)));
        }
        let descriptor = wgpu::BufferDescriptor { label: Some(what), size: bytes, usage, mapped_at_creation: false };
        let buffer = self.create(&descriptor).ok_or_else(|| out_of_memory(Shortage::Device(budget)))?;
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(DeviceBuffer { buffer, used: Some(Arc::clone(&self.used)) })
    }

    /// Makes a buffer in the memory of the machine, for data from the device.
    pub(crate) fn host_buffer(&self, bytes: u64) -> Result<DeviceBuffer, GpuError> {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        Ok(DeviceBuffer { buffer: self.make_host_buffer(bytes, usage, false)?, used: None })
    }

    /// Makes a mapped buffer in the memory of the machine, for data to the device.
    pub(crate) fn mapped_buffer(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.make_host_buffer(bytes, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true)
    }

    fn make_host_buffer(&self, bytes: u64, usage: BufferUsages, mapped: bool) -> Result<wgpu::Buffer, GpuError> {
        let bytes = bytes.next_multiple_of(4).max(16);
        let (what, shortage) = ("transfer buffers", Shortage::Machine);
        let descriptor = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: mapped };
        let out_of_memory = || GpuError::OutOfMemory { what, bytes, used: self.used(), shortage };
        self.create(&descriptor).ok_or_else(out_of_memory)
    }

    /// Makes a buffer; `None` if there is no memory for it.
    fn create(&self, descriptor: &wgpu::BufferDescriptor) -> Option<wgpu::Buffer> {
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(descriptor);
        pollster::block_on(scope.pop()).is_none().then_some(buffer)
    }

    /// Makes a buffer that kernels use.
    pub(crate) fn storage(&self, what: &'static str, bytes: u64) -> Result<DeviceBuffer, GpuError> {
        self.buffer(what, bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// Reads a part of a buffer, after everything submitted before.
    pub(crate) fn read(&self, window: &Window) -> Result<Vec<u8>, GpuError> {
        let staging = self.host_buffer(window.bytes)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&window.buffer, window.offset, &staging.buffer, 0, window.bytes);
        let submission = self.queue.submit([encoder.finish()]);
        self.mapped(&staging.buffer, window.bytes, Some(submission), |bytes| bytes.to_vec())
    }

    /// Waits for a submission, or for all, and maps the first bytes of a buffer.
    pub(crate) fn mapped<T>(
        &self,
        buffer: &wgpu::Buffer,
        bytes: u64,
        submission: Option<wgpu::SubmissionIndex>,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        buffer.slice(..bytes).map_async(wgpu::MapMode::Read, |_| ());
        self.wait(submission)?;
        // The mapping failed without a reported fault.
        let view = buffer.slice(..bytes).get_mapped_range().map_err(|error| GpuError::Lost(error.to_string()))?;
        let result = read(&view);
        drop(view);
        buffer.unmap();
        Ok(result)
    }

    /// Bandwidth of copying `bytes` bytes in the device's memory, in bytes read and written per
    /// second: the best of three.
    ///
    /// # Errors
    /// When there is not enough memory, or the device fails.
    pub fn copy_bandwidth(&self, bytes: u64) -> Result<f64, GpuError> {
        // Waiting for the device takes time, too.
        const LEAST: Duration = Duration::from_millis(50);
        let half = (bytes / 2).min(self.report().max_buffer_bytes);
        let (from, to) = (self.storage("a copy to measure", half)?, self.storage("a copy to measure", half)?);
        let (mut copies, mut measured, mut best) = (4, 0, 0.0f64);
        while measured < 3 {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for _ in 0..copies {
                encoder.copy_buffer_to_buffer(&from.buffer, 0, &to.buffer, 0, half);
            }
            self.wait(None)?;
            let start = Instant::now();
            self.queue.submit([encoder.finish()]);
            self.wait(None)?;
            let time = start.elapsed();
            if time < LEAST && copies < 1 << 12 {
                copies *= 2;
                continue;
            }
            measured += 1;
            best = best.max((2 * copies * half) as f64 / time.as_secs_f64());
        }
        Ok(best)
    }
}
