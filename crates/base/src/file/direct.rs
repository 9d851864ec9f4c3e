//! Writes past the page cache (Linux only; other systems never do).

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use kalah_core::memory::HugePages;

use crate::parallel::share;

/// Alignment of offsets, lengths and memory for direct writes, which suits nearly all disks.
pub(super) const BLOCK_BYTES: usize = 1 << 12;

/// Bytes of each direct write: enough for the full speed of a disk, and few enough to stay in a
/// processor's cache.
const BUFFER_BYTES: usize = 1 << 20;

/// Number of writes under way at the same time. A fast disk is idle if it has only one.
const AT_ONCE: usize = 4;

/// Minimum speed for direct writes. On a slower disk the system does better: it writes later and
/// keeps data that is read soon. A build produces some 300 MB a second on two cores, and reads them
/// again.
const LEAST_BYTES_PER_SECOND: u64 = 500 << 20;

/// Number of writes before the disk's speed is evaluated.
const SAMPLED_WRITES: u64 = 64;

/// A file written past the page cache.
#[derive(Debug)]
pub(super) struct DirectFile {
    file: File,
    /// One for each write under way: page-aligned memory, for bytes that are not, and its writes.
    writers: Vec<(HugePages, Count)>,
}

/// Number of writes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    writes: u64,
    /// Writes slower than the minimum speed allows.
    slow: u64,
}

impl DirectFile {
    /// Opens a second handle of a file that is open for writing. `None` if the system or the file
    /// system does not support direct writes.
    #[cfg(target_os = "linux")]
    pub(super) fn of(file: &File) -> Option<DirectFile> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;
        // This path names the file itself, even if it was renamed.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let file = File::options().write(true).custom_flags(libc::O_DIRECT).open(path).ok()?;
        let writer = |_| Ok((HugePages::new(BUFFER_BYTES)?, Count::default()));
        let writers = (0..AT_ONCE).map(writer).collect::<io::Result<_>>().ok()?;
        Some(DirectFile { file, writers })
    }

    /// Unsupported on this system.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_file: &File) -> Option<DirectFile> {
        None
    }

    /// Writes `bytes` from `offset` on, both multiples of [`BLOCK_BYTES`].
    ///
    /// # Errors
    /// When writing fails; [`io::ErrorKind::InvalidInput`] if this disk needs larger blocks.
    pub(super) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        reserve(&self.file, offset, bytes.len() as u64);
        let parts: Vec<&[u8]> = bytes.chunks(BUFFER_BYTES).collect();
        let file = &self.file;
        share(&mut self.writers, parts.len(), |(buffer, count), number| -> io::Result<()> {
            let mut part = parts[number];
            if !(part.as_ptr() as usize).is_multiple_of(BLOCK_BYTES) {
                buffer[..part.len()].copy_from_slice(part);
                part = &buffer[..part.len()];
            }
            let start = Instant::now();
            write_all_at(file, part, offset + (number * BUFFER_BYTES) as u64)?;
            count.add(part.len(), start.elapsed());
            Ok(())
        })
    }

    /// Returns true if most writes were too slow, so that writing should be left to the system. A
    /// majority is required, since a busy processor slows some writes on any disk.
    pub(super) fn is_slow(&self) -> bool {
        let sum = |number: fn(&Count) -> u64| self.writers.iter().map(|(_, count)| number(count)).sum::<u64>();
        let (writes, slow) = (sum(|count| count.writes), sum(|count| count.slow));
        writes >= SAMPLED_WRITES && 2 * slow > writes
    }
}

impl Count {
    /// Counts a write of this many bytes, which shared the disk with others.
    fn add(&mut self, bytes: usize, time: Duration) {
        self.writes += 1;
        let least = LEAST_BYTES_PER_SECOND as f64 / AT_ONCE as f64;
        self.slow += u64::from(time.as_secs_f64() * least > bytes as f64);
    }
}

/// Reserves space for `bytes` bytes from `offset` on. Only then do Linux's file systems write parts
/// of a file at the same time. Where that is impossible, writing takes longer.
#[cfg(target_os = "linux")]
fn reserve(file: &File, offset: u64, bytes: u64) {
    use std::os::fd::AsRawFd;
    // SAFETY: the call takes no memory, and the file is open.
    unsafe { libc::fallocate(file.as_raw_fd(), 0, offset as libc::off_t, bytes as libc::off_t) };
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64, _: u64) {}

#[cfg(target_os = "linux")]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(target_os = "linux"))]
fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
