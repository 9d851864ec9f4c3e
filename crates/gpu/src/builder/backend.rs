use std::sync::Arc;

use kalah_core::table::Tables;
use kalah_tables::builder::{ComputeError, Device, DeviceComputer, DeviceError};

use super::computer::GpuComputer;
use super::lower::HEADROOM;
use super::memory::DeviceMemory;
use crate::device::{Gpu, Tier};

/// Positions per second of a GPU, which waits for the disk, and of a software adapter. Rules with
/// relays reach this share of them (docs/measurements.md).
const RATE: f64 = 2e9;
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

    fn holds(&self, pits: usize, seeds: usize, bytes: u64) -> bool {
        let free = |budget: u64| budget - budget / HEADROOM;
        self.budget().is_some_and(|budget| self.least_memory(pits, seeds) + bytes <= free(budget))
    }

    fn rate(&self, relays: bool) -> f64 {
        let rate = if self.report().tier == Tier::Software { SOFTWARE_RATE } else { RATE };
        rate * if relays { RELAY_SHARE } else { 1.0 }
    }

    fn copy_bandwidth(&self, bytes: u64) -> Result<f64, DeviceError> {
        Ok(Gpu::copy_bandwidth(self, bytes)?)
    }
}
