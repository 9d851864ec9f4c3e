//! Writing past the page cache (Linux only; elsewhere nothing is written so).

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use crate::memory::HugePages;

/// Places, lengths and memory of direct writes are multiples of this, which suits nearly all disks.
pub const BLOCK_BYTES: usize = 1 << 12;

/// Bytes of each direct write: enough for the full speed of a disk, and few enough to stay in a processor's cache.
const BUFFER_BYTES: usize = 1 << 20;

/// A slower disk is left to the system, which writes later and keeps what is read soon: a build makes some 200 MB a second on two
/// cores, and reads them again.
const LEAST_BYTES_PER_SECOND: u64 = 500 << 20;

/// Bytes after which a disk is judged.
const JUDGED_BYTES: u64 = 64 << 20;

/// A file that is written past the page cache.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    /// Aligned as pages are.
    buffer: HugePages,
    written: u64,
    writing: Duration,
}

impl DirectFile {
    /// A second handle of a file that is open for writing. `None` if the system or the file system does not have such writes.
    #[cfg(target_os = "linux")]
    pub fn of(file: &File) -> Option<DirectFile> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;
        // This names the file itself, also if it was renamed.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = File::options().write(true).custom_flags(libc::O_DIRECT).open(path).ok()?;
        let buffer = HugePages::new(BUFFER_BYTES).ok()?;
        Some(DirectFile { file, buffer, written: 0, writing: Duration::ZERO })
    }

    /// A second handle of a file: not on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_file: &File) -> Option<DirectFile> {
        None
    }

    /// Writes `bytes` from `offset` on, both multiples of [`BLOCK_BYTES`].
    ///
    /// # Errors
    /// When writing fails; [`io::ErrorKind::InvalidInput`] if this disk needs larger blocks.
    pub fn write_at(&mut self, mut offset: u64, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.chunks(BUFFER_BYTES) {
            let start = Instant::now();
            let buffer = &mut self.buffer[..part.len()];
            buffer.copy_from_slice(part);
            write_all_at(&self.file, buffer, offset)?;
            self.writing += start.elapsed();
            self.written += part.len() as u64;
            offset += part.len() as u64;
        }
        Ok(())
    }

    /// Whether what was written so far took long enough that the system had better do it.
    pub fn is_slow(&self) -> bool {
        self.written >= JUDGED_BYTES && self.written as f64 / self.writing.as_secs_f64() < LEAST_BYTES_PER_SECOND as f64
    }
}

#[cfg(target_os = "linux")]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(target_os = "linux"))]
fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_slow_only_after_enough_bytes_in_too_much_time() {
        let file = tempfile::tempfile_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
        let Some(mut direct) = DirectFile::of(&file) else {
            return eprintln!("not tested: the file system of the build has no direct writes");
        };
        for (mebibytes, millis, slow) in
            [(0, 0, false), (63, 10_000, false), (64, 1000, true), (64, 100, false), (6400, 10_000, false)]
        {
            (direct.written, direct.writing) = (mebibytes << 20, Duration::from_millis(millis));
            assert_eq!(direct.is_slow(), slow, "{mebibytes} MiB in {millis} ms");
        }
    }
}
