use std::sync::Arc;

use clap::Args;
use kalah::build::gpu::self_test;
use kalah::build::gpu::stages::Stage;
use kalah::build::{Backend, ComputeError};
use kalah::cause;
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuError, GpuOptions};

use crate::cli::flags::args::bytes;

/// Choice and use of a GPU.
#[derive(Args, Clone)]
pub struct GpuFlags {
    /// Use the adapter whose name contains NAME; `kalah gpu` lists names. Software adapters must be named
    #[arg(long, value_name = "NAME", env = "KALAH_ADAPTER")]
    adapter: Option<String>,
    /// Limit the GPU memory to use, such as 8GiB [default: most of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    gpu_memory: Option<u64>,
    /// Run a stage of the GPU builder on the CPU instead, to find a faulty one; may be repeated
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    twin: Vec<Stage>,
    /// Make shaders check every index, to find errors; slower
    #[arg(long)]
    checked: bool,
}

impl GpuFlags {
    /// Returns true if an adapter is named, which asks for a GPU.
    pub fn name_an_adapter(&self) -> bool {
        self.adapter.is_some()
    }

    /// Opens the first matching GPU that passes a self-test with these rules. Returns it with its name and kind.
    pub fn open(&self, rules: Rules) -> Result<(Backend, String), ComputeError> {
        let mut options = GpuOptions::default();
        options.twins = self.twin.iter().map(|stage| stage.name()).collect();
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
                    let name = format!("{} ({})", gpu.report().name, gpu.report().device);
                    return Ok((Backend::Gpu(gpu), name));
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.expect("there is a candidate"))
    }

    /// Returns the reason if `error` means only that there is no GPU.
    pub fn why_none(error: &ComputeError) -> Option<String> {
        matches!(cause::find(error), Some(GpuError::NoAdapter { .. })).then(|| "there is no GPU".to_owned())
    }
}

/// Reads the name of a stage.
fn stage(text: &str) -> Result<Stage, String> {
    Stage::from_name(text).ok_or_else(|| format!("the stages are {}", Stage::ALL.map(Stage::name).join(", ")))
}
