//! The choice of CPU or GPU to compute tables. The program may be built without GPUs.

#[cfg(feature = "gpu")]
mod gpu;

use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::system::AvailableMemory;
use kalah::table::TableKey;

pub(crate) use self::gpu::GpuFlags;

/// Names of the backends.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BackendName {
    /// A GPU if there is one, otherwise the CPU; never a software adapter
    Auto,
    /// The CPU
    Cpu,
    /// A GPU, or the adapter that --adapter names
    Gpu,
}

/// Memory that limits of this process must leave to a GPU's driver. Some end the program if they do not get it.
const GPU_MEMORY: u64 = 8 << 30;

/// Choice of CPU or GPU.
#[derive(Args, Clone)]
pub(crate) struct Compute {
    /// Compute on: auto, cpu or gpu
    #[arg(long, value_name = "BACKEND", default_value = "auto")]
    backend: BackendName,
    #[command(flatten)]
    gpu: GpuFlags,
}

impl Compute {
    /// Returns true if the flags ask for a GPU or name an adapter.
    fn asks_for_gpu(&self) -> bool {
        self.backend == BackendName::Gpu || self.gpu.name_an_adapter() && self.backend != BackendName::Cpu
    }

    /// Returns the backend for a build up to the layer of `last`, and the reason for it in words. A GPU that no flag
    /// asks for is not used if it is too small.
    pub(crate) fn choose_for(&self, last: TableKey) -> Result<(Backend, String), ComputeError> {
        let (backend, why) = self.choose(last.rules)?;
        match backend.require_layer(last.pits, last.seeds) {
            Err(error) if !self.asks_for_gpu() => {
                Ok((Backend::Cpu(Isa::detect()), format!("on the CPU: the GPU cannot be used: {error}")))
            }
            _ => Ok((backend, why)),
        }
    }

    /// Returns the backend, and the reason for it in words.
    pub(crate) fn choose(&self, rules: Rules) -> Result<(Backend, String), ComputeError> {
        let cpu = Backend::Cpu(Isa::detect());
        let is_tight = || AvailableMemory::of_process().is_some_and(|rest| rest.bytes < GPU_MEMORY);
        let opened = match self.backend {
            BackendName::Cpu => return Ok((cpu, "on the CPU, as asked".to_owned())),
            BackendName::Auto if !self.asks_for_gpu() && is_tight() => {
                return Ok((cpu, "on the CPU: the limits of this process are too small for a GPU's driver".to_owned()));
            }
            BackendName::Gpu | BackendName::Auto => self.gpu.open(rules),
        };
        match opened {
            Ok((gpu, name)) => Ok((gpu, format!("on {name}"))),
            Err(error) if self.asks_for_gpu() => Err(error),
            Err(error) => Ok((cpu, format!("on the CPU: the GPU cannot be used: {error}"))),
        }
    }
}

/// A program without GPUs.
#[cfg(not(feature = "gpu"))]
mod gpu {
    use clap::Args;
    use kalah::build::{Backend, ComputeError};
    use kalah::diagnostic::Diagnostic;
    use kalah::game::Rules;

    /// The program was compiled without the feature `gpu`.
    #[derive(Debug, thiserror::Error)]
    #[error("this build has no GPU support: use the CPU, or compile kalah with its feature `gpu`")]
    struct Unsupported;

    impl Diagnostic for Unsupported {}

    /// No flags, since the program was compiled without the feature `gpu`.
    #[derive(Args, Clone)]
    pub(crate) struct GpuFlags {}

    impl GpuFlags {
        /// Returns false: no adapter can be named.
        pub(crate) fn name_an_adapter(&self) -> bool {
            false
        }

        /// Returns an error.
        pub(crate) fn open(&self, _rules: Rules) -> Result<(Backend, String), ComputeError> {
            Err(ComputeError::Device(Unsupported.into()))
        }
    }
}
