use serde::Serialize;
use wgpu::{Backends, DeviceType, Features, InstanceDescriptor, Limits, MemoryBudgetThresholds};

use super::error::GpuError;
use super::kernel::MAX_BUFFERS;
use super::twin::WORKGROUP;

/// An allocation fails if it would bring use above this percentage of the memory that the driver
/// reports as available to this program. The rest is for allocations of the driver, whose failure
/// would lose the device, and for programs running beside this one.
const MEMORY_PERCENT: u8 = 88;

/// Vulkan's limit for storage buffers, regardless of the driver's report, in multiples of 256.
const MAX_BINDING: u64 = (1 << 31) - 256;

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
        let described = |(number, adapter)| Adapter { report: report(number, &adapter), adapter };
        (1..).zip(adapters).map(described).collect()
    }

    /// Returns the adapters to compute on, the best first. With a `name`, these are the adapters
    /// with this number, or whose name contains it, ignoring case. Without, they are
    /// all GPUs, never a software adapter.
    ///
    /// # Errors
    /// When there is no such adapter, or all those named are unsuitable.
    pub fn candidates(name: Option<&str>) -> Result<Vec<Adapter>, GpuError> {
        let adapters = Adapter::all();
        let shown = |report: &AdapterReport| format!("{}: {} ({})", report.number, report.name, report.device);
        let found = adapters.iter().map(|adapter| shown(&adapter.report)).collect();
        let named =
            |adapter: &Adapter| name.is_none_or(|name| is_meant(name, adapter.report.number, &adapter.report.name));
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

/// Returns true if `text` means the adapter with this number and name. A whole number is never a part of a name, which
/// may contain versions.
fn is_meant(text: &str, number: usize, name: &str) -> bool {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse() == Ok(number);
    }
    name.to_lowercase().contains(&text.to_lowercase())
}

/// Describes an adapter.
fn report(number: usize, adapter: &wgpu::Adapter) -> AdapterReport {
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
        number,
        name: info.name,
        pci: Some(info.device_pci_bus_id).filter(|address| !address.is_empty()),
        device: device.to_owned(),
        backend: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        tier,
        lacks,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_buffer_bytes: limits.max_buffer_size,
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

/// Suitability of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A GPU with timestamps, which measure the times of kernels.
    Full,
    /// A GPU without timestamps.
    Untimed,
    /// A GPU emulated on the processor: for tests; slower than the CPU backend.
    Software,
    /// The adapter lacks a necessary capability.
    Unfit,
}

/// An adapter, with the limits and features that matter here.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AdapterReport {
    /// Its number in the list of all adapters, from 1.
    pub number: usize,
    /// Its name, which other adapters may have too.
    pub name: String,
    /// Its address on the PCI bus, such as `0000:01:00.0`, if the driver reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pci: Option<String>,
    /// Its kind of device.
    pub device: String,
    /// The interface through which it is used.
    pub backend: String,
    /// Its driver, with its version.
    pub driver: String,
    /// Its suitability.
    pub tier: Tier,
    /// The missing capability, if it is unsuitable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// Maximum bytes of a buffer that a kernel can use at once.
    pub max_binding_bytes: u64,
    /// Bytes of the largest buffer.
    pub max_buffer_bytes: u64,
    /// True if it can measure the times of kernels.
    pub timestamps: bool,
}

impl AdapterReport {
    /// Maximum bytes of a buffer that a kernel uses at once.
    pub(crate) fn max_binding(&self) -> u64 {
        self.max_binding_bytes.min(self.max_buffer_bytes).min(MAX_BINDING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_one_of_two_cards_with_one_name() {
        const NAME: &str = "Card (LLVM 15.0.6, 256 bits)";
        let cards = [1, 2, 15];
        for (text, expected) in [
            ("1", &[1][..]),
            ("2", &[2]),
            ("02", &[2]),
            ("15", &[15]),
            ("256", &[]),
            ("0", &[]),
            ("99999999999999999999", &[]),
            ("card", &[1, 2, 15]),
            ("15.0.6", &[1, 2, 15]),
            ("other", &[]),
        ] {
            let meant = cards.into_iter().filter(|&number| is_meant(text, number, NAME));
            assert_eq!(meant.collect::<Vec<usize>>(), expected, "{text}");
        }
    }
}
