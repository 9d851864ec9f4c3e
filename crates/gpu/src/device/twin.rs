//! Supports twins on the CPU: a workgroup with its threads, words that threads share, parameters,
//! and the built-in functions of WGSL.
//!
//! Between two barriers a twin does the work of its shader for one thread after another. Then it
//! passes the barrier. It uses shared words through [`Words`], so that a [`Tracer`] sees all uses.

use std::cell::Cell;

use bytemuck::Pod;

/// Threads of a workgroup.
pub const WORKGROUP: u32 = 256;

/// Memory that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The buffer at this binding, from 1 on.
    Binding(u32),
    /// The memory of a workgroup; its variables are numbered from 0 on.
    Workgroup(u32),
}

/// A thread's use of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A change by an atomic operation.
    Atomic,
}

/// The receiver of reported uses of twins' words: [`NoTrace`], or a check for data races.
pub trait Tracer: std::fmt::Debug {
    /// A workgroup begins.
    fn begin(&self, _workgroup: u32) {}
    /// The following accesses are those of this thread, numbered within its workgroup.
    fn thread(&self, _local: u32) {}
    /// All threads of the workgroup have reached a barrier, `workgroupBarrier()`. It orders accesses to the memory of
    /// the workgroup.
    fn barrier(&self) {}
    /// The thread uses a word.
    fn access(&self, _memory: Memory, _word: u32, _how: Use) {}
    /// The thread reads or writes a word atomically. Unlike other atomic operations this must be
    /// ordered with those of other threads: a sum is read when it is complete, and written before
    /// anything is added.
    fn atomic_access(&self, _memory: Memory, _word: u32, _how: Use) {}
}

/// Runs twins without a trace.
#[derive(Clone, Copy, Debug)]
pub struct NoTrace;

impl Tracer for NoTrace {}

/// A workgroup of a dispatch.
#[derive(Debug)]
pub struct Workgroup<'t> {
    number: u32,
    variables: Cell<u32>,
    tracer: &'t dyn Tracer,
}

impl<'t> Workgroup<'t> {
    /// The workgroup with this number.
    pub fn new(number: u32, tracer: &'t dyn Tracer) -> Workgroup<'t> {
        tracer.begin(number);
        Workgroup { number, variables: Cell::new(0), tracer }
    }

    /// Its number among all.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its threads, by their numbers in it. Work done before the next thread is requested belongs
    /// to this thread.
    pub fn locals(&self) -> impl Iterator<Item = u32> {
        (0..WORKGROUP).inspect(|&local| self.tracer.thread(local))
    }

    /// Its threads, by their numbers among all, without those from `end` on.
    pub fn threads(&self, end: u32) -> impl Iterator<Item = u32> {
        self.locals().map(|local| self.number * WORKGROUP + local).take_while(move |&thread| thread < end)
    }

    /// A barrier: later work of its threads in the memory of the workgroup follows all earlier work.
    pub fn barrier(&self) {
        self.tracer.barrier();
    }

    /// A variable in the memory of the workgroup.
    pub fn memory<'m>(&self, words: &'m mut [u32]) -> Words<'m>
    where
        't: 'm,
    {
        let variable = self.variables.replace(self.variables.get() + 1);
        Words { words, memory: Memory::Workgroup(variable), tracer: self.tracer }
    }
}

/// 32-bit words that threads share.
#[derive(Debug)]
pub struct Words<'a> {
    words: &'a mut [u32],
    memory: Memory,
    tracer: &'a dyn Tracer,
}

impl Words<'_> {
    /// The word with this number.
    #[inline]
    pub fn get(&self, at: u32) -> u32 {
        self.tracer.access(self.memory, at, Use::Read);
        self.words[at as usize]
    }

    /// Writes the word with this number.
    #[inline]
    pub fn set(&mut self, at: u32, word: u32) {
        self.tracer.access(self.memory, at, Use::Write);
        self.words[at as usize] = word;
    }

    /// `atomicLoad`.
    #[inline]
    pub fn atomic_load(&self, at: u32) -> u32 {
        self.tracer.atomic_access(self.memory, at, Use::Read);
        self.words[at as usize]
    }

    /// `atomicStore`.
    #[inline]
    pub fn atomic_store(&mut self, at: u32, word: u32) {
        self.tracer.atomic_access(self.memory, at, Use::Write);
        self.words[at as usize] = word;
    }

    /// `atomicAdd`; returns the previous word.
    #[inline]
    pub fn atomic_add(&mut self, at: u32, word: u32) -> u32 {
        self.tracer.access(self.memory, at, Use::Atomic);
        let sum = &mut self.words[at as usize];
        std::mem::replace(sum, sum.wrapping_add(word))
    }

    /// `atomicMax`.
    #[inline]
    pub fn atomic_max(&mut self, at: u32, word: u32) {
        self.tracer.access(self.memory, at, Use::Atomic);
        let most = &mut self.words[at as usize];
        *most = word.max(*most);
    }

    /// `atomicOr`.
    #[inline]
    pub fn atomic_or(&mut self, at: u32, word: u32) {
        self.tracer.access(self.memory, at, Use::Atomic);
        self.words[at as usize] |= word;
    }
}

/// Wraps the buffers of the bindings from 1 on.
///
/// # Panics
/// When their number is not `N`.
pub fn bindings<'a, const N: usize>(buffers: &'a mut [Vec<u32>], tracer: &'a dyn Tracer) -> [Words<'a>; N] {
    assert_eq!(buffers.len(), N, "buffers of the kernel");
    let mut words =
        (1..).zip(buffers).map(|(binding, words)| Words { words, memory: Memory::Binding(binding), tracer });
    std::array::from_fn(|_| words.next().expect("as many as counted"))
}

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

/// The parameters as a struct.
pub(crate) fn read<P: Params>(words: &[u32]) -> &P {
    bytemuck::from_bytes(bytemuck::cast_slice(words))
}

/// The bytes of a word.
pub(crate) fn unpack4x_u8(word: u32) -> [u32; 4] {
    word.to_le_bytes().map(u32::from)
}

/// A word of four bytes.
pub(crate) fn pack4x_u8(bytes: [u32; 4]) -> u32 {
    u32::from_le_bytes(bytes.map(|byte| byte as u8))
}

/// `count` bits of a word from bit `offset` on.
pub(crate) fn extract_bits(word: u32, offset: u32, count: u32) -> u32 {
    word >> offset & ((1 << count) - 1)
}
