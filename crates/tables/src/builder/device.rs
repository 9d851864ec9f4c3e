use std::fmt;
use std::sync::Arc;

use kalah_core::table::Tables;
use serde::Serialize;

use super::computer::{ComputeError, Computer, DeviceError};

/// A device, other than the CPU, that computes tables.
pub trait Device: fmt::Debug + Send + Sync {
    /// Name in reports.
    fn name(&self) -> &str;

    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`.
    ///
    /// # Errors
    /// When there is not enough memory, the layer is too large for the device, or the device
    /// computes wrong scores.
    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError>;

    /// Minimum bytes of device memory for the layers up to `seeds`.
    fn least_memory(&self, pits: usize, seeds: usize) -> u64;

    /// Returns true if a build of the layers up to `seeds` keeps `bytes` bytes of lower tables in
    /// device memory, so that it reads no files.
    fn holds(&self, pits: usize, seeds: usize, bytes: u64) -> bool;

    /// Estimated positions per second of a build; `relays` is true for rules with relays.
    fn rate(&self, relays: bool) -> f64;

    /// Bandwidth of a plain copy of `bytes` bytes in device memory: bytes read and written per
    /// second.
    ///
    /// # Errors
    /// When the device fails.
    fn copy_bandwidth(&self, bytes: u64) -> Result<f64, DeviceError>;
}

/// A [`Computer`] on a device, which can be measured.
pub trait DeviceComputer: Computer {
    /// Starts measuring the times of stages, if the device can, and the bytes transferred.
    ///
    /// # Errors
    /// When the device fails.
    fn begin_measuring(&mut self) -> Result<(), DeviceError>;

    /// Seconds of each stage since [`DeviceComputer::begin_measuring`], if measured.
    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>>;

    /// Bytes transferred since [`DeviceComputer::begin_measuring`].
    fn traffic(&self) -> DeviceTraffic;
}

/// Bytes transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeviceTraffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// Minimum bytes that the stages for moves, transposing and packing read and write: every score
    /// and child once per move.
    pub touched: u64,
    /// Number of dispatches.
    pub dispatches: u64,
    /// Number of workgroups in all dispatches.
    pub workgroups: u64,
    /// Bytes of lower frames currently on the device.
    pub resident: u64,
}
