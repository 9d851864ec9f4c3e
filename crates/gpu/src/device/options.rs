use std::time::Duration;

/// Options for using a GPU. By default all its memory may be used, and everything runs on the
/// device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Bytes of the device's memory that may be used; all by default.
    pub memory: Option<u64>,
    /// Maximum bytes of a buffer that a kernel may use at once; the adapter's limit by default.
    pub max_binding: Option<u64>,
    /// Names of kernels whose twins run instead, on the CPU.
    pub twins: Vec<&'static str>,
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
        GpuOptions { memory: None, max_binding: None, twins: Vec::new(), checked: None, patience, submission }
    }
}
