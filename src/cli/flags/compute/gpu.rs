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
                    let name = format!("{} ({}), number {} of `kalah gpu`", report.name, report.device, report.number);
                    return Ok((Backend::Gpu(gpu), name));
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.expect("there is a candidate"))
    }
}
