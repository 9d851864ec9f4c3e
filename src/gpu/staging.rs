//! Copying data to the device.
//!
//! Like wgpu's own staging belt, which however panics when the device is lost.

use std::sync::mpsc::{Receiver, Sender, channel};

use wgpu::{Buffer, BufferUsages, MapMode};

use super::device::Gpu;
use super::error::GpuError;

/// Reusable buffers in the memory of the machine, from which data is copied to the device.
#[derive(Debug)]
pub(super) struct Staging {
    /// Bytes of each.
    bytes: u64,
    /// The buffer being filled, and how far it is.
    filling: Option<(Buffer, u64)>,
    /// Full buffers, read by recorded work.
    full: Vec<Buffer>,
    /// Buffers read by submitted work.
    submitted: Vec<Buffer>,
    /// Buffers that the device has read.
    free: Receiver<Buffer>,
    give_back: Sender<Buffer>,
}

impl Staging {
    pub fn new(bytes: u64) -> Staging {
        let (give_back, free) = channel();
        Staging { bytes, filling: None, full: Vec::new(), submitted: Vec::new(), free, give_back }
    }

    /// Stores data, at most as much as a buffer holds, for commands recorded from now on.
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
            // The device is lost: when idle, it reports why.
            Err(error) => return Err(gpu.wait(None).err().unwrap_or_else(|| GpuError::Lost(error.to_string()))),
        }
        // Mapped parts must begin at a multiple of 8.
        self.filling = Some((buffer.clone(), at + bytes.next_multiple_of(8)));
        Ok((buffer, at))
    }

    fn make(&self, gpu: &Gpu) -> Result<Buffer, GpuError> {
        gpu.mapped_buffer(self.bytes, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC)
    }

    /// Call before submitting the recorded work.
    pub fn finish(&mut self) {
        self.full.extend(self.filling.take().map(|(buffer, _)| buffer));
        self.full.iter().for_each(Buffer::unmap);
        self.submitted.append(&mut self.full);
    }

    /// Call after submitting the recorded work: the buffers are reused once the device has read them.
    pub fn recall(&mut self) {
        for buffer in self.submitted.drain(..) {
            let (give_back, mapped) = (self.give_back.clone(), buffer.clone());
            buffer.map_async(MapMode::Write, .., move |result| {
                if result.is_ok() {
                    // The receiver is gone when everything is done.
                    let _ = give_back.send(mapped);
                }
            });
        }
    }
}
