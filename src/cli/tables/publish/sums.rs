use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah::progress::Pulse;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Bytes read at a time.
const PART_BYTES: usize = 4 << 20;

/// Checksums of a file, in hexadecimal.
#[derive(Debug, Serialize)]
pub struct Sums {
    pub sha256: String,
    pub blake3: String,
}

impl Sums {
    /// Reads a file. Returns its bytes, too, and adds them to `pulse.positions`.
    ///
    /// # Errors
    /// If the file cannot be read as far as its length, or `pulse` was stopped.
    pub fn of(path: &Path, pulse: &Pulse) -> io::Result<(u64, Sums)> {
        let (mut file, mut part) = (kalah::file::open(path)?, vec![0; PART_BYTES]);
        let length = file.metadata()?.len();
        let (mut sha256, mut blake3, mut bytes) = (Sha256::new(), blake3::Hasher::new(), 0);
        loop {
            pulse.check().map_err(io::Error::other)?;
            let count = file.read(&mut part)?;
            if count == 0 {
                break;
            }
            sha256.update(&part[..count]);
            blake3.update(&part[..count]);
            bytes += count as u64;
            pulse.positions.fetch_add(count as u64, Ordering::Relaxed);
        }
        require_whole(bytes, length)?;
        let sha256 = sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((bytes, Sums { sha256, blake3: blake3.finalize().to_hex().to_string() }))
    }
}

/// Returns an error unless all bytes of a file were read.
pub fn require_whole(read: u64, length: u64) -> io::Result<()> {
    if read == length {
        return Ok(());
    }
    let message = format!("{read} bytes were read of a file of {length}");
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_ends_elsewhere_than_the_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "all").unwrap();
        assert_eq!(Sums::of(&path, &Pulse::default()).unwrap().0, 3);
        assert!(require_whole(2, 3).is_err());
        // Its length is 0.
        #[cfg(target_os = "linux")]
        assert!(Sums::of(Path::new("/proc/self/status"), &Pulse::default()).is_err());
    }
}
