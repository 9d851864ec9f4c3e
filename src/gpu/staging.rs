//! Data on its way to the device.
//!
//! As wgpu's own staging belt, but that one panics when the device is gone.

use std::sync::mpsc::{Receiver, Sender, channel};

use wgpu::{Buffer, BufferUsages, MapMode};

use super::device::Gpu;
use super::error::GpuError;

/// Buffers in the memory of the machine through which data goes to the device, used again and again.
#[derive(Debug)]
pub(super) struct Staging {
    /// Bytes of each.
    bytes: u64,
    /// Being filled, up to here.
    filling: Option<(Buffer, u64)>,
    /// Full, read by what is recorded.
    full: Vec<Buffer>,
    /// Read by what is submitted.
    submitted: Vec<Buffer>,
    /// The device has read them.
    free: Receiver<Buffer>,
    give_back: Sender<Buffer>,
}

impl Staging {
    pub fn new(bytes: u64) -> Staging {
        let (give_back, free) = channel();
        Staging { bytes, filling: None, full: Vec::new(), submitted: Vec::new(), free, give_back }
    }

    /// Puts data, at most a buffer full, where commands recorded from now on find it.
    pub fn write(&mut self, gpu: &Gpu, data: &[u8]) -> Result<(Buffer, u64), GpuError> {
        let bytes = data.len() as u64;
        assert!(bytes <= self.bytes && bytes.is_multiple_of(4), "{bytes} bytes");
        let (buffer, at) = match self.filling.take() {
            Some((buffer, at)) if at + bytes <= self.bytes => (buffer, at),
            full => {
                self.full.extend(full.map(|(buffer, _)| buffer));
                (self.free.try_recv().map_or_else(|_| self.make(gpu), Ok)?, 0)
            }
        };
        match buffer.slice(at..at + bytes).get_mapped_range_mut() {
            Ok(mut mapped) => mapped.copy_from_slice(data),
            // The device is gone: when it is idle it says why.
            Err(error) => return Err(gpu.wait(None).err().unwrap_or_else(|| GpuError::Lost(error.to_string()))),
        }
        // Mapped parts begin with a multiple of 8.
        self.filling = Some((buffer.clone(), at + bytes.next_multiple_of(8)));
        Ok((buffer, at))
    }

    fn make(&self, gpu: &Gpu) -> Result<Buffer, GpuError> {
        gpu.mapped_buffer(self.bytes, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC)
    }

    /// Call before what is recorded is submitted.
    pub fn finish(&mut self) {
        self.full.extend(self.filling.take().map(|(buffer, _)| buffer));
        self.full.iter().for_each(Buffer::unmap);
        self.submitted.append(&mut self.full);
    }

    /// Call after what was recorded is submitted: the buffers come back once the device has read them.
    pub fn recall(&mut self) {
        for buffer in self.submitted.drain(..) {
            let (give_back, mapped) = (self.give_back.clone(), buffer.clone());
            buffer.map_async(MapMode::Write, .., move |result| {
                if result.is_ok() {
                    // The other end is gone when all is done.
                    let _ = give_back.send(mapped);
                }
            });
        }
    }
}
