//! Predicts bytes of files and memory.

use kalah_core::index::{Frame, row_count};
use kalah_core::table::{PairKey, TableKey};

use super::backend::Backend;
use super::cpu::Workspace;
use crate::table::PackedFrame;

/// Bits per position of a table, rounded up.
const BITS_PER_POSITION: f64 = 4.2;

/// Bytes of maps and moves for each row of a board with 6 pits or fewer (measured: some 130 at 6
/// pits and 18 seeds).
const ROW_BYTES: u64 = 160;

/// The same with more pits, which have more moves and maps (measured: some 220 at 7 pits and 18
/// seeds, and at 8 and 16).
const WIDE_ROW_BYTES: u64 = 240;

/// Bytes of the program without tables: stacks, buffers of threads, the allocator.
const PROGRAM_BYTES: u64 = 4 << 20;

/// Bytes of `positions` positions in a file.
pub(super) fn packed_bytes(positions: u64) -> u64 {
    (positions as f64 * BITS_PER_POSITION / 8.0) as u64
}

/// Bytes of memory to compute a pair of frames: the pair itself, packed frames being written, the
/// moves and maps of rows, and the program.
fn pair_memory(pair: PairKey, backend: &Backend) -> u64 {
    let (pits, small, large) = (pair.layer.pits, pair.small, pair.large());
    let frame = Frame { pits, mover: small, other: large };
    let packed = PackedFrame::most_bytes(frame).max(PackedFrame::most_bytes(frame.mirrored()));
    let working = match backend {
        // One frame is written while the next one is packed.
        Backend::Cpu(_) => Workspace::bytes(pits, small, large) + 2 * packed,
        // Two frames are copied back, one waits, one is written.
        Backend::Gpu(_) => 4 * packed,
    };
    let rows = (1..pair.layer.seeds).map(|seeds| row_count(pits, seeds) as u64).sum::<u64>();
    working + rows * if pits > 6 { WIDE_ROW_BYTES } else { ROW_BYTES } + PROGRAM_BYTES
}

/// Bytes of memory to compute the most demanding pair of a layer.
pub(super) fn working_memory(key: TableKey, backend: &Backend) -> u64 {
    key.pairs().map(|pair| pair_memory(pair, backend)).max().unwrap_or(0)
}
