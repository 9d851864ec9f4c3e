//! What computes tables: the CPU, or a GPU, which the program may be built without.

#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
mod no_gpu;

use clap::Args;
use kalah::build::{Backend, ComputeError};
use kalah::game::Rules;
use kalah::isa::Isa;

#[cfg(feature = "gpu")]
pub use self::gpu::GpuFlags;
#[cfg(not(feature = "gpu"))]
pub use self::no_gpu::GpuFlags;
use crate::cli::errors::statement;

/// What computes tables.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BackendName {
    /// A GPU if there is one, else the CPU; never a software adapter
    Auto,
    /// The CPU
    Cpu,
    /// A GPU, or the adapter that --adapter names
    Gpu,
}

/// What is to compute.
#[derive(Args, Clone)]
pub struct Compute {
    /// What computes: auto, cpu or gpu
    #[arg(long, value_name = "BACKEND", default_value = "auto")]
    backend: BackendName,
    #[command(flatten)]
    gpu: GpuFlags,
}

impl Compute {
    /// The flags that choose what computes, as they were given, each after a space.
    pub fn flags(&self) -> String {
        let backend = match self.backend {
            BackendName::Auto => "",
            BackendName::Cpu => " --backend cpu",
            BackendName::Gpu => " --backend gpu",
        };
        format!("{backend}{}", self.gpu.flags())
    }

    /// Whether a GPU is asked for by name, or by an adapter's.
    pub fn asks_for_gpu(&self) -> bool {
        self.backend == BackendName::Gpu || self.gpu.name_an_adapter() && self.backend != BackendName::Cpu
    }

    /// What is to compute, and why.
    pub fn choose(&self, rules: Rules) -> Result<(Backend, String), ComputeError> {
        let cpu = Backend::Cpu(Isa::detect());
        let opened = match self.backend {
            BackendName::Cpu => return Ok((cpu, "on the CPU, as asked".to_owned())),
            BackendName::Gpu | BackendName::Auto => self.gpu.open(rules),
        };
        match opened {
            Ok((gpu, name)) => Ok((gpu, format!("on {name}"))),
            Err(error) if self.asks_for_gpu() => Err(error),
            Err(error) => {
                let why = GpuFlags::why_none(&error)
                    .unwrap_or_else(|| format!("since the GPU cannot be used: {}", statement::statement(&error)));
                Ok((cpu, format!("on the CPU, {why}")))
            }
        }
    }
}
