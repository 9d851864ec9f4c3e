use serde::Serialize;
use wgpu::{Backends, DeviceType, Features, InstanceDescriptor, Limits, MemoryBudgetThresholds};

use super::GpuError;
use super::memory::largest_layer;

/// The share of a device's memory, in percent, that the driver may report as used before an allocation fails.
const MEMORY_PERCENT: u8 = 95;

/// Storage buffers of the stage that has the most.
const STORAGE_BUFFERS: u32 = 7;

/// How well an adapter suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A GPU that tells the time its kernels take.
    Full,
    /// A GPU that does not.
    Untimed,
    /// A processor that plays a GPU: for tests, slower than the CPU builder.
    Software,
    /// It lacks something that is needed.
    Unfit,
}

/// An adapter, and what of its limits and features matters here.
#[derive(Clone, Debug, Serialize)]
pub struct AdapterReport {
    /// Its name.
    pub name: String,
    /// What kind of device it is.
    pub device: String,
    /// The interface through which it is reached.
    pub backend: String,
    /// Its driver, with its version.
    pub driver: String,
    /// How well it suits.
    pub tier: Tier,
    /// What it lacks, if it is unfit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// Bytes of the largest part of a buffer that a stage can use at once.
    pub max_binding_bytes: u64,
    /// Bytes of the largest buffer.
    pub max_buffer_bytes: u64,
    /// Storage buffers that a stage can use.
    pub max_storage_buffers: u32,
    /// Threads of the largest workgroup.
    pub max_workgroup: u32,
    /// Threads that run in step, least and most.
    pub subgroup: (u32, u32),
    /// Whether it tells how long kernels take.
    pub timestamps: bool,
    /// The largest layer of 6 pits that its limits allow, memory aside.
    pub max_seeds: usize,
}

/// An adapter that can be opened.
pub struct Adapter {
    pub(super) adapter: wgpu::Adapter,
    /// What is known of it.
    pub report: AdapterReport,
}

impl Adapter {
    /// All adapters of this machine.
    pub fn all() -> Vec<Adapter> {
        let mut descriptor = InstanceDescriptor::new_without_display_handle();
        descriptor.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
        descriptor.memory_budget_thresholds =
            MemoryBudgetThresholds { for_resource_creation: Some(MEMORY_PERCENT), for_device_loss: None };
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(Backends::all()));
        adapters.into_iter().map(|adapter| Adapter { report: AdapterReport::new(&adapter), adapter }).collect()
    }

    /// The adapter to compute on: the first whose name contains `name`, whatever the case; without a name the best GPU,
    /// never a software adapter.
    ///
    /// # Errors
    /// When there is none, or the named one is unfit: what there is, and what to do.
    pub fn choose(name: Option<&str>) -> Result<Adapter, GpuError> {
        let adapters = Adapter::all();
        let found: Vec<String> =
            adapters.iter().map(|adapter| format!("{} ({})", adapter.report.name, adapter.report.device)).collect();
        let found = if found.is_empty() { "no adapter at all".to_owned() } else { found.join(", ") };
        let Some(name) = name else {
            let rank = |adapter: &Adapter| match adapter.adapter.get_info().device_type {
                DeviceType::DiscreteGpu => 0,
                DeviceType::VirtualGpu => 1,
                _ => 2,
            };
            let real = adapters.into_iter().filter(|adapter| matches!(adapter.report.tier, Tier::Full | Tier::Untimed));
            return real.min_by_key(rank).ok_or_else(|| {
                GpuError::NoAdapter(format!(
                    "no GPU was found (there is {found}); use --backend cpu, or name a software adapter with --adapter"
                ))
            });
        };
        let named = |adapter: &Adapter| adapter.report.name.to_lowercase().contains(&name.to_lowercase());
        let adapter = adapters
            .into_iter()
            .find(named)
            .ok_or_else(|| GpuError::NoAdapter(format!("no adapter is named {name}: there is {found}")))?;
        match &adapter.report.lacks {
            Some(reason) => Err(GpuError::Unfit { adapter: adapter.report.name, reason: reason.clone() }),
            None => Ok(adapter),
        }
    }
}

impl AdapterReport {
    fn new(adapter: &wgpu::Adapter) -> AdapterReport {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let timestamps = adapter.features().contains(Features::TIMESTAMP_QUERY);
        let lacks = lacks(&limits);
        let tier = match info.device_type {
            _ if lacks.is_some() => Tier::Unfit,
            DeviceType::Cpu => Tier::Software,
            _ if timestamps => Tier::Full,
            _ => Tier::Untimed,
        };
        let device = match info.device_type {
            DeviceType::DiscreteGpu => "discrete GPU",
            DeviceType::IntegratedGpu => "integrated GPU",
            DeviceType::VirtualGpu => "virtual GPU",
            DeviceType::Cpu => "software",
            DeviceType::Other => "unknown device",
        };
        AdapterReport {
            name: info.name,
            device: device.to_owned(),
            backend: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            tier,
            lacks,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_buffer_bytes: limits.max_buffer_size,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            max_workgroup: limits.max_compute_invocations_per_workgroup,
            subgroup: (info.subgroup_min_size, info.subgroup_max_size),
            timestamps,
            max_seeds: largest_layer(6, limits.max_storage_buffer_binding_size, limits.max_buffer_size),
        }
    }
}

/// What an adapter with these limits lacks.
fn lacks(limits: &Limits) -> Option<String> {
    let workgroup = super::stages::WORKGROUP;
    if limits.max_storage_buffers_per_shader_stage < STORAGE_BUFFERS {
        let found = limits.max_storage_buffers_per_shader_stage;
        return Some(format!("a stage can use {found} storage buffers, {STORAGE_BUFFERS} are needed"));
    }
    if limits.max_compute_invocations_per_workgroup < workgroup || limits.max_compute_workgroup_size_x < workgroup {
        return Some(format!("its workgroups have less than {workgroup} threads"));
    }
    None
}
