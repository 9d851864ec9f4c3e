use std::path::Path;

use kalah_core::index::layer_positions;

use super::backend::Backend;
use super::plan::rate;
use super::sizes::{packed_bytes, pair_memory};
use crate::progress::total_seconds;
use crate::table::{LayerFiles, PairKey, TableError, TableKey};

/// A pair of frames still to be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairWork {
    /// The pair.
    pub pair: PairKey,
    /// Positions to compute. 0 for a layer whose pieces are complete but not joined.
    pub positions: u64,
    /// Bytes of its piece, slightly overestimated.
    pub bytes: u64,
    /// Maximum bytes of memory that the computing process needs, page cache excluded.
    pub memory: u64,
    /// Bytes of the tables of all layers below. A machine reads them once to compare checksums, and
    /// the process reads those it computes from.
    pub below: u64,
    /// Estimated seconds, based only on the backend and the threads. Reading the layers below is
    /// not included.
    pub seconds: f64,
}

/// The remaining work of a build, pair by pair.
///
/// A pair needs all layers below its own ([`PairKey::dependencies`]) and no other pair of its own layer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Work {
    /// Pairs without a piece, layer by layer, the largest pair of each layer first.
    pub pairs: Vec<PairWork>,
    /// Number of unfinished layers.
    pub layers: usize,
    /// Number of positions to compute.
    pub positions: u64,
    /// Bytes of disk for the new tables, plus the pieces of the largest layer, which exist until they are joined.
    pub disk: u64,
    /// Maximum bytes of memory that a process needs.
    pub memory: u64,
    /// Minimum bytes of tables that each machine reads: all layers below the last one, once.
    pub read: u64,
    /// Maximum bytes of tables that all processes read, if each computes one pair on its own
    /// machine: all layers below, once for each pair.
    pub read_by_pairs: u64,
    /// Seconds with one process.
    pub seconds: f64,
    /// Seconds if all pairs of a layer are computed at the same time: the sum over layers of the
    /// largest pair's time.
    pub critical_seconds: f64,
}

impl Work {
    /// Lists the missing work in `directory` for the layers up to that of `last`, for processes
    /// with `threads` threads each.
    ///
    /// Pieces are recognised by their names. A damaged piece is only found when it is used.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn new(directory: &Path, last: TableKey, backend: &Backend, threads: usize) -> Result<Work, TableError> {
        let mut work = Work::default();
        let (mut tables, mut most_pieces, mut below) = (0, 0, 0);
        for seeds in 2..=last.seeds {
            let key = TableKey { seeds, ..last };
            let files = LayerFiles::read(directory, key)?;
            let layer_bytes = packed_bytes(layer_positions(key.pits, seeds));
            if files.finished {
                below += layer_bytes;
                continue;
            }
            let pair_work = |pair: PairKey, positions: u64| PairWork {
                pair,
                positions,
                bytes: packed_bytes(pair.positions()),
                memory: pair_memory(pair, backend),
                below,
                seconds: positions as f64 / rate(key.rules, backend, threads),
            };
            // The largest first, so that the last tasks are small.
            let mut pairs: Vec<PairWork> =
                files.missing.iter().map(|&pair| pair_work(pair, pair.positions())).collect();
            if pairs.is_empty() {
                pairs.push(pair_work(PairKey { layer: key, small: 1 }, 0));
            }
            pairs.sort_by_key(|work| std::cmp::Reverse(work.positions));
            let bytes: u64 = key.pairs().map(|pair| packed_bytes(pair.positions()) + 4096).sum();
            tables += bytes;
            most_pieces = most_pieces.max(bytes);
            work.layers += 1;
            work.critical_seconds += pairs.iter().map(|work| work.seconds).fold(0.0, f64::max);
            work.pairs.extend(pairs);
            work.read = below;
            below += layer_bytes;
        }
        work.positions = work.pairs.iter().map(|work| work.positions).sum();
        work.memory = work.pairs.iter().map(|work| work.memory).max().unwrap_or(0);
        work.seconds = total_seconds(work.pairs.iter().map(|work| work.seconds));
        work.read_by_pairs = work.pairs.iter().map(|work| work.below).sum();
        work.disk = tables + most_pieces;
        Ok(work)
    }
}
