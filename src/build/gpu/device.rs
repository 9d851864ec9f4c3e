use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wgpu::{
    BindGroupLayout, BindGroupLayoutEntry, BindingType, BufferBindingType, BufferUsages, ComputePipeline, ErrorFilter,
    Features, PollType, ShaderStages,
};

use super::memory::DeviceMemory;
use super::stages::{Access, Stage};
use super::{Adapter, AdapterReport, GpuError};

/// Vulkan's storage buffers end here, whatever the driver offers, less what keeps windows aligned.
const MAX_BINDING: u64 = (1 << 31) - 256;

/// How long a refused command may wait to be explained by the loss of the device.
const LOSS_IS_TOLD_WITHIN: Duration = Duration::from_secs(2);

/// How to use a GPU.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// Bytes of the device's memory that may be used; all that there is if not told.
    pub memory: Option<u64>,
    /// Bytes of the largest part of a buffer that a stage may use at once; the adapter's limit if not told.
    pub max_binding: Option<u64>,
    /// Stages that run as their twins on the CPU.
    pub twins: Vec<Stage>,
    /// Shaders check every index. Always so on software adapters and in debug builds.
    pub checked: bool,
}

/// A GPU that is open.
pub struct Gpu {
    /// The device.
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    report: AdapterReport,
    options: GpuOptions,
    checked: bool,
    max_binding: u64,
    window_alignment: u64,
    pipelines: [OnceLock<Pipeline>; Stage::ALL.len()],
    faults: Arc<Mutex<Faults>>,
    used: Arc<AtomicU64>,
}

/// What the device told of by itself, each the first time.
#[derive(Default)]
struct Faults {
    lost: Option<String>,
    refused: Option<String>,
}

/// A stage, compiled.
pub(super) struct Pipeline {
    pub layout: BindGroupLayout,
    pub pipeline: ComputePipeline,
}

/// A buffer on the device, counted against its memory as long as it lives.
pub(super) struct DeviceBuffer {
    pub buffer: wgpu::Buffer,
    /// Where its bytes are counted; not those of buffers in the memory of the machine.
    used: Option<Arc<AtomicU64>>,
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if let Some(used) = &self.used {
            used.fetch_sub(self.buffer.size(), Ordering::Relaxed);
        }
    }
}

/// A part of a buffer that a stage uses.
#[derive(Clone)]
pub(super) struct Window {
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

    /// The first `bytes` of it.
    pub fn front(&self, bytes: u64) -> Window {
        Window { bytes, ..self.window() }
    }
}

impl Gpu {
    /// Opens an adapter.
    ///
    /// # Errors
    /// When its driver does not give a device.
    pub fn open(adapter: &Adapter, options: GpuOptions) -> Result<Gpu, GpuError> {
        let report = adapter.report.clone();
        let limits = adapter.adapter.limits();
        let wanted = Features::TIMESTAMP_QUERY;
        let descriptor = wgpu::DeviceDescriptor {
            required_features: adapter.adapter.features() & wanted,
            required_limits: limits.clone(),
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
            kept.lock().unwrap_or_else(PoisonError::into_inner).lost.get_or_insert(message);
        });
        let kept = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).refused.get_or_insert(error.to_string());
        }));
        let max_binding = limits.max_storage_buffer_binding_size.min(MAX_BINDING);
        Ok(Gpu {
            checked: options.checked || cfg!(debug_assertions) || report.tier == super::Tier::Software,
            max_binding: options.max_binding.unwrap_or(max_binding).min(max_binding),
            window_alignment: limits.min_storage_buffer_offset_alignment.into(),
            pipelines: Default::default(),
            used: Arc::default(),
            device,
            queue,
            report,
            options,
            faults,
        })
    }

    /// What is known of the adapter.
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// Bytes of the largest part of a buffer that a stage can use at once.
    pub fn max_binding(&self) -> u64 {
        self.max_binding
    }

    /// What the beginning of a part of a buffer is a multiple of.
    pub(super) fn window_alignment(&self) -> u64 {
        self.window_alignment
    }

    /// Whether a stage runs as its twin.
    pub(super) fn is_twin(&self, stage: Stage) -> bool {
        self.options.twins.contains(&stage)
    }

    /// Bytes of the device's memory that buffers take.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether `bytes` more are within what may be used; whether the device has them is another question.
    pub(super) fn room_for(&self, bytes: u64) -> bool {
        self.options.memory.is_none_or(|budget| self.used() + bytes <= budget)
    }

    /// Bytes of the device's memory that may be used, if that is limited.
    pub fn budget(&self) -> Option<u64> {
        self.options.memory
    }

    /// Bytes of the device's memory that a build of all layers up to `seeds` takes at least; frames of lower layers that
    /// find no room beside that come from the files again and again.
    pub fn least_memory(&self, pits: usize, seeds: usize) -> u64 {
        DeviceMemory::new(pits, seeds, self.options.memory, self.max_binding).least()
    }

    /// Loses the device, as a driver's reset does: for tests of what happens then.
    pub fn lose(&self) {
        self.device.destroy();
    }

    /// Whether all went well so far.
    ///
    /// # Errors
    /// The loss of the device, or else the first command that it refused.
    pub(super) fn check(&self) -> Result<(), GpuError> {
        let faults = || self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults().refused.is_some() {
            // A device that is gone refuses everything, and tells that it is gone only when it is asked and idle; then
            // it tells the thread that asked first, which may be another that has not yet written it down.
            let asked = Instant::now();
            while faults().lost.is_none() && asked.elapsed() < LOSS_IS_TOLD_WITHIN {
                let _ = self.device.poll(PollType::wait_indefinitely());
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        match &*faults() {
            Faults { lost: Some(message), .. } => Err(GpuError::Lost(message.clone())),
            Faults { refused: Some(message), .. } => Err(GpuError::Refused(message.clone())),
            Faults { lost: None, refused: None } => Ok(()),
        }
    }

    /// Waits for a submission, or all.
    pub(super) fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), GpuError> {
        let polled = self.device.poll(PollType::Wait { submission_index: submission, timeout: None });
        self.check()?;
        polled.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()))
    }

    /// A buffer of `bytes`, rounded up to whole words, with zeros.
    ///
    /// # Errors
    /// When there is no room for it.
    pub(super) fn buffer(&self, what: &'static str, bytes: u64, usage: BufferUsages) -> Result<DeviceBuffer, GpuError> {
        let bytes = bytes.next_multiple_of(4).max(16);
        let budget = self.options.memory;
        let out_of_memory = |advice| GpuError::OutOfMemory { what, bytes, used: self.used(), budget, advice };
        if bytes > self.report.max_buffer_bytes {
            return Err(out_of_memory("the adapter has no buffers of this size; use --backend cpu"));
        }
        if budget.is_some_and(|budget| self.used() + bytes > budget) {
            return Err(out_of_memory("allow more with --gpu-memory, or use --backend cpu"));
        }
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let descriptor = wgpu::BufferDescriptor { label: Some(what), size: bytes, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        if pollster::block_on(scope.pop()).is_some() {
            return Err(out_of_memory("end other programs that use the GPU, or use --backend cpu"));
        }
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(DeviceBuffer { buffer, used: Some(Arc::clone(&self.used)) })
    }

    /// A buffer in the memory of the machine, through which data comes.
    pub(super) fn host_buffer(&self, bytes: u64, usage: BufferUsages) -> Result<DeviceBuffer, GpuError> {
        Ok(DeviceBuffer { buffer: self.make_host_buffer(bytes, usage, false)?, used: None })
    }

    /// A buffer in the memory of the machine, through which data goes: mapped already.
    pub(super) fn mapped_buffer(&self, bytes: u64, usage: BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        self.make_host_buffer(bytes, usage, true)
    }

    fn make_host_buffer(&self, bytes: u64, usage: BufferUsages, mapped: bool) -> Result<wgpu::Buffer, GpuError> {
        let bytes = bytes.next_multiple_of(4).max(16);
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let descriptor = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: mapped };
        let buffer = self.device.create_buffer(&descriptor);
        if pollster::block_on(scope.pop()).is_some() {
            let (what, advice) = ("what comes and goes", "end other programs, or use --backend cpu");
            return Err(GpuError::OutOfMemory { what, bytes, used: self.used(), budget: None, advice });
        }
        Ok(buffer)
    }

    /// A buffer that stages use.
    pub(super) fn storage(&self, what: &'static str, bytes: u64) -> Result<DeviceBuffer, GpuError> {
        self.buffer(what, bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// A buffer that stages use, with these words.
    pub(super) fn storage_of(&self, what: &'static str, words: &[u32]) -> Result<DeviceBuffer, GpuError> {
        let buffer = self.storage(what, 4 * words.len() as u64)?;
        self.queue.write_buffer(&buffer.buffer, 0, bytemuck::cast_slice(words));
        Ok(buffer)
    }

    /// Reads the bytes of a part of a buffer; waits for everything before.
    pub(super) fn read(&self, window: &Window) -> Result<Vec<u8>, GpuError> {
        let staging = self.host_buffer(window.bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&window.buffer, window.offset, &staging.buffer, 0, window.bytes);
        let submission = self.queue.submit([encoder.finish()]);
        self.mapped(&staging.buffer, window.bytes, Some(submission), |bytes| bytes.to_vec())
    }

    /// Waits for a submission, or all, and shows the first bytes of a buffer that can be mapped.
    pub(super) fn mapped<T>(
        &self,
        buffer: &wgpu::Buffer,
        bytes: u64,
        submission: Option<wgpu::SubmissionIndex>,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        buffer.slice(..bytes).map_async(wgpu::MapMode::Read, |_| ());
        self.wait(submission)?;
        // A mapping that failed without a fault told.
        let view = buffer.slice(..bytes).get_mapped_range().map_err(|error| GpuError::Lost(error.to_string()))?;
        let result = look(&view);
        drop(view);
        buffer.unmap();
        Ok(result)
    }

    /// Bytes a second, read and written, of copies of `bytes` bytes in the device's memory: the best of three.
    ///
    /// # Errors
    /// When there is no room, or the device fails.
    pub fn copy_bandwidth(&self, bytes: u64) -> Result<f64, GpuError> {
        const COPIES: u64 = 8;
        let half = (bytes / 2).min(self.report.max_buffer_bytes);
        let (from, to) = (self.storage("a copy to measure", half)?, self.storage("a copy to measure", half)?);
        let mut best = 0.0f64;
        for _ in 0..3 {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for _ in 0..COPIES {
                encoder.copy_buffer_to_buffer(&from.buffer, 0, &to.buffer, 0, half);
            }
            self.wait(None)?;
            let start = Instant::now();
            self.queue.submit([encoder.finish()]);
            self.wait(None)?;
            best = best.max((2 * COPIES * half) as f64 / start.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    /// The compiled stage.
    pub(super) fn pipeline(&self, stage: Stage) -> &Pipeline {
        self.pipelines[stage as usize].get_or_init(|| self.compile(stage))
    }

    fn compile(&self, stage: Stage) -> Pipeline {
        let entry = |binding, ty, has_dynamic_offset| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let storage = (1..).zip(stage.access()).map(|(binding, &access)| {
            entry(binding, BufferBindingType::Storage { read_only: access == Access::Read }, false)
        });
        let entries: Vec<BindGroupLayoutEntry> =
            [entry(0, BufferBindingType::Uniform, true)].into_iter().chain(storage).collect();
        let label = Some(stage.name());
        let layout =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let source = stage.source();
        let descriptor =
            wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(source.as_str().into()) };
        let module = if self.checked {
            self.device.create_shader_module(descriptor)
        } else {
            // SAFETY: every index of the shaders is within its buffer for tables that are sound, which a builder checks
            // before; every loop ends. Tests run all stages with the checks.
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
            entry_point: Some(stage.entry_point()),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Pipeline { layout, pipeline }
    }
}
