use std::sync::Arc;

use clap::Args;
use kalah::build::gpu::self_test;
use kalah::build::gpu::stages::Stage;
use kalah::build::{Backend, ComputeError};
use kalah::cause;
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuError, GpuOptions};

use crate::cli::errors::suggestion;
use crate::cli::flags::args::bytes;

/// How to use a GPU.
#[derive(Args, Clone)]
pub struct GpuFlags {
    /// The adapter whose name contains this, as `kalah gpu` lists them; software adapters must be named
    #[arg(long, value_name = "NAME", env = "KALAH_ADAPTER")]
    adapter: Option<String>,
    /// Memory of the GPU that may be taken, such as 8GiB [default: what there is]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    gpu_memory: Option<u64>,
    /// Run a stage of the GPU's work on the CPU instead, to find one that goes wrong (may be repeated)
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    twin: Vec<Stage>,
    /// Let shaders check every index, which is slower
    #[arg(long)]
    checked: bool,
}

impl GpuFlags {
    /// The flags that choose the GPU, as they were given, each after a space.
    pub fn flags(&self) -> String {
        let adapter = self.adapter.as_ref().map_or(String::new(), |name| suggestion::flag("--adapter", name.as_ref()));
        let memory = self.gpu_memory.map_or(String::new(), |bytes| format!(" --gpu-memory {bytes}"));
        format!("{adapter}{memory}")
    }

    /// Whether an adapter is named: who names one wants it.
    pub fn name_an_adapter(&self) -> bool {
        self.adapter.is_some()
    }

    /// The GPU that is asked for, and its name and kind: the first one that passes a self-test, which uses these rules.
    pub fn open(&self, rules: Rules) -> Result<(Backend, String), ComputeError> {
        let mut options = GpuOptions::default().twins(self.twin.iter().map(|stage| stage.name()));
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
                    let told = format!("{} ({})", gpu.report().name, gpu.report().device);
                    return Ok((Backend::Gpu(gpu), told));
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.expect("there is a candidate"))
    }

    /// Why no GPU is there to be used, if that is all that `error` says.
    pub fn why_none(error: &ComputeError) -> Option<String> {
        matches!(cause::find(error), Some(GpuError::NoAdapter { .. })).then(|| "there is no GPU".to_owned())
    }
}

/// Reads the name of a stage.
fn stage(text: &str) -> Result<Stage, String> {
    Stage::from_name(text).ok_or_else(|| format!("the stages are {}", Stage::ALL.map(Stage::name).join(", ")))
}
