//! Memory that is read at random: huge pages and prefetching.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{Mmap, MmapMut};

/// Zeroed memory outside the heap, in huge pages where the system supports them: random reads walk fewer page tables.
#[derive(Debug)]
pub struct HugePages(MmapMut);

impl HugePages {
    /// Allocates `bytes` bytes, at least 1.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(bytes: usize) -> io::Result<HugePages> {
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Without huge pages everything works, but more slowly.
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(HugePages(map))
    }

    /// Makes the memory read-only.
    ///
    /// # Errors
    /// When the system cannot protect it.
    pub fn read_only(self) -> io::Result<Mmap> {
        self.0.make_read_only()
    }
}

impl Deref for HugePages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for HugePages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Has the processor fetch the cache line at `address`, which need not be valid.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching affects nothing but speed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
