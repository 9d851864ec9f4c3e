use serde::Serialize;

/// How well an adapter suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A GPU with timestamps, which measure how long kernels take.
    Full,
    /// A GPU without.
    Untimed,
    /// A processor that plays a GPU: for tests, slower than the same work written for the CPU.
    Software,
    /// It lacks something that is needed.
    Unfit,
}

/// An adapter, and what of its limits and features matters here.
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
    /// How well it suits.
    pub tier: Tier,
    /// What it lacks, if it is unfit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// Bytes of the largest part of a buffer that a kernel can use at once.
    pub max_binding_bytes: u64,
    /// Bytes of the largest buffer.
    pub max_buffer_bytes: u64,
    /// Storage buffers that a kernel can use.
    pub max_storage_buffers: u32,
    /// Threads of the largest workgroup.
    pub max_workgroup: u32,
    /// Threads that run in step, least and most.
    pub subgroup: (u32, u32),
    /// Whether it measures how long kernels take.
    pub timestamps: bool,
}
