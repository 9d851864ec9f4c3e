//! Archived lower layers. Their frames are decompressed into memory when they are needed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah_core::index::Frame;

use super::frame_cache::{FrameCache, steps};
use crate::progress::Pulse;
use crate::table::archive::ArchiveReader;
use crate::table::{FrameScores, PackedFrame, TableError, TableKey};

/// Data read from archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ArchiveReads {
    /// Number of frames decompressed.
    pub frames: u64,
    /// Their positions.
    pub positions: u64,
    /// Bytes of these frames in the archives.
    pub bytes: u64,
}

/// Archived layers, and their frames in memory.
pub(super) struct ArchivedFrames {
    archives: BTreeMap<usize, ArchiveReader>,
    frames: FrameCache<PackedFrame>,
    reads: ArchiveReads,
}

impl ArchivedFrames {
    /// Starts without archives. `first` has the rules and the seeds of the lowest archived layer.
    /// Decompressed frames take at most `budget` bytes of memory, or the minimum to compute one frame.
    pub fn new(first: TableKey, budget: u64) -> ArchivedFrames {
        let frames = FrameCache::new(first.rules, first.seeds, budget);
        ArchivedFrames { archives: BTreeMap::new(), frames, reads: ArchiveReads::default() }
    }

    /// Adds a layer.
    pub fn push(&mut self, archive: ArchiveReader) {
        self.archives.insert(archive.info().key.seeds, archive);
    }

    /// Data read so far.
    pub fn reads(&self) -> ArchiveReads {
        self.reads
    }

    /// Prepares to compute pairs of frames with these seeds in the rows, in this order.
    pub fn begin(&mut self, pits: usize, pairs: impl IntoIterator<Item = (usize, usize)>) {
        self.frames.begin(&steps(pits, pairs));
    }

    /// Decompresses the frames from which `frame` is computed, and counts the positions in `pulse`.
    ///
    /// # Errors
    /// When an archive is missing, damaged or unreadable, there is not enough memory, or `pulse`
    /// was stopped.
    pub fn load(&mut self, frame: Frame, pulse: &Pulse) -> Result<(), TableError> {
        let missing = self.frames.advance(frame);
        // Not kept between calls, since other work uses the memory.
        let mut scores = Vec::new();
        for frame in missing {
            pulse.check()?;
            let Some(archive) = self.archives.get_mut(&(frame.mover + frame.other)) else { continue };
            let progress = |positions| _ = pulse.positions.fetch_add(positions, Ordering::Relaxed);
            let packed = archive.packed(frame, &mut scores, Vec::new(), &progress)?;
            self.reads.frames += 1;
            self.reads.positions += frame.positions();
            self.reads.bytes += archive.frame_bytes(frame);
            self.frames.insert(frame, packed);
        }
        Ok(())
    }

    /// Scores of a decompressed frame, with its archive; `None` for a layer that is not archived.
    pub fn frame(&self, frame: Frame) -> Option<(&Path, FrameScores<'_>)> {
        let archive = self.archives.get(&(frame.mover + frame.other))?;
        let packed = self.frames.get(frame);
        Some((archive.path(), packed.expect("what a frame is computed from was decompressed before").scores()))
    }
}

impl fmt::Debug for ArchivedFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchivedFrames").field("reads", &self.reads).finish_non_exhaustive()
    }
}
