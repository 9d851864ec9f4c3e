use kalah_base::diagnostic::{Commands, Diagnostic, Outcome, help_of};
use kalah_base::file::LockError;
use kalah_base::system::OutOfMemory;
use kalah_base::wrapped_in;
use kalah_core::table::{PairKey, TableError, TableKey};

use super::computer::{ComputeError, DeviceError};

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
    /// The device failed.
    #[error("{0}")]
    Device(#[source] DeviceError),
    /// The finished layer is not that of the built-in manifest, so it was not kept.
    #[error("{key}: the finished table differs from the built-in manifest: {}", wrong_part(*kept))]
    Contradiction {
        /// The layer.
        key: TableKey,
        /// True if some of its frames were computed earlier or by other processes. They were removed.
        kept: bool,
    },
    /// The build was stopped.
    #[error("stopped while building {0}")]
    Stopped(TableKey),
    /// The build was stopped while it computed a pair on its own.
    #[error("stopped while computing {0}")]
    PairStopped(PairKey),
}

impl Diagnostic for BuildError {
    fn outcome(&self) -> Outcome {
        match self {
            BuildError::Contradiction { .. } => Outcome::Wrong,
            _ => Outcome::Failed,
        }
    }

    fn help(&self, commands: &dyn Commands) -> Option<String> {
        let help = match self {
            BuildError::Lock(LockError::Unsupported { .. }) => "build with --share, which needs no locks",
            BuildError::Device(error) => {
                let kept = "finished frames are kept: run the same command again, or add --backend cpu";
                let help = help_of(error.diagnostic(), commands);
                return Some(help.map_or(kept.to_owned(), |help| format!("{help}; {kept}")));
            }
            BuildError::Stopped(_) => "finished frames are kept; run the same command again to continue",
            BuildError::Contradiction { kept: true, .. } => "run the same command again",
            BuildError::Contradiction { .. } => {
                "`kalah verify --consistency` finds the wrong layer: delete it and those above, and run the same \
                 command again"
            }
            BuildError::PairStopped(_) => "its work is lost; the same command starts it over",
            _ => return None,
        };
        Some(help.to_owned())
    }

    fn is_stop(&self) -> bool {
        matches!(self, BuildError::Stopped(_) | BuildError::PairStopped(_))
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            BuildError::Device(error) => Some(error.diagnostic()),
            error => wrapped_in!(error, Lock, Table, OutOfMemory),
        }
    }
}

/// Returns the possible cause of a wrong table.
fn wrong_part(kept: bool) -> &'static str {
    if kept { "frames kept from earlier runs may be wrong, and were removed" } else { "a layer below is wrong" }
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
