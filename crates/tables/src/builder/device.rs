use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::computer::{ComputeError, Computer, DeviceError};
use crate::table::Tables;

/// A device, other than the CPU, that computes tables.
pub trait Device: fmt::Debug + Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// A computer for the layers up to `seeds` of the board and rules of `tables`.
    ///
    /// # Errors
    /// When there is not enough memory, the layer is too large for the device, or it computes wrong scores.
    fn computer(self: Arc<Self>, tables: &Tables, seeds: usize) -> Result<Box<dyn DeviceComputer>, ComputeError>;

    /// The least bytes of its memory that the layers up to `seeds` take.
    fn least_memory(&self, pits: usize, seeds: usize) -> u64;

    /// Positions per second of a build, estimated; with relays if `relays`.
    fn rate(&self, relays: bool) -> f64;

    /// Bytes a second, read and written, of a plain copy of `bytes` bytes in its memory.
    ///
    /// # Errors
    /// When the device fails.
    fn copy_bandwidth(&self, bytes: u64) -> Result<f64, DeviceError>;
}

/// A [`Computer`] on a device, which can be measured.
pub trait DeviceComputer: Computer {
    /// Starts measuring how long stages take, if the device can, and the bytes transferred.
    ///
    /// # Errors
    /// When the device fails.
    fn begin_measuring(&mut self) -> Result<(), DeviceError>;

    /// Seconds that each stage took since [`DeviceComputer::begin_measuring`], if they are measured.
    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>>;

    /// Bytes transferred since [`DeviceComputer::begin_measuring`].
    fn traffic(&self) -> Traffic;
}

/// Bytes transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// To the device.
    pub uploaded: u64,
    /// From the device.
    pub downloaded: u64,
    /// From one place on the device to another.
    pub copied: u64,
    /// The least that the stages for moves, transposing and packing read and write: every score and child once per
    /// move.
    pub touched: u64,
    /// Dispatches.
    pub dispatches: u64,
    /// Workgroups of all dispatches.
    pub workgroups: u64,
    /// Bytes of lower frames that are on the device now.
    pub resident: u64,
}
