use kalah_core::index::Frame;

use super::log::BuildRecord;
use crate::table::{PairKey, TableError, TableKey};

/// Progress of a running build.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A layer begins.
    Layer {
        /// The layer.
        key: TableKey,
        /// Positions that are still to be computed.
        positions: u64,
        /// Frames kept from an earlier run.
        kept: usize,
    },
    /// A pair of frames begins: the one with fewer seeds in the mover's row.
    Pair(Frame),
    /// The bound table of a layer begins.
    Bounds(TableKey),
    /// The bound table of a layer is there, with other cuts or another network than the one to make: it is kept.
    BoundsKept(TableKey),
    /// The bound table of a layer is damaged: it is made again.
    BoundsDamaged(&'a TableError),
    /// The finished table of a layer is packed into an archive.
    Packing(TableKey),
    /// A layer is done.
    Done(&'a BuildRecord),
    /// A pair of frames was computed and its piece written.
    Piece {
        /// The pair.
        pair: PairKey,
        /// Seconds that it took.
        seconds: f64,
    },
    /// The pieces of a layer were joined.
    Joined(TableKey),
    /// A piece is damaged; its frames are computed again.
    Damaged(&'a TableError),
}
