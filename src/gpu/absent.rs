//! The device layer without the feature `gpu`: there are no adapters, and no [`Gpu`] can be opened. Code that takes one
//! compiles, but is never called.

use std::convert::Infallible;

mod error;
mod options;
mod report;

pub use error::{GpuError, Shortage};
pub use options::GpuOptions;
pub use report::{AdapterReport, Tier};

/// Whether this build can compute on GPUs.
pub const IS_SUPPORTED: bool = false;

/// Whether a panic of this thread becomes a [`GpuError`]: no.
pub fn catches_panics() -> bool {
    false
}

/// Returns true if a device of this process was given up because it hangs: there is none.
pub fn has_hung() -> bool {
    false
}

/// An adapter that can be opened; there is none without the feature `gpu`.
#[derive(Debug)]
pub struct Adapter {
    /// What is known of it.
    pub report: AdapterReport,
    never: Infallible,
}

impl Adapter {
    /// All adapters of this machine: none without the feature `gpu`.
    pub fn all() -> Vec<Adapter> {
        Vec::new()
    }

    /// The adapters to compute on.
    ///
    /// # Errors
    /// Always, without the feature `gpu`.
    pub fn candidates(_name: Option<&str>) -> Result<Vec<Adapter>, GpuError> {
        Err(GpuError::Unsupported)
    }

    /// The adapter to compute on.
    ///
    /// # Errors
    /// Always, without the feature `gpu`.
    pub fn choose(_name: Option<&str>) -> Result<Adapter, GpuError> {
        Err(GpuError::Unsupported)
    }
}

/// An open GPU; there is none without the feature `gpu`.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) never: Infallible,
}

impl Gpu {
    /// Opens an adapter.
    ///
    /// # Errors
    /// Never called: there is no adapter.
    pub fn open(adapter: &Adapter, _options: GpuOptions) -> Result<Gpu, GpuError> {
        match adapter.never {}
    }

    /// What is known of the adapter.
    pub fn report(&self) -> &AdapterReport {
        match self.never {}
    }

    /// Whether shaders check every index.
    pub fn is_checked(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn copy_bandwidth(&self, _bytes: u64) -> Result<f64, GpuError> {
        match self.never {}
    }
}
