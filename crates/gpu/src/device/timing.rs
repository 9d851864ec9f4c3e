use std::collections::HashMap;

use wgpu::{BufferUsages, CommandEncoder, ErrorFilter, QuerySet, QueryType};

use super::buffer::DeviceBuffer;
use super::error::{GpuError, Shortage};
use super::gpu::Gpu;
use super::kernel::Kernel;

/// Maximum number of passes in one submission that can be timed.
const PASSES: u32 = 2048;

/// Measures the times of kernels by the device's own clock. Only one submission is in flight at a
/// time.
#[derive(Debug)]
pub(crate) struct Timing {
    set: QuerySet,
    resolved: DeviceBuffer,
    readable: DeviceBuffer,
    /// Nanoseconds per tick.
    period: f64,
    /// Recorded passes whose times have not been read.
    passes: Vec<&'static Kernel>,
    /// Seconds of each kernel that ran, by name.
    seconds: HashMap<&'static str, f64>,
}

impl Timing {
    /// Starts measuring; `None` on an adapter without timestamps.
    pub(crate) fn new(gpu: &Gpu) -> Result<Option<Timing>, GpuError> {
        if !gpu.report().timestamps {
            return Ok(None);
        }
        let descriptor = wgpu::QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count: 2 * PASSES };
        let bytes = 16 * u64::from(PASSES);
        let scope = gpu.device.push_error_scope(ErrorFilter::OutOfMemory);
        let set = gpu.device.create_query_set(&descriptor);
        if pollster::block_on(scope.pop()).is_some() {
            let (used, allowed) = (gpu.used(), gpu.budget());
            return Err(GpuError::OutOfMemory { what: "timestamps", bytes, used, allowed, shortage: Shortage::Device });
        }
        Ok(Some(Timing {
            set,
            resolved: gpu.buffer("timestamps", bytes, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC)?,
            readable: gpu.host_buffer(bytes)?,
            period: gpu.queue.get_timestamp_period().into(),
            passes: Vec::new(),
            seconds: HashMap::new(),
        }))
    }

    /// Seconds that a kernel took so far.
    pub(crate) fn seconds(&self, kernel: &Kernel) -> f64 {
        self.seconds.get(kernel.name).copied().unwrap_or(0.0)
    }

    /// Begins a pass. Returns the destination of its two times.
    pub(super) fn begin(&mut self, kernel: &'static Kernel) -> (QuerySet, u32) {
        let first = 2 * self.passes.len() as u32 % (2 * PASSES);
        self.passes.push(kernel);
        (self.set.clone(), first)
    }

    pub(super) fn resolve(&mut self, encoder: &mut CommandEncoder) {
        let passes = (self.passes.len() as u32).min(PASSES);
        if passes > 0 {
            encoder.resolve_query_set(&self.set, 0..2 * passes, &self.resolved.buffer, 0);
            encoder.copy_buffer_to_buffer(&self.resolved.buffer, 0, &self.readable.buffer, 0, 16 * u64::from(passes));
        }
    }

    pub(super) fn collect(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let passes = self.passes.len().min(PASSES as usize);
        if passes > 0 {
            let times: Vec<u64> = gpu.mapped(&[self.readable.front(16 * passes as u64)], None, |times| {
                bytemuck::pod_collect_to_vec(times[0])
            })?;
            for (kernel, times) in self.passes.drain(..).zip(times.as_chunks::<2>().0) {
                *self.seconds.entry(kernel.name).or_default() +=
                    times[1].saturating_sub(times[0]) as f64 * self.period * 1e-9;
            }
        }
        Ok(())
    }
}
