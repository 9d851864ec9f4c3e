use std::fs::File;

/// Has the system begin to move `bytes` bytes from `offset` on to the disk, without waiting for the end, so that there is little
/// left to wait for when the file is synchronised. This alone guarantees nothing, and where the system cannot, it does nothing.
pub fn begin_flush(file: &File, offset: u64, bytes: u64) {
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
