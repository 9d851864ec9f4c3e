use std::fs::File;

use kalah_core::cancel::Cancel;

/// Bytes read at a time: whole huge pages.
#[cfg(target_os = "linux")]
const PART_BYTES: usize = 64 << 20;

/// Reads the uncached parts of a file into the page cache, in huge pages where the system has them,
/// until the end or until `cancel` is cancelled.
///
/// After a write past the page cache, this is much faster than reading page by page on use. It
/// affects only speed: it does nothing where the system cannot, and leaves errors to those who need
/// the bytes.
pub fn read_back(file: &File, cancel: &Cancel) {
    #[cfg(target_os = "linux")]
    {
        use memmap2::{Advice, Mmap};
        // SAFETY: no byte of the map is read here; its pages are only loaded.
        let Ok(map) = (unsafe { Mmap::map(file) }) else { return };
        // Otherwise the size of pages depends on the system's read-ahead.
        let _ = map.advise(Advice::HugePage);
        for start in (0..map.len()).step_by(PART_BYTES) {
            let bytes = PART_BYTES.min(map.len() - start);
            if cancel.is_cancelled() || map.advise_range(Advice::PopulateRead, start, bytes).is_err() {
                return;
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, cancel);
}
