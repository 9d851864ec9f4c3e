use serde::Serialize;

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
    /// Storage buffers that a kernel can use.
    pub max_storage_buffers: u32,
    /// Threads of the largest workgroup.
    pub max_workgroup: u32,
    /// Minimum and maximum number of threads that run in lockstep.
    pub subgroup: (u32, u32),
    /// True if it can measure the times of kernels.
    pub timestamps: bool,
}
