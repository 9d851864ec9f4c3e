//! Memory for random reads: huge pages and prefetching.

use std::io;
use std::ops::{Deref, DerefMut};

#[cfg(target_family = "wasm")]
use self::heap::Memory;
#[cfg(not(target_family = "wasm"))]
use memmap2::MmapRaw as Memory;

/// Bytes of a cache line on most processors.
const CACHE_LINE: usize = 64;

/// Zeroed memory outside the heap, in huge pages where the system has them, which makes random reads faster.
#[derive(Debug)]
pub struct HugePages(Memory);

impl HugePages {
    /// Allocates `bytes` bytes, at least 1.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(bytes: usize) -> io::Result<HugePages> {
        let pages = HugePages::reserve(bytes)?;
        pages.clear_to(bytes);
        Ok(pages)
    }

    /// Allocates `bytes` bytes, at least 1, of which only those of [`HugePages::clear_to`] may be used.
    ///
    /// A system clears each page before its first use. WebAssembly clears all at once, which would take longer
    /// than a small search.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn reserve(bytes: usize) -> io::Result<HugePages> {
        #[cfg(target_family = "wasm")]
        let memory = Memory::new(bytes)?;
        #[cfg(not(target_family = "wasm"))]
        let memory = memmap2::MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Huge pages only make it faster.
        let _ = memory.advise(memmap2::Advice::HugePage);
        #[cfg(not(target_family = "wasm"))]
        let memory = memory.into();
        Ok(HugePages(memory))
    }

    /// Makes the first `bytes` bytes usable: zeros, but for those that were usable before.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn clear_to(&self, bytes: usize) {
        assert!(bytes <= self.bytes(), "the memory is shorter");
        #[cfg(target_family = "wasm")]
        self.0.clear_to(bytes);
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Usable bytes.
    #[inline]
    fn usable(&self) -> usize {
        #[cfg(target_family = "wasm")]
        return self.0.cleared();
        #[cfg(not(target_family = "wasm"))]
        self.bytes()
    }

    /// Pointer to the first byte, for threads that write atomic values. No slice may be used at the same time.
    #[inline]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

impl Deref for HugePages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is mapped, and this much of it initialised, until `self` is dropped.
        // For other threads that write to it see `as_mut_ptr`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.usable()) }
    }
}

impl DerefMut for HugePages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr(), self.usable()) }
    }
}

/// Memory of the heap, where there is no other.
#[cfg(target_family = "wasm")]
mod heap {
    use std::alloc::{Layout, alloc, dealloc};
    use std::cell::Cell;
    use std::io;
    use std::ptr::NonNull;

    /// Memory that is aligned to cache lines.
    #[derive(Debug)]
    pub(super) struct Memory {
        start: NonNull<u8>,
        layout: Layout,
        /// Bytes that were cleared.
        cleared: Cell<usize>,
    }

    impl Memory {
        pub fn new(bytes: usize) -> io::Result<Memory> {
            let layout = Layout::from_size_align(bytes.max(1), super::CACHE_LINE).map_err(io::Error::other)?;
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { alloc(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Memory { start, layout, cleared: Cell::new(0) })
        }

        /// Clears the first `bytes` bytes, but for those that were cleared before.
        pub fn clear_to(&self, bytes: usize) {
            let cleared = self.cleared();
            if let Some(more) = bytes.min(self.len()).checked_sub(cleared) {
                // SAFETY: the bytes belong to the memory, and nothing refers to any that were not cleared.
                unsafe { self.as_mut_ptr().add(cleared).write_bytes(0, more) };
                self.cleared.set(cleared + more);
            }
        }

        #[inline]
        pub fn cleared(&self) -> usize {
            self.cleared.get()
        }

        pub fn len(&self) -> usize {
            self.layout.size()
        }

        pub fn as_ptr(&self) -> *const u8 {
            self.start.as_ptr()
        }

        pub fn as_mut_ptr(&self) -> *mut u8 {
            self.start.as_ptr()
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: the memory was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }

    // SAFETY: the memory belongs to the value alone, as that of a `Vec` does.
    unsafe impl Send for Memory {}
    // SAFETY: without the feature `atomics` there is one thread.
    #[cfg(not(target_feature = "atomics"))]
    unsafe impl Sync for Memory {}
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
