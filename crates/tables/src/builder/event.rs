use std::time::Instant;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_base::file::LockError;
use kalah_base::system::OutOfMemory;
use kalah_core::index::Frame;
use kalah_core::table::{PairKey, TableError, TableKey};
use serde::{Serialize, Serializer};

use super::computer::{ComputeError, DeviceError};
use super::log::BuildRecord;

/// Progress of a running build.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildEvent<'a> {
    /// The comparison of a finished layer with its checksums begins.
    Compare(TableKey),
    /// A layer begins.
    Layer {
        /// The layer.
        key: TableKey,
        /// Positions still to be computed.
        positions: u64,
        /// Frames kept from another run.
        kept: usize,
    },
    /// A pair of frames begins, given by the frame with fewer seeds in the mover's row.
    Pair(Frame),
    /// A layer is done.
    Done(&'a BuildRecord),
    /// A pair of frames was computed and its piece written.
    Piece {
        /// The pair.
        pair: PairKey,
        /// Seconds taken.
        seconds: f64,
    },
    /// The pieces of a layer were joined.
    Joined(TableKey),
    /// A piece is damaged. Its frames are computed again.
    Damaged(&'a TableError),
}

/// The results of a build: the document of `kalah build --json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct BuildReport {
    /// The last layer.
    #[serde(flatten)]
    pub last: TableKey,
    /// Number of layers that existed already.
    pub kept: usize,
    /// Layers built or completed.
    pub built: Vec<BuildRecord>,
    /// In a build shared with other processes: the pairs that this process computed. In the document, their number.
    #[serde(serialize_with = "number")]
    pub pairs: Vec<PairKey>,
    /// In a build shared with other processes: the number of layers that this process joined.
    pub joined: usize,
    /// Number of positions computed.
    pub positions: u64,
    /// Elapsed seconds.
    pub seconds: f64,
}

fn number<S: Serializer>(pairs: &[PairKey], serializer: S) -> Result<S::Ok, S::Error> {
    pairs.len().serialize(serializer)
}

impl BuildReport {
    /// The report of a build to this layer that has done nothing yet.
    pub(super) fn new(last: TableKey) -> BuildReport {
        BuildReport { last, kept: 0, built: Vec::new(), pairs: Vec::new(), joined: 0, positions: 0, seconds: 0.0 }
    }

    /// Adds what has been done since `start`.
    pub(super) fn since(mut self, start: Instant) -> BuildReport {
        let layers = self.built.iter().map(|record| record.positions);
        self.positions = layers.chain(self.pairs.iter().map(|pair| pair.positions())).sum();
        self.seconds = start.elapsed().as_secs_f64();
        self
    }
}

/// Reasons why a build ended early. Finished frames are always kept, except those of a pair
/// computed on its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Another process builds in this directory.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// A table cannot be read or written.
    #[error("{0}")]
    Table(#[from] TableError),
    /// There is not enough memory.
    #[error("{0}")]
    OutOfMemory(#[source] OutOfMemory),
    /// The device cannot build such large layers, or failed.
    #[error("{0}")]
    Device(#[source] DeviceError),
    /// The finished layer is not that of the built-in manifest, so it was not kept.
    #[error("{0}: the finished table differs from the built-in manifest: a kept frame or a layer below is wrong")]
    Contradiction(TableKey),
    /// The build was stopped.
    #[error("stopped while building {0}")]
    Stopped(TableKey),
}

impl Diagnostic for BuildError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            BuildError::Lock(LockError::Unsupported { .. }) => {
                Outcome::Failed.help("build with --share, which needs no locks")
            }
            BuildError::Stopped(_) => {
                Outcome::Stopped.help("finished frames are kept; run the same command again to continue")
            }
            BuildError::Contradiction(_) => Outcome::Wrong.help(
                "run the same command again; if that does not help, `kalah verify --consistency` finds the wrong \
                 layer below",
            ),
            BuildError::Lock(error) => error.diagnosis(),
            BuildError::Table(error) => error.diagnosis(),
            BuildError::OutOfMemory(error) => error.diagnosis(),
            BuildError::Device(error) => error.diagnosis(),
        }
    }
}

impl BuildError {
    /// Adds the layer being built to an error for stopped work. Other errors are unchanged.
    pub(super) fn stopped_at<E: Into<BuildError>>(key: TableKey) -> impl FnOnce(E) -> BuildError {
        move |error| match error.into() {
            BuildError::Table(TableError::Stopped(_)) => BuildError::Stopped(key),
            error => error,
        }
    }
}

impl From<ComputeError> for BuildError {
    fn from(error: ComputeError) -> BuildError {
        match error {
            ComputeError::Table(error) => BuildError::Table(error),
            ComputeError::OutOfMemory(error) => BuildError::OutOfMemory(error),
            ComputeError::Device(error) => BuildError::Device(error),
            ComputeError::Stopped(stopped) => BuildError::Table(stopped.into()),
        }
    }
}
