use std::fmt::Write;

use super::twin::Tracer;

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
    /// The parameters: [`Params::WGSL`](super::Params::WGSL).
    pub(crate) params: &'static str,
    /// Parts of the shader that other kernels share.
    pub(crate) shared: &'static [&'static str],
    /// The kernel's own part of the shader.
    pub(crate) own: &'static str,
    /// Access to its buffers, those of the bindings 1, 2, .. of the shader: at most seven.
    pub access: &'static [Access],
    /// Its twin on the CPU.
    pub twin: Twin,
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
/// parameters, and the buffers. It reports its reads and writes to the tracer: one for each dispatch.
pub type Twin = fn(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>], tracer: &dyn Tracer);
