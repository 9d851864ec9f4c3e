use std::fmt;

use super::format::FrameEntry;
use super::frame::FrameScores;
use crate::index::Frame;
use crate::memory::HugePages;

/// A copy of a frame in memory of its own, compared with the checksums of its table
/// ([`Table::copied_frame`](super::Table::copied_frame)).
pub struct FrameCopy {
    frame: Frame,
    entry: FrameEntry,
    /// The bytes before the checksums.
    bytes: HugePages,
}

impl FrameCopy {
    pub(super) fn new(frame: Frame, entry: FrameEntry, bytes: HugePages) -> FrameCopy {
        FrameCopy { frame, entry, bytes }
    }

    /// Its scores.
    #[inline]
    pub fn scores(&self) -> FrameScores<'_> {
        FrameScores::new(self.frame, &self.entry, &self.bytes).expect("a copy of a whole frame")
    }
}

impl fmt::Debug for FrameCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameCopy").field("frame", &self.frame).finish_non_exhaustive()
    }
}
