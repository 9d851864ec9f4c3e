use std::path::{Path, PathBuf};

use super::TableKey;
use super::directory::table_stem;
use crate::index::Frame;

/// A pair of mirrored frames of a layer, K|L and L|K: what is computed together. One frame where K = L.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairKey {
    /// The layer.
    pub layer: TableKey,
    /// Seeds in the row that has fewer, 1 to half of the layer's.
    pub small: usize,
}

impl PairKey {
    /// The pair of `layer` with the frame in which the mover's row holds `mover` seeds; `None` unless that is 1 to all
    /// seeds but one.
    pub fn new(layer: TableKey, mover: usize) -> Option<PairKey> {
        (1..layer.seeds).contains(&mover).then(|| PairKey { layer, small: mover.min(layer.seeds - mover) })
    }

    /// Seeds in the row that has more.
    pub fn large(self) -> usize {
        self.layer.seeds - self.small
    }

    /// Its frames in the order of the table's file: first the one with fewer seeds in the mover's row.
    pub fn frames(self) -> impl Iterator<Item = Frame> + Clone {
        let frame = Frame { pits: self.layer.pits, mover: self.small, other: self.large() };
        [frame, frame.mirrored()].into_iter().take(if frame.mover == frame.other { 1 } else { 2 })
    }

    /// Positions of its frames.
    pub fn positions(self) -> u64 {
        self.frames().map(Frame::positions).sum()
    }

    /// The layers that must be there to compute it: any move may bank any number of seeds, so all below, of 2 seeds and more.
    pub fn needs(self) -> std::ops::Range<usize> {
        2..self.layer.seeds
    }

    /// The path of its piece in `directory`, such as `empty-capture-6-20.03.piece`.
    pub fn piece_path(self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.{:02}.piece", table_stem(self.layer), self.small))
    }
}

impl std::fmt::Display for PairKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the frames {}|{} of {}", self.small, self.large(), self.layer)
    }
}

impl TableKey {
    /// The pairs of frames of the layer, in the order of the file.
    pub fn pairs(self) -> impl Iterator<Item = PairKey> {
        (1..=self.seeds / 2).map(move |small| PairKey { layer: self, small })
    }
}
