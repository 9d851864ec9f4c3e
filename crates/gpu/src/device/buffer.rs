//! Copies data to the device.
//!
//! All data goes this way, never through `wgpu::Queue::write_buffer`. If that finds no memory for
//! staging, the device is lost. Here it is an ordinary error, or a wait for buffers in use. (wgpu's
//! staging belt panics when the device is lost.)

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;
use wgpu::{Buffer, BufferUsages, ErrorFilter, MapMode, WriteOnly};

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
    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.size()
    }

    /// The whole buffer.
    pub(crate) fn window(&self) -> Window {
        Window { buffer: self.buffer.clone(), offset: 0, bytes: self.bytes() }
    }

    /// The first `bytes` bytes.
    pub(crate) fn front(&self, bytes: u64) -> Window {
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
        let allowed = self.options.memory;
        let out_of_memory = |shortage| GpuError::OutOfMemory { what, bytes, used: self.used(), allowed, shortage };
        if bytes > self.report().max_buffer_bytes {
            return Err(out_of_memory(Shortage::BufferSize));
        }
        if allowed.is_some_and(|allowed| self.used() + bytes > allowed) {
            return Err(out_of_memory(Shortage::Allowed));
        }
        let descriptor = wgpu::BufferDescriptor { label: Some(what), size: bytes, usage, mapped_at_creation: false };
        let buffer = self.create(&descriptor).ok_or_else(|| out_of_memory(Shortage::Device))?;
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
        let (what, allowed, shortage) = ("transfer buffers", None, Shortage::Machine);
        let descriptor = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: mapped };
        let out_of_memory = || GpuError::OutOfMemory { what, bytes, used: self.used(), allowed, shortage };
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
        self.mapped(&[staging.front(window.bytes)], Some(submission), |bytes| bytes[0].to_vec())
    }

    /// Waits for a submission, or for all, and maps windows of different buffers.
    pub(crate) fn mapped<T>(
        &self,
        windows: &[Window],
        submission: Option<wgpu::SubmissionIndex>,
        read: impl FnOnce(&mut [&[u8]]) -> T,
    ) -> Result<T, GpuError> {
        let slice = |window: &Window| window.offset..window.offset + window.bytes;
        for window in windows {
            window.buffer.slice(slice(window)).map_async(wgpu::MapMode::Read, |_| ());
        }
        self.wait(submission)?;
        let views = windows.iter().map(|window| window.buffer.slice(slice(window)).get_mapped_range());
        // The mapping failed without a reported fault.
        let views = views.collect::<Result<Vec<_>, _>>().map_err(|error| GpuError::Lost(error.to_string()))?;
        let result = read(&mut views.iter().map(|view| &view[..]).collect::<Vec<&[u8]>>());
        drop(views);
        windows.iter().for_each(|window| window.buffer.unmap());
        Ok(result)
    }
}

/// Minimum bytes of a buffer: if there is no memory for larger ones, they are made smaller down to
/// this.
const LEAST_BYTES: u64 = 1 << 16;

/// Bytes that a thread copies at once.
const PART: usize = 1 << 20;

/// Reusable buffers in the memory of the machine, from which data is copied to the device.
#[derive(Debug)]
pub(super) struct Staging {
    /// Bytes of each buffer.
    bytes: u64,
    /// Number of existing buffers.
    made: usize,
    /// Maximum number of buffers.
    most: usize,
    /// The buffer being filled, and the bytes filled.
    filling: Option<(Buffer, u64)>,
    /// Full buffers, read by recorded work.
    full: Vec<Buffer>,
    /// Buffers that the device has read.
    free: Receiver<Buffer>,
    give_back: Sender<Buffer>,
}

/// Copies on all threads of the current pool: one core copies more slowly than fast buses transfer.
fn copy_in_parallel(to: WriteOnly<'_, [u8]>, from: &[u8]) {
    let (parts, mut rest) = to.into_chunks::<PART>();
    let (front, back) = from.split_at(parts.len() * PART);
    rest.copy_from_slice(back);
    let parts: Vec<WriteOnly<'_, [u8; PART]>> = parts.into_iter().collect();
    parts.into_par_iter().zip(front.par_chunks_exact(PART)).for_each(|(to, from)| {
        WriteOnly::<'_, [u8]>::from(to).copy_from_slice(from);
    });
}

/// Location of staged data.
pub(super) struct Staged {
    pub buffer: Buffer,
    pub offset: u64,
    /// Number of staged bytes. The rest did not fit in the buffer.
    pub bytes: u64,
}

impl Staging {
    /// Prepares up to `most` buffers of `bytes` bytes, or smaller ones if there is no memory for
    /// one of that size. The first is made immediately, so that one always exists.
    pub(super) fn new(gpu: &Gpu, bytes: u64, most: usize) -> Result<Staging, GpuError> {
        let (give_back, free) = channel();
        let mut staging = Staging { bytes, made: 0, most, filling: None, full: Vec::new(), free, give_back };
        loop {
            match staging.make(gpu) {
                Ok(buffer) => {
                    staging.filling = Some((buffer, 0));
                    return Ok(staging);
                }
                Err(GpuError::OutOfMemory { .. }) if staging.bytes / 4 >= LEAST_BYTES => staging.bytes /= 4,
                Err(error) => return Err(error),
            }
        }
    }

    /// Bytes of a buffer.
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Stores the first bytes of `data`, a multiple of 4, for commands recorded from now on; `None`
    /// if no buffer is free before submitted work ends.
    pub(super) fn write(&mut self, gpu: &Gpu, data: &[u8]) -> Result<Option<Staged>, GpuError> {
        let (buffer, offset) = match self.filling.take() {
            Some((buffer, offset)) if offset < buffer.size() => (buffer, offset),
            full => {
                self.full.extend(full.map(|(buffer, _)| buffer));
                match self.next(gpu)? {
                    Some(buffer) => (buffer, 0),
                    None => return Ok(None),
                }
            }
        };
        let bytes = (buffer.size() - offset).min(data.len() as u64);
        match buffer.slice(offset..offset + bytes).get_mapped_range_mut() {
            Ok(mut mapped) => copy_in_parallel(mapped.slice(..), &data[..bytes as usize]),
            // The device is lost: when idle, it reports the reason.
            Err(error) => return Err(gpu.wait(None).err().unwrap_or_else(|| GpuError::Lost(error.to_string()))),
        }
        // Mapped parts must begin at a multiple of 8.
        self.filling = Some((buffer.clone(), offset + bytes.next_multiple_of(8)));
        Ok(Some(Staged { buffer, offset, bytes }))
    }

    /// Returns a free buffer, or a new one.
    fn next(&mut self, gpu: &Gpu) -> Result<Option<Buffer>, GpuError> {
        if let Ok(free) = self.free.try_recv() {
            return Ok(Some(free));
        }
        if self.made == self.most {
            return Ok(None);
        }
        match self.make(gpu) {
            Ok(buffer) => Ok(Some(buffer)),
            // The existing buffers must suffice.
            Err(GpuError::OutOfMemory { .. }) => {
                self.most = self.made;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn make(&mut self, gpu: &Gpu) -> Result<Buffer, GpuError> {
        let buffer = gpu.mapped_buffer(self.bytes)?;
        self.made += 1;
        Ok(buffer)
    }

    /// Call before submitting the recorded work. Returns the buffers that it reads.
    pub(super) fn finish(&mut self) -> Vec<Buffer> {
        // A buffer without data continues to be filled.
        self.full.extend(self.filling.take_if(|(_, filled)| *filled > 0).map(|(buffer, _)| buffer));
        self.full.iter().for_each(Buffer::unmap);
        std::mem::take(&mut self.full)
    }

    /// Call after submitting the recorded work. The buffers are reused once the device has read
    /// them.
    pub(super) fn recall(&mut self, submitted: Vec<Buffer>) {
        for buffer in submitted {
            let (give_back, mapped) = (self.give_back.clone(), buffer.clone());
            buffer.map_async(MapMode::Write, .., move |result| {
                if result.is_ok() {
                    // The receiver is gone when everything is done.
                    let _ = give_back.send(mapped);
                }
            });
        }
    }

    /// Call when recorded work was dropped and never submitted.
    pub(super) fn abandon(&mut self) {
        self.full.extend(self.filling.take().map(|(buffer, _)| buffer));
        for buffer in self.full.drain(..) {
            self.give_back.send(buffer).expect("both ends are here");
        }
    }
}
