//! Writes past the page cache (Linux only; other systems never do).

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use kalah_core::memory::HugePages;

/// Alignment of offsets, lengths and memory for direct writes, which suits nearly all disks.
pub const BLOCK_BYTES: usize = 1 << 12;

/// Bytes of each direct write: enough for the full speed of a disk, and few enough to stay in a
/// processor's cache.
const BUFFER_BYTES: usize = 1 << 20;

/// Minimum speed for direct writes. On a slower disk the system does better: it writes later and
/// keeps data that is read soon. A build produces some 300 MB a second on two cores, and reads them
/// again.
const LEAST_BYTES_PER_SECOND: u64 = 500 << 20;

/// Number of writes before the disk's speed is evaluated.
const SAMPLED_WRITES: u64 = 64;

/// A file written past the page cache.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    /// Page-aligned.
    buffer: HugePages,
    writes: u64,
    /// Writes slower than the minimum speed allows.
    slow_writes: u64,
}

impl DirectFile {
    /// Opens a second handle of a file that is open for writing. `None` if the system or the file
    /// system does not support direct writes.
    #[cfg(target_os = "linux")]
    pub fn of(file: &File) -> Option<DirectFile> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;
        // This path names the file itself, even if it was renamed.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = File::options().write(true).custom_flags(libc::O_DIRECT).open(path).ok()?;
        let buffer = HugePages::new(BUFFER_BYTES).ok()?;
        Some(DirectFile { file, buffer, writes: 0, slow_writes: 0 })
    }

    /// Unsupported on this system.
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
            let buffer = &mut self.buffer[..part.len()];
            buffer.copy_from_slice(part);
            let start = Instant::now();
            write_all_at(&self.file, buffer, offset)?;
            self.count(part.len(), start.elapsed());
            offset += part.len() as u64;
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize, time: Duration) {
        self.writes += 1;
        self.slow_writes += u64::from(time.as_secs_f64() * LEAST_BYTES_PER_SECOND as f64 > bytes as f64);
    }

    /// Returns true if most writes were too slow, so that writing should be left to the system. A
    /// majority is required, since a busy processor slows some writes on any disk.
    pub fn is_slow(&self) -> bool {
        self.writes >= SAMPLED_WRITES && 2 * self.slow_writes > self.writes
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
    fn a_disk_is_slow_if_most_of_many_writes_are() {
        let file = tempfile::tempfile_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
        let Some(mut direct) = DirectFile::of(&file) else {
            return eprintln!("not tested: the file system of the build has no direct writes");
        };
        // Of the writes of a mebibyte each, this number take a second, and the others no time.
        for (writes, slow_writes, slow) in
            [(0, 0, false), (63, 63, false), (64, 64, true), (64, 33, true), (64, 32, false), (6400, 1000, false)]
        {
            (direct.writes, direct.slow_writes) = (0, 0);
            for write in 0..writes {
                direct.count(1 << 20, Duration::from_secs(u64::from(write < slow_writes)));
            }
            assert_eq!(direct.is_slow(), slow, "{slow_writes} of {writes} writes are slow");
        }
        // 500 mebibytes a second.
        (direct.writes, direct.slow_writes) = (0, 0);
        direct.count(1 << 20, Duration::from_micros(1999));
        direct.count(1 << 20, Duration::from_micros(2001));
        assert_eq!((direct.writes, direct.slow_writes), (2, 1));
    }
}
