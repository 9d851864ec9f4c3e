use kalah_core::index::Frame;
use kalah_core::table::{PairKey, TableError, TableKey};

use super::log::BuildRecord;

/// Progress of a running build.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildEvent<'a> {
    /// A layer begins.
    Layer {
        /// The layer.
        key: TableKey,
        /// Positions still to be computed.
        positions: u64,
        /// Frames kept from another run.
        kept: usize,
    },
    /// A pair of frames begins, given by the frame with fewer seeds in the mover's row.
    Pair(Frame),
    /// The bound table of a layer begins.
    Bounds(TableKey),
    /// The existing bound table of a layer has other cuts or another network than requested. It is
    /// kept.
    BoundsKept(TableKey),
    /// The bound table of a layer is damaged and will be made again.
    BoundsDamaged(&'a TableError),
    /// A layer is done.
    Done(&'a BuildRecord),
    /// A pair of frames was computed and its piece written.
    Piece {
        /// The pair.
        pair: PairKey,
        /// Seconds taken.
        seconds: f64,
    },
    /// The pieces of a layer were joined.
    Joined(TableKey),
    /// A piece is damaged. Its frames are computed again.
    Damaged(&'a TableError),
}

/// The results of a build.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildReport {
    /// Number of layers that existed already.
    pub kept: usize,
    /// Layers built or completed.
    pub built: Vec<BuildRecord>,
    /// In a build shared with other processes: the pairs that this process computed.
    pub pairs: Vec<PairKey>,
    /// In a build shared with other processes: the number of layers that this process joined.
    pub joined: usize,
}

impl BuildReport {
    /// Number of positions computed.
    pub fn positions(&self) -> u64 {
        let layers = self.built.iter().map(|record| record.positions);
        layers.chain(self.pairs.iter().map(|pair| pair.positions())).sum()
    }
}
