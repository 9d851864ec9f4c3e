//! Memory for random reads: huge pages and prefetching.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapRaw};

/// Bytes of a cache line on most processors.
const CACHE_LINE: usize = 64;

/// Zeroed memory outside the heap, in huge pages where the system has them. Random reads then need
/// fewer page-table lookups.
#[derive(Debug)]
pub struct HugePages(MmapRaw);

impl HugePages {
    /// Allocates `bytes` bytes, at least 1.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(bytes: usize) -> io::Result<HugePages> {
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Huge pages only make it faster.
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(HugePages(map.into()))
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Pointer to the first byte, for threads that write to the shared memory as atomic values. No
    /// slice of the memory may be used at the same time.
    #[inline]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

impl Deref for HugePages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is mapped, initialised and this long until `self` is dropped. For
        // other threads that write to it see `as_mut_ptr`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl DerefMut for HugePages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr(), self.0.len()) }
    }
}

/// Prefetches the cache line at `address`, which need not be valid.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching affects only speed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetches the cache lines of `bytes` bytes, which need not be valid.
#[inline(always)]
pub fn prefetch_bytes(start: *const u8, bytes: usize) {
    for offset in (0..bytes).step_by(CACHE_LINE) {
        prefetch(start.wrapping_add(offset));
    }
}
