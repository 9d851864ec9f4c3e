use serde::Serialize;

/// How suitable an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A GPU with timestamps, which measure how long kernels take.
    Full,
    /// A GPU without timestamps.
    Untimed,
    /// A GPU emulated on the processor: for tests; slower than the CPU backend.
    Software,
    /// It lacks something necessary.
    Unfit,
}

/// An adapter, with the limits and features that matter here.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AdapterReport {
    /// Its name.
    pub name: String,
    /// What kind of device it is.
    pub device: String,
    /// The interface through which it is reached.
    pub backend: String,
    /// Its driver, with its version.
    pub driver: String,
    /// How suitable it is.
    pub tier: Tier,
    /// What it lacks, if it is unsuitable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// The most bytes of a buffer that a kernel can use at once.
    pub max_binding_bytes: u64,
    /// Bytes of the largest buffer.
    pub max_buffer_bytes: u64,
    /// Storage buffers that a kernel can use.
    pub max_storage_buffers: u32,
    /// Threads of the largest workgroup.
    pub max_workgroup: u32,
    /// Threads that run in lockstep: least and most.
    pub subgroup: (u32, u32),
    /// Whether it can measure how long kernels take.
    pub timestamps: bool,
}
