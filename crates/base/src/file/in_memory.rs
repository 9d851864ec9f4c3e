//! Writes to files that the system keeps in memory (Linux only; other systems never do).

use std::fs::File;
use std::io;

/// Bytes that a thread copies at a time.
#[cfg(target_os = "linux")]
const PART_BYTES: usize = 1 << 20;

/// Maximum number of threads. Providing pages takes longer than copying to them.
#[cfg(target_os = "linux")]
const MOST_THREADS: usize = 8;

/// Writes `bytes` from `offset` on, on several threads: the system would let only one at a time write to the file, but
/// they can copy to its pages. Returns false, and writes nothing, if the file is not in memory or cannot be mapped.
///
/// # Errors
/// When there is no memory left. Any part may have been written then.
#[cfg(target_os = "linux")]
pub(super) fn write_in_memory(file: &File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    use crate::parallel::share;
    use memmap2::{Advice, MmapOptions};
    if !is_in_memory(file) {
        return Ok(false);
    }
    let end = offset + bytes.len() as u64;
    if file.metadata()?.len() < end {
        file.set_len(end)?;
    }
    let Ok(map) = MmapOptions::new().offset(offset).len(bytes.len()).map_raw(file) else { return Ok(false) };
    // Pages are provided before anything is copied to them. Otherwise a lack of memory would kill the process.
    let provide = |part: usize| {
        let len = PART_BYTES.min(bytes.len() - part * PART_BYTES);
        map.advise_range(Advice::PopulateWrite, part * PART_BYTES, len)
    };
    match provide(0) {
        // A system without this call.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(false),
        first => first.map_err(no_memory)?,
    }
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(MOST_THREADS));
    let parts: Vec<&[u8]> = bytes.chunks(PART_BYTES).collect();
    share(&mut vec![(); threads], parts.len(), |(), number| -> io::Result<()> {
        provide(number).map_err(no_memory)?;
        let to = map.as_mut_ptr().wrapping_add(number * PART_BYTES);
        // SAFETY: the part is within the map, whose pages were just provided, and no other thread copies to it. Nobody
        // shortens a file that is being written.
        unsafe { std::ptr::copy_nonoverlapping(parts[number].as_ptr(), to, parts[number].len()) };
        Ok(())
    })?;
    Ok(true)
}

/// Not supported on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn write_in_memory(_: &File, _: u64, _: &[u8]) -> io::Result<bool> {
    Ok(false)
}

/// The error of pages that cannot be provided: where a write would report a full disk.
#[cfg(target_os = "linux")]
fn no_memory(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::EFAULT) { io::Error::from_raw_os_error(libc::ENOSPC) } else { error }
}

#[cfg(target_os = "linux")]
fn is_in_memory(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    // SAFETY: a structure of numbers may be zeros, and the call fills it for an open file.
    let (known, system) = unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut system) == 0, system)
    };
    known && i128::from(system.f_type) == i128::from(libc::TMPFS_MAGIC)
}
