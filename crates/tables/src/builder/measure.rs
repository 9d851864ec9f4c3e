use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kalah_base::progress::{Pulse, total_seconds};
use kalah_core::index::{Frame, layer_positions};
use kalah_core::table::{Table, TableError, Tables};
use serde::Serialize;

use super::backend::Backend;
use super::computer::{ComputeError, Computer, DeviceTraffic, FrameOutput};
use super::cpu::CpuComputer;
use super::event::BuildError;
use super::writer::{Spare, Writing};
use crate::table::TableWriter;

/// Minimum time for which a device computes before the times of its stages are measured. A GPU that
/// waited for the disk has lowered its clock.
const WARM_UP: Duration = Duration::from_secs(2);

/// Measurements of building one layer.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Measurement {
    /// Positions of the layer.
    pub positions: u64,
    /// Seconds from the first position to the last byte written, without waiting for the disk.
    pub seconds: f64,
    /// Seconds of writing, in parallel to computing.
    pub write_seconds: f64,
    /// Bytes of the table.
    pub file_bytes: u64,
    /// The digest of the table.
    #[serde(serialize_with = "hex")]
    pub digest: [u8; 32],
    /// For a GPU: times by its own clock, measured in a separate run, and bytes transferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuMeasurement>,
}

/// Measurements of building one layer on a GPU.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GpuMeasurement {
    /// Seconds of a build that writes nothing: all frames come back and get their checksums and digests.
    pub unwritten_seconds: f64,
    /// Seconds of each stage, if the adapter has timestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<(&'static str, f64)>>,
    /// Bytes to and from the device, and within it.
    pub traffic: DeviceTraffic,
}

impl GpuMeasurement {
    /// Seconds of all stages, if the adapter has timestamps.
    pub fn kernel_seconds(&self) -> Option<f64> {
        self.stages.as_ref().map(|stages| total_seconds(stages.iter().map(|&(_, seconds)| seconds)))
    }
}

fn hex<S: serde::Serializer>(digest: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(blake3::Hash::from_bytes(*digest).to_hex().as_str())
}

/// Builds the layer of `seeds` seeds from those below in `tables` twice, in a temporary directory
/// in `directory`. Measures the second build, when everything is warm.
///
/// # Errors
/// When a lower table is missing, there is not enough memory or disk, the device fails, or `pulse`
/// was stopped.
pub fn measure(
    backend: &Backend,
    tables: &Tables,
    seeds: usize,
    directory: &Path,
    pulse: &Pulse,
) -> Result<Measurement, BuildError> {
    let spare = Arc::new(Spare::new(backend, tables.key(seeds)));
    let built_twice = |computer: &mut dyn Computer| {
        build_once(computer, tables, seeds, directory, pulse, &spare)?;
        build_once(computer, tables, seeds, directory, pulse, &spare)
    };
    let measured = || match backend {
        Backend::Cpu(isa) => rayon::scope(|_| built_twice(&mut CpuComputer::new(*isa, tables, seeds)?)),
        Backend::Gpu(gpu) => {
            let mut computer = Arc::clone(gpu).computer(tables, seeds)?;
            let mut measurement = built_twice(&mut *computer)?;
            let frames: Vec<Frame> = tables.key(seeds).frames().collect();
            let (start, uncounted) = (Instant::now(), Pulse::new(pulse.cancel.clone()));
            let mut unwritten_seconds = 0.0;
            while start.elapsed() < WARM_UP {
                let begun = Instant::now();
                computer.compute(tables, &frames, &uncounted, &*spare)?;
                unwritten_seconds = begun.elapsed().as_secs_f64();
            }
            computer.begin_measuring().map_err(ComputeError::Device)?;
            computer.compute(tables, &frames, pulse, &*spare)?;
            let (stages, traffic) = (computer.stage_seconds(), computer.traffic());
            measurement.gpu = Some(GpuMeasurement { unwritten_seconds, stages, traffic });
            Ok(measurement)
        }
    };
    measured().map_err(BuildError::stopped_at::<ComputeError>(tables.key(seeds)))
}

/// Builds a layer and measures the build.
fn build_once(
    computer: &mut dyn Computer,
    tables: &Tables,
    seeds: usize,
    directory: &Path,
    pulse: &Pulse,
    spare: &Arc<Spare>,
) -> Result<Measurement, ComputeError> {
    let place = tempfile::tempdir_in(directory).map_err(TableError::io(directory))?;
    let start = Instant::now();
    let mut writer = TableWriter::open(place.path(), tables.key(seeds))?;
    let frames: Vec<Frame> = writer.missing().collect();
    let (_, writing) = std::thread::scope(|scope| {
        let compute = |output: &dyn FrameOutput| computer.compute_ahead(tables, &frames, pulse, output);
        Writing::compute(scope, tables, &|_| {}, spare, &mut writer, compute)?.wait()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let table = Table::open(&writer.finish()?)?;
    Ok(Measurement {
        positions: layer_positions(tables.pits(), seeds),
        seconds,
        write_seconds: writing.as_secs_f64(),
        file_bytes: table.header().file_bytes,
        digest: table.header().digest,
        gpu: None,
    })
}
