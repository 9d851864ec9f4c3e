use std::fs::File;

use kalah_core::cancel::Cancel;

/// Bytes that are read at a time: whole huge pages.
#[cfg(target_os = "linux")]
const PART_BYTES: usize = 64 << 20;

/// Reads what of a file is not in the page cache into it, in huge pages where the system has them, until the end or until `cancel` is cancelled.
///
/// A file that was written past the page cache is read much faster so than page by page when it is used. This is only for speed: where
/// the system cannot, it does nothing, and errors are left to those who need the bytes.
pub fn read_back(file: &File, cancel: &Cancel) {
    #[cfg(target_os = "linux")]
    {
        use memmap2::{Advice, Mmap};
        // SAFETY: no byte of the map is read here, only its pages are brought.
        let Ok(map) = (unsafe { Mmap::map(file) }) else { return };
        // Otherwise the pages are as large as the system happens to read ahead.
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
