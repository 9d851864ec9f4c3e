//! Files that the system keeps in memory, and writing to them (Linux only; other systems never do).

use std::fs::File;
use std::io;
use std::path::Path;

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
    use std::os::fd::AsRawFd;
    // SAFETY: the structure is that of the call, and the file is open.
    if !is_tmpfs(|system| unsafe { libc::fstatfs(file.as_raw_fd(), system) }) {
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

/// Returns true if the system keeps the file or directory `path` in memory.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_in_memory(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the structure is that of the call, and the path ends with a zero.
    is_tmpfs(|system| unsafe { libc::statfs(path.as_ptr(), system) })
}

/// Not known on this system.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_in_memory(_: &Path) -> bool {
    false
}

/// Returns true if the file system that `describe` reports is in memory. It returns 0 if it can.
#[cfg(target_os = "linux")]
fn is_tmpfs(describe: impl FnOnce(*mut libc::statfs) -> libc::c_int) -> bool {
    // SAFETY: a structure of numbers may be zeros.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    describe(&raw mut system) == 0 && i128::from(system.f_type) == i128::from(libc::TMPFS_MAGIC)
}
