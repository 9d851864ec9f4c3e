//! Copies data to the device.
//!
//! All data goes this way, never through `wgpu::Queue::write_buffer`. If that finds no memory for
//! staging, the device is lost. Here it is an ordinary error, or a wait for buffers in use. (wgpu's
//! staging belt panics when the device is lost.)

use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;
use wgpu::{Buffer, MapMode, WriteOnly};

use super::error::GpuError;
use super::gpu::Gpu;

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
    pub fn new(gpu: &Gpu, bytes: u64, most: usize) -> Result<Staging, GpuError> {
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
    pub fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Stores the first bytes of `data`, a multiple of 4, for commands recorded from now on; `None`
    /// if no buffer is free before submitted work ends.
    pub fn write(&mut self, gpu: &Gpu, data: &[u8]) -> Result<Option<Staged>, GpuError> {
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
    pub fn finish(&mut self) -> Vec<Buffer> {
        // A buffer without data continues to be filled.
        self.full.extend(self.filling.take_if(|(_, filled)| *filled > 0).map(|(buffer, _)| buffer));
        self.full.iter().for_each(Buffer::unmap);
        std::mem::take(&mut self.full)
    }

    /// Call after submitting the recorded work. The buffers are reused once the device has read
    /// them.
    pub fn recall(&mut self, submitted: Vec<Buffer>) {
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
    pub fn abandon(&mut self) {
        self.full.extend(self.filling.take().map(|(buffer, _)| buffer));
        for buffer in self.full.drain(..) {
            self.give_back.send(buffer).expect("both ends are here");
        }
    }
}
