/// How to use a GPU. The default takes all memory that there is and runs everything on the device.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Bytes of the device's memory that may be used; all that there is by default.
    pub memory: Option<u64>,
    /// Bytes of the largest part of a buffer that a kernel may use at once; the adapter's limit by default.
    pub max_binding: Option<u64>,
    /// The names of kernels that run as their twins on the CPU.
    pub twins: Vec<&'static str>,
    /// Shaders check every index. Always so on software adapters and in debug builds.
    pub checked: bool,
}

impl GpuOptions {
    /// At most so many bytes of the device's memory.
    #[must_use]
    pub fn memory(self, bytes: u64) -> GpuOptions {
        GpuOptions { memory: Some(bytes), ..self }
    }

    /// Kernels use at most so many bytes of a buffer at once.
    #[must_use]
    pub fn max_binding(self, bytes: u64) -> GpuOptions {
        GpuOptions { max_binding: Some(bytes), ..self }
    }

    /// Kernels with these names run as their twins.
    #[must_use]
    pub fn twins(self, names: impl IntoIterator<Item = &'static str>) -> GpuOptions {
        GpuOptions { twins: names.into_iter().collect(), ..self }
    }

    /// Whether shaders check every index.
    #[must_use]
    pub fn checked(self, checked: bool) -> GpuOptions {
        GpuOptions { checked, ..self }
    }
}
