//! Memory that is read at random: huge pages and prefetching.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapRaw};

/// Bytes of a cache line of most processors.
const CACHE_LINE: usize = 64;

/// Zeroed memory beside the heap, in huge pages where the system has them: random reads of it walk fewer page tables.
#[derive(Debug)]
pub struct HugePages(MmapRaw);

impl HugePages {
    /// So many bytes, at least 1.
    ///
    /// # Errors
    /// When there is not as much memory.
    pub fn new(bytes: usize) -> io::Result<HugePages> {
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Without huge pages everything works, only slower.
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(HugePages(map.into()))
    }

    /// How many bytes there are.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// The first byte, to be written to by threads that share the memory as atomic values. Whoever does so must not take it as
    /// a slice at the same time.
    #[inline]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

impl Deref for HugePages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is mapped, initialised and as long as this until `self` is dropped; for other threads that write
        // to it see `as_mut_ptr`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl DerefMut for HugePages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr(), self.0.len()) }
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

/// Has the processor fetch the cache lines of so many bytes, which need not be valid.
#[inline(always)]
pub fn prefetch_bytes(start: *const u8, bytes: usize) {
    for offset in (0..bytes).step_by(CACHE_LINE) {
        prefetch(start.wrapping_add(offset));
    }
}
