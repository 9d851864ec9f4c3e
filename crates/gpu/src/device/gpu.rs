use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use wgpu::{
    BindGroupLayout, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline, Features, MemoryHints,
    ShaderStages,
};

use super::adapter::Adapter;
use super::adapter::{AdapterReport, Tier};
use super::error::GpuError;
use super::kernel::{Access, Kernel, MAX_BUFFERS};

/// An open GPU.
#[derive(Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    report: AdapterReport,
    pub(super) options: GpuOptions,
    checked: bool,
    max_binding: u64,
    /// The kernels used so far, by name.
    pipelines: Mutex<HashMap<&'static str, Arc<Pipeline>>>,
    pub(super) faults: Arc<Mutex<Faults>>,
    /// The submissions that have ended.
    pub(super) ended: Arc<AtomicU64>,
    /// Bytes of the device's memory in use by buffers.
    pub(super) used: Arc<AtomicU64>,
    /// The self-tests that the device has passed, by name.
    tested: Mutex<Vec<&'static str>>,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub layout: BindGroupLayout,
    pub pipeline: ComputePipeline,
}

impl Gpu {
    /// Opens an adapter.
    ///
    /// # Errors
    /// When its driver does not provide a device.
    pub fn open(adapter: &Adapter, options: GpuOptions) -> Result<Gpu, GpuError> {
        let report = adapter.report.clone();
        let limits = adapter.adapter.limits();
        let wanted = Features::TIMESTAMP_QUERY;
        let descriptor = wgpu::DeviceDescriptor {
            required_features: adapter.adapter.features() & wanted,
            required_limits: limits.clone(),
            // Large buffers have separate memory. Small ones share blocks, of which little is then
            // unused.
            memory_hints: MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let unfit =
            |error: &dyn std::fmt::Display| GpuError::Unfit { adapter: report.name.clone(), reason: error.to_string() };
        let (device, queue) =
            pollster::block_on(adapter.adapter.request_device(&descriptor)).map_err(|error| unfit(&error))?;

        let faults: Arc<Mutex<Faults>> = Arc::default();
        let kept = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            let message = if message.is_empty() { format!("{reason:?}") } else { message };
            kept.lock().lost.get_or_insert(message);
        });
        let kept = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            kept.lock().refused.get_or_insert(error.to_string());
        }));
        let max_binding = report.max_binding();
        Ok(Gpu {
            checked: options.checked.unwrap_or(cfg!(debug_assertions) || report.tier == Tier::Software),
            max_binding: options.max_binding.unwrap_or(max_binding).min(max_binding),
            pipelines: Default::default(),
            ended: Arc::default(),
            used: Arc::default(),
            tested: Mutex::default(),
            device,
            queue,
            report,
            options,
            faults,
        })
    }

    /// Description of the adapter.
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// Maximum bytes of a buffer that a kernel can use at once.
    pub fn max_binding(&self) -> u64 {
        self.max_binding
    }

    /// Maximum bytes of a part of a lower frame.
    pub(crate) fn max_part(&self) -> u64 {
        self.options.max_part.unwrap_or(u64::MAX).min(self.max_binding)
    }

    /// Maximum bytes of a buffer that holds a frame.
    pub(crate) fn max_buffer(&self) -> u64 {
        self.options.max_buffer.unwrap_or(u64::MAX).min(self.report.max_buffer_bytes)
    }

    /// Returns true if shaders check every index.
    pub fn is_checked(&self) -> bool {
        self.checked
    }

    /// Bytes of the device's memory used by buffers.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Number of submissions that have ended since the device was opened.
    pub fn submissions(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// The limit on the device's memory in bytes, if any.
    pub fn budget(&self) -> Option<u64> {
        self.options.memory
    }

    /// Error for a kernel that needs too many bytes of a buffer at once.
    pub(crate) fn binding_error(&self, needed: u64) -> GpuError {
        GpuError::limit(&self.report.name, "bytes of a buffer at once", needed, self.max_binding)
    }

    /// Runs a self-test, unless the device has passed it already.
    ///
    /// # Errors
    /// The error of the test.
    pub(crate) fn once<E>(&self, name: &'static str, test: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut tested = self.tested.lock();
        if !tested.contains(&name) {
            test()?;
            tested.push(name);
        }
        Ok(())
    }

    pub(super) fn pipeline(&self, kernel: &'static Kernel) -> Arc<Pipeline> {
        let mut pipelines = self.pipelines.lock();
        Arc::clone(pipelines.entry(kernel.name).or_insert_with(|| Arc::new(self.compile(kernel))))
    }

    fn compile(&self, kernel: &Kernel) -> Pipeline {
        assert!(kernel.access.len() <= MAX_BUFFERS, "buffers of {}", kernel.name);
        let entry = |binding, ty, has_dynamic_offset| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let storage = (1..).zip(kernel.access).map(|(binding, &access)| {
            entry(binding, BufferBindingType::Storage { read_only: access == Access::Read }, false)
        });
        let entries: Vec<BindGroupLayoutEntry> =
            [entry(0, BufferBindingType::Uniform, true)].into_iter().chain(storage).collect();
        let label = Some(kernel.name);
        let layout =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let source = kernel.source();
        let descriptor =
            wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(source.as_str().into()) };
        let module = if self.checked {
            self.device.create_shader_module(descriptor)
        } else {
            // SAFETY: the author of the kernel guarantees that its loops end and its indices are within their buffers.
            unsafe { self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
        };
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            })),
            module: &module,
            entry_point: Some(kernel.entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Pipeline { layout, pipeline }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The queue, when dropped, waits until the device is idle: forever, if it hangs.
        if self.faults.lock().hung.is_some() {
            std::mem::forget(self.queue.clone());
        }
    }
}

/// Options for using a GPU. By default all its memory may be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Bytes of the device's memory that may be used; all by default.
    pub memory: Option<u64>,
    /// Maximum bytes of a buffer that a kernel may use at once; the adapter's limit by default.
    pub max_binding: Option<u64>,
    /// Maximum bytes of a part of a lower frame; those of `max_binding` by default. A smaller limit divides small
    /// frames, too.
    pub max_part: Option<u64>,
    /// Maximum bytes of a buffer that holds a frame, if no kernel uses it; the adapter's limit by default.
    pub max_buffer: Option<u64>,
    /// True if shaders check every index. By default they do only on software adapters and in debug
    /// builds.
    pub checked: Option<bool>,
    /// Time without the end of a submission after which the device counts as hung: a minute by
    /// default. A submission should take at most a fifth of a second on any device. For a software
    /// adapter the time is processor time of this process, unless that stands still.
    pub patience: Duration,
    /// Target time of a submission: by default a tenth of a second, far below two seconds, since some
    /// take longer than expected. Longer work is divided, down to a row.
    pub submission: Duration,
}

impl Default for GpuOptions {
    fn default() -> GpuOptions {
        let (patience, submission) = (Duration::from_secs(60), Duration::from_millis(100));
        let (memory, max_binding, max_part, max_buffer) = (None, None, None, None);
        GpuOptions { memory, max_binding, max_part, max_buffer, checked: None, patience, submission }
    }
}

/// Faults of a device, the first of each kind.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The message of the driver.
    pub lost: Option<String>,
    /// The message of the driver.
    pub refused: Option<String>,
    /// Time without progress.
    pub hung: Option<Duration>,
}
