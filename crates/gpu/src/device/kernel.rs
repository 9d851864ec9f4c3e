use std::fmt::Write;

use bytemuck::Pod;

use super::error::GpuError;
use super::gpu::Gpu;
use super::recorder::{MAX_WORKGROUPS, Recorder, RecorderBuffers};
use super::twin::Tracer;

/// Threads of a workgroup.
pub const WORKGROUP: u32 = 256;

/// Maximum number of storage buffers of a kernel.
pub(super) const MAX_BUFFERS: usize = 7;

/// A program for a GPU: a compute shader, the buffers that it uses, and its twin on the CPU.
///
/// The shader has its parameters at binding 0 and its buffers, arrays of 32-bit words, at the
/// bindings from 1 on.
///
/// It may run without run-time checks. The author of a kernel guarantees that every loop of the
/// shader ends and every index is within its buffer, for all dispatched parameters and buffers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kernel {
    /// The name: unique among the kernels that a device runs.
    pub name: &'static str,
    /// The entry point of the shader.
    pub entry_point: &'static str,
    /// Constants of the shader, with their names.
    pub(crate) constants: &'static [(&'static str, u32)],
    /// The parameters: [`Params::WGSL`].
    pub(crate) params: &'static str,
    /// Parts of the shader that other kernels share.
    pub(crate) shared: &'static [&'static str],
    /// The kernel's own part of the shader.
    pub(crate) own: &'static str,
    /// Access to its buffers, those of the bindings 1, 2, .. of the shader: at most seven.
    pub access: &'static [Access],
    /// Its twin on the CPU.
    pub twin: Twin,
    /// Its twin on the CPU, which reports its reads and writes to a tracer: one for each dispatch.
    pub traced_twin: TracedTwin,
}

impl Kernel {
    /// Returns the whole source of its shader in WGSL: constants, parameters, shared parts, and its
    /// own.
    pub fn source(&self) -> String {
        let mut source = String::new();
        for (name, value) in self.constants {
            writeln!(source, "const {name}: u32 = {value}u;").expect("strings take everything");
        }
        source += self.params;
        for part in self.shared.iter().chain([&self.own]) {
            source += "\n";
            source += part;
        }
        source
    }
}

/// The access of a kernel to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may also write.
    Write,
}

/// Does the work of one workgroup on the CPU. Takes the workgroup's number, the words of the
/// parameters, and the buffers.
pub type Twin = fn(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]);

/// A [`Twin`] that reports its reads and writes.
pub type TracedTwin = fn(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>], tracer: &dyn Tracer);

/// The parameters of a kernel: 32-bit words, and in the shader a struct with the same names.
pub trait Params: Pod {
    /// The struct in WGSL.
    const WGSL: &'static str;
}

/// Declares the parameters of a kernel for Rust and WGSL.
macro_rules! params {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$field_about:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub struct $name { $($(#[$field_about])* pub $field: u32,)* }

        impl $crate::device::Params for $name {
            const WGSL: &'static str =
                concat!("struct Params {\n", $("    ", stringify!($field), ": u32,\n",)* "}\n");
        }
    };
}
pub(crate) use params;

impl Gpu {
    /// Runs one kernel in `workgroups` workgroups on these buffers, in the order of its bindings,
    /// and stores the results in them. It runs on the device, or as its twin if
    /// [`crate::device::GpuOptions::twins`] lists it. For tests of single kernels.
    ///
    /// # Errors
    /// When the device does not have enough memory for the buffers, or fails.
    ///
    /// # Panics
    /// When the number of buffers is wrong, a buffer has less than four words, or there are more
    /// workgroups than a dispatch can have.
    pub fn run_kernel<P: Params>(
        &self,
        kernel: &'static Kernel,
        params: &P,
        workgroups: u32,
        buffers: &mut [Vec<u32>],
    ) -> Result<(), GpuError> {
        assert_eq!(buffers.len(), kernel.access.len(), "buffers of {}", kernel.name);
        assert!(workgroups <= MAX_WORKGROUPS, "{workgroups} workgroups");
        assert!(buffers.iter().all(|words| words.len() >= 4), "the smallest buffer has four words");
        let upload = buffers.iter().map(|words| 4 * words.len() as u64).sum();
        let mut recorder = Recorder::new(self, RecorderBuffers::new(self, upload)?);
        let on_device = buffers
            .iter()
            .map(|words| recorder.storage_of("a kernel's buffer", words))
            .collect::<Result<Vec<_>, _>>()?;
        let windows: Vec<_> = on_device.iter().map(|buffer| buffer.window()).collect();
        let bound = recorder.bind(kernel, &windows);
        recorder.dispatch(&bound, params, workgroups)?;
        recorder.finish()?;
        for (words, window) in buffers.iter_mut().zip(&windows) {
            *words = bytemuck::pod_collect_to_vec(&self.read(window)?);
        }
        Ok(())
    }
}
