//! The GPU builder without the feature `gpu`: no [`Gpu`] can be opened, so nothing here is ever called.

use std::sync::Arc;

mod traffic;

use super::computer::{ComputeError, Computer, Output};
use crate::game::Rules;
use crate::gpu::{AdapterReport, Gpu, GpuError};
use crate::index::Frame;
use crate::progress::Pulse;
use crate::table::Tables;

pub use traffic::Traffic;

/// Computes frames on a GPU; there is none without the feature `gpu`.
#[derive(Debug)]
pub enum GpuComputer {}

impl GpuComputer {
    pub(super) fn new(gpu: Arc<Gpu>, _tables: &Tables, _seeds: usize) -> Result<GpuComputer, ComputeError> {
        match gpu.never {}
    }

    pub(super) fn traffic(&self) -> Traffic {
        match *self {}
    }

    pub(super) fn begin_measuring(&mut self) -> Result<(), GpuError> {
        match *self {}
    }

    pub(super) fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>> {
        match *self {}
    }
}

impl Computer for GpuComputer {
    fn compute(&mut self, _: &Tables, _: &[Frame], _: &Pulse, _: &dyn Output) -> Result<bool, ComputeError> {
        match *self {}
    }
}

pub(super) fn least_memory(gpu: &Gpu, _pits: usize, _seeds: usize) -> u64 {
    match gpu.never {}
}

/// Has a device compute a small layer; there is none without the feature `gpu`.
///
/// # Errors
/// Never called: there is no device.
pub fn self_test(gpu: &Arc<Gpu>, _rules: Rules) -> Result<(), ComputeError> {
    match gpu.never {}
}

/// The seeds of the largest layer that an adapter can build: 0 without the feature `gpu`.
pub fn max_seeds(_report: &AdapterReport, _pits: usize) -> usize {
    0
}

/// The stages of the computation: none without the feature `gpu`.
pub mod stages {
    /// A stage of the computation of tables on a GPU.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Stage {}

    impl Stage {
        /// All stages.
        pub const ALL: [Stage; 0] = [];

        /// The name.
        pub fn name(self) -> &'static str {
            match self {}
        }

        /// The stage with this name.
        pub fn from_name(_name: &str) -> Option<Stage> {
            None
        }
    }
}
