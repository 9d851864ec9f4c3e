use std::sync::Arc;

use kalah_tables::builder::{ComputeError, Device, DeviceComputer, DeviceError};
use kalah_tables::table::Tables;

use super::computer::GpuComputer;
use super::memory::DeviceMemory;
use crate::device::{Gpu, Tier};

/// Positions per second of a whole GPU (estimated, not measured with builds) and of a software
/// adapter (measured). Rules with relays reach this share of them (measured on a software adapter).
const RATE: f64 = 1e9;
const SOFTWARE_RATE: f64 = 4e6;
const RELAY_SHARE: f64 = 0.4;

impl Device for Gpu {
    fn name(&self) -> &str {
        &self.report().name
    }

    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError> {
        Ok(Box::new(GpuComputer::new(self, tables, seeds)?))
    }

    fn least_memory(&self, pits: usize, seeds: usize) -> u64 {
        DeviceMemory::new(pits, seeds, self.budget(), self.max_binding()).least()
    }

    fn rate(&self, relays: bool) -> f64 {
        let rate = if self.report().tier == Tier::Software { SOFTWARE_RATE } else { RATE };
        rate * if relays { RELAY_SHARE } else { 1.0 }
    }

    fn copy_bandwidth(&self, bytes: u64) -> Result<f64, DeviceError> {
        Ok(Gpu::copy_bandwidth(self, bytes)?)
    }
}
