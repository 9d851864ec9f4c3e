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

/// A barrier, at which all threads of a workgroup wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Barrier {
    /// `workgroupBarrier()`: orders accesses to the memory of the workgroup.
    Workgroup,
    /// `storageBarrier()`: orders accesses to buffers, among the threads of the workgroup.
    Storage,
}

/// The receiver of reported uses of twins' words: [`NoTrace`], or a check for data races.
pub trait Tracer {
    /// A workgroup begins.
    #[inline]
    fn begin(&self, _workgroup: u32) {}
    /// The following accesses are those of this thread, numbered within its workgroup.
    #[inline]
    fn thread(&self, _local: u32) {}
    /// All threads of the workgroup have reached a barrier.
    #[inline]
    fn barrier(&self, _barrier: Barrier) {}
    /// The thread uses a word.
    #[inline]
    fn access(&self, _memory: Memory, _word: u32, _how: Use) {}
    /// The thread reads or writes a word atomically. Unlike other atomic operations this must be
    /// ordered with those of other threads: a sum is read when it is complete, and written before
    /// anything is added.
    #[inline]
    fn atomic_access(&self, _memory: Memory, _word: u32, _how: Use) {}
}

/// Runs twins without a trace, at no cost.
#[derive(Clone, Copy, Debug)]
pub struct NoTrace;

impl Tracer for NoTrace {}

impl Tracer for &dyn Tracer {
    fn begin(&self, workgroup: u32) {
        (**self).begin(workgroup);
    }
    fn thread(&self, local: u32) {
        (**self).thread(local);
    }
    fn barrier(&self, barrier: Barrier) {
        (**self).barrier(barrier);
    }
    fn access(&self, memory: Memory, word: u32, how: Use) {
        (**self).access(memory, word, how);
    }
    fn atomic_access(&self, memory: Memory, word: u32, how: Use) {
        (**self).atomic_access(memory, word, how);
    }
}
