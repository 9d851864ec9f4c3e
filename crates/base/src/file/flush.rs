use std::fs::File;

/// Asks the system to start moving `bytes` bytes from `offset` on to the disk, without waiting.
/// Synchronising the file then takes little time. This alone guarantees nothing, and does nothing
/// on systems without it.
pub(super) fn begin_flush(file: &File, offset: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the call takes no memory, and the file is open.
        unsafe {
            let (offset, bytes) = (offset as libc::off64_t, bytes as libc::off64_t);
            libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, bytes);
}
