//! The choice of CPU or GPU to compute tables. The program may be built without GPUs.

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

/// A program with GPUs.
#[cfg(feature = "gpu")]
mod gpu {
    use std::sync::Arc;

    use clap::Args;
    use kalah::build::gpu::self_test;
    use kalah::build::{Backend, ComputeError};
    use kalah::game::Rules;
    use kalah::gpu::{Adapter, Gpu, GpuOptions};

    use crate::cli::flags::args::bytes;

    /// Choice and use of a GPU.
    #[derive(Args, Clone)]
    pub(crate) struct GpuFlags {
        /// Use this adapter of `kalah gpu`: its number, or a part of its name. Software adapters must be named
        #[arg(long, value_name = "ADAPTER", env = "KALAH_ADAPTER")]
        adapter: Option<String>,
        /// Limit the GPU memory to use, such as 8GiB [default: most of the available memory]
        #[arg(long, value_name = "SIZE", value_parser = bytes)]
        gpu_memory: Option<u64>,
        /// Make shaders check every index, to find errors; slower
        #[arg(long)]
        checked: bool,
    }

    impl GpuFlags {
        /// Returns true if an adapter is named, which asks for a GPU.
        pub(crate) fn name_an_adapter(&self) -> bool {
            self.adapter.is_some()
        }

        /// Opens the first matching GPU that passes a self-test with these rules. Returns it with its name, kind and
        /// number.
        pub(crate) fn open(&self, rules: Rules) -> Result<(Backend, String), ComputeError> {
            let mut options = GpuOptions::default();
            options.memory = self.gpu_memory;
            options.checked = self.checked.then_some(true);
            let mut first = None;
            for adapter in Adapter::candidates(self.adapter.as_deref())? {
                let tested = Gpu::open(&adapter, options.clone()).map_err(ComputeError::from).and_then(|gpu| {
                    let gpu = Arc::new(gpu);
                    self_test(&gpu, rules).map(|()| gpu)
                });
                match tested {
                    Ok(gpu) => {
                        let report = gpu.report();
                        let name =
                            format!("{} ({}), number {} of `kalah gpu`", report.name, report.device, report.number);
                        return Ok((Backend::Gpu(gpu), name));
                    }
                    Err(error) => first = first.or(Some(error)),
                }
            }
            Err(first.expect("there is a candidate"))
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
