//! Layers below that are archives: their frames are unpacked into memory when they are needed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah_core::index::Frame;

use super::frame_cache::{FrameCache, steps};
use crate::progress::Pulse;
use crate::table::archive::ArchiveReader;
use crate::table::{FrameScores, PackedFrame, TableError, TableKey};

/// What was read from archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ArchiveReads {
    /// Frames unpacked.
    pub frames: u64,
    /// Their positions.
    pub positions: u64,
    /// Their bytes in the archives.
    pub bytes: u64,
}

/// Archived layers, and those of their frames that are in memory.
pub(super) struct Unpacked {
    archives: BTreeMap<usize, ArchiveReader>,
    frames: FrameCache<PackedFrame>,
    reads: ArchiveReads,
}

impl Unpacked {
    /// No archives yet; `first` has the rules, and the seeds of the lowest layer that is an archive. Unpacked frames take at most
    /// `budget` bytes of memory, or what one frame needs to be computed.
    pub fn new(first: TableKey, budget: u64) -> Unpacked {
        let frames = FrameCache::new(first.rules, first.seeds, budget);
        Unpacked { archives: BTreeMap::new(), frames, reads: ArchiveReads::default() }
    }

    /// Adds a layer.
    pub fn push(&mut self, archive: ArchiveReader) {
        self.archives.insert(archive.info().key.seeds, archive);
    }

    /// What was read so far.
    pub fn reads(&self) -> ArchiveReads {
        self.reads
    }

    /// Begins to compute pairs of frames with these seeds in the rows, in this order.
    pub fn begin(&mut self, pits: usize, pairs: impl IntoIterator<Item = (usize, usize)>) {
        self.frames.begin(&steps(pits, pairs));
    }

    /// Unpacks what the next frame to compute is computed from, and counts the positions in `pulse`.
    ///
    /// # Errors
    /// When an archive is missing, damaged or cannot be read, there is not enough memory, or `pulse` was stopped.
    pub fn bring(&mut self, frame: Frame, pulse: &Pulse) -> Result<(), TableError> {
        let missing = self.frames.advance(frame);
        // Not kept: other work has this memory in between.
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

    /// The scores of a frame that was brought, and the archive; `None` for a layer that is no archive.
    pub fn frame(&self, frame: Frame) -> Option<(&Path, FrameScores<'_>)> {
        let archive = self.archives.get(&(frame.mover + frame.other))?;
        let packed = self.frames.get(frame);
        Some((archive.path(), packed.expect("what a frame is computed from was unpacked before").scores()))
    }
}

impl fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacked").field("reads", &self.reads).finish_non_exhaustive()
    }
}
