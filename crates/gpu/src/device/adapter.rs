use wgpu::{Backends, DeviceType, Features, InstanceDescriptor, Limits, MemoryBudgetThresholds};

use super::error::GpuError;
use super::kernel::{MAX_BUFFERS, WORKGROUP};
use super::report::{AdapterReport, Tier};

/// An allocation fails if it would bring use above this percentage of the memory that the driver
/// reports as available to this program. The rest is for allocations of the driver, whose failure
/// would lose the device, and for programs running beside this one.
const MEMORY_PERCENT: u8 = 88;

/// An adapter that can be opened.
#[derive(Debug)]
pub struct Adapter {
    pub(super) adapter: wgpu::Adapter,
    /// Its description.
    pub report: AdapterReport,
}

impl Adapter {
    /// Returns all adapters of this machine.
    pub fn all() -> Vec<Adapter> {
        let mut descriptor = InstanceDescriptor::new_without_display_handle();
        descriptor.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
        descriptor.memory_budget_thresholds =
            MemoryBudgetThresholds { for_resource_creation: Some(MEMORY_PERCENT), for_device_loss: None };
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(Backends::all()));
        adapters.into_iter().map(|adapter| Adapter { report: report(&adapter), adapter }).collect()
    }

    /// Returns the adapters to compute on, the best first. With a `name`, these are the adapters
    /// whose name contains it, ignoring case. Without, they are all GPUs, never a software adapter.
    ///
    /// # Errors
    /// When there is no such adapter, or all those named are unsuitable.
    pub fn candidates(name: Option<&str>) -> Result<Vec<Adapter>, GpuError> {
        let adapters = Adapter::all();
        let found =
            adapters.iter().map(|Adapter { report, .. }| format!("{} ({})", report.name, report.device)).collect();
        let named = |adapter: &Adapter| {
            name.is_none_or(|name| adapter.report.name.to_lowercase().contains(&name.to_lowercase()))
        };
        let (mut fit, unfit): (Vec<Adapter>, Vec<Adapter>) =
            adapters.into_iter().filter(named).partition(|adapter| match adapter.report.tier {
                Tier::Full | Tier::Untimed => true,
                Tier::Software => name.is_some(),
                Tier::Unfit => false,
            });
        if !fit.is_empty() {
            if name.is_none() {
                fit.sort_by_key(|adapter| match adapter.adapter.get_info().device_type {
                    DeviceType::DiscreteGpu => 0,
                    DeviceType::VirtualGpu => 1,
                    _ => 2,
                });
            }
            return Ok(fit);
        }
        match unfit.into_iter().next().map(|adapter| adapter.report) {
            Some(AdapterReport { name: adapter, lacks: Some(reason), .. }) if name.is_some() => {
                Err(GpuError::Unfit { adapter, reason })
            }
            _ => Err(GpuError::NoAdapter { wanted: name.map(str::to_owned), found }),
        }
    }
}

/// Describes an adapter.
fn report(adapter: &wgpu::Adapter) -> AdapterReport {
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
    }
}

/// Returns a missing capability of an adapter with these limits.
fn lacks(limits: &Limits) -> Option<String> {
    if limits.max_storage_buffers_per_shader_stage < MAX_BUFFERS as u32 {
        let found = limits.max_storage_buffers_per_shader_stage;
        return Some(format!("a stage can use only {found} storage buffers; {MAX_BUFFERS} are needed"));
    }
    if limits.max_compute_invocations_per_workgroup < WORKGROUP || limits.max_compute_workgroup_size_x < WORKGROUP {
        return Some(format!("its workgroups have fewer than {WORKGROUP} threads"));
    }
    None
}
