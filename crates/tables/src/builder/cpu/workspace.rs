use std::sync::Arc;

use kalah_base::system::OutOfMemory;
use kalah_core::game::Rules;
use kalah_core::index::{RowIndex, row_count};
use kalah_core::isa::Isa;
use kalah_core::memory::HugePages;

use crate::rows::{BoardRows, Relays};

/// Rows of one level that are computed together, so that their scores against the other side stay
/// in the caches.
const BLOCK_ROWS: usize = 256;

/// Positions that justify the four parallel steps of a block. If the other side has few rows, a
/// block has more rows.
const BLOCK_POSITIONS: usize = 1 << 17;

/// Number of rows of a level that are computed together, against `small_rows` rows of the other
/// side.
pub(super) fn block_rows(small_rows: usize) -> usize {
    BLOCK_ROWS.max(BLOCK_POSITIONS / small_rows.max(1))
}

/// Memory that is reused for every pair, in huge pages where the system supports them.
#[derive(Debug, Default)]
pub(super) struct Arena(Option<HugePages>);

impl Arena {
    /// Allocates memory for slices of at most `len` bytes.
    fn reserve(&mut self, len: usize) -> Result<&mut HugePages, OutOfMemory> {
        if self.0.as_ref().is_none_or(|map| map.bytes() < len) {
            self.0 = None;
            let map = HugePages::reserve(len.max(1)).map_err(|source| {
                let what = "the scores of a pair of frames";
                OutOfMemory { what, bytes: len as u64, source }
            })?;
            self.0 = Some(map);
        }
        Ok(self.0.as_mut().expect("mapped above"))
    }

    pub(super) fn slice(&mut self, len: usize) -> Result<&mut [u8], OutOfMemory> {
        let map = self.reserve(len)?;
        map.clear_to(len);
        Ok(&mut map[..len])
    }
}

/// The memory of a builder, reused for every pair of frames.
#[derive(Debug, Default)]
pub struct Workspace {
    small: Arena,
    large: Arena,
    again: Arena,
    /// One for each pair computed in parallel.
    blocks: Vec<Block>,
}

/// The part of a workspace that belongs to one pair of frames.
pub(super) struct PairSpace<'a> {
    /// One side to move, then the other side to move: a byte for each position.
    pub by_small: &'a mut [u8],
    pub by_large: &'a mut [u8],
    /// A byte for each position of either frame with one seed fewer in the mover's row.
    pub again: &'a mut [u8],
    pub block: &'a mut Block,
}

impl Workspace {
    /// Allocates the memory for all pairs of a layer at once.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn reserve(&mut self, pits: usize, seeds: usize) -> Result<(), OutOfMemory> {
        let pairs = || (1..=seeds / 2).map(|small| pair_bytes(pits, small, seeds - small));
        let largest = pairs().map(|(scores, _)| scores).max().unwrap_or(0);
        self.small.reserve(largest)?;
        self.large.reserve(largest)?;
        self.again.reserve(pairs().map(|(_, again)| again).max().unwrap_or(0))?;
        Ok(())
    }

    /// Divides the memory among `pairs` of frames, given by the seeds of the small and the large
    /// side.
    pub(super) fn divide(&mut self, pits: usize, pairs: &[(usize, usize)]) -> Result<Vec<PairSpace<'_>>, OutOfMemory> {
        let bytes = |&(small, large): &(usize, usize)| pair_bytes(pits, small, large);
        let whole: usize = pairs.iter().map(|pair| bytes(pair).0).sum();
        let mut by_small = self.small.slice(whole)?;
        let mut by_large = self.large.slice(whole)?;
        let mut again = self.again.slice(pairs.iter().map(|pair| bytes(pair).1).sum())?;
        self.blocks.resize_with(pairs.len(), Block::default);
        let spaces = pairs.iter().zip(&mut self.blocks).map(|(pair, block)| {
            let (scores, again_scores) = bytes(pair);
            PairSpace {
                by_small: part(&mut by_small, scores),
                by_large: part(&mut by_large, scores),
                again: part(&mut again, again_scores),
                block,
            }
        });
        Ok(spaces.collect())
    }

    /// Maximum bytes that a pair with `small` and `large` seeds needs, maps and tables excluded.
    pub(crate) fn bytes(pits: usize, small: usize, large: usize) -> u64 {
        let (pair, again) = pair_bytes(pits, small, large);
        let small_rows = row_count(pits, small);
        // Three buffers of a block.
        (2 * pair + again + 3 * block_rows(small_rows) * small_rows) as u64
    }
}

/// Number of positions of a pair of frames, and of the larger frame with one seed fewer in the
/// mover's row, which is transposed for again-moves.
fn pair_bytes(pits: usize, small: usize, large: usize) -> (usize, usize) {
    let rows = |seeds| row_count(pits, seeds);
    (rows(small) * rows(large), (rows(small - 1) * rows(large)).max(rows(small) * rows(large - 1)))
}

/// Splits `bytes` bytes off the start of `memory`, which must have them.
fn part<'a>(memory: &mut &'a mut [u8], bytes: usize) -> &'a mut [u8] {
    memory.split_off_mut(..bytes).expect("memory for all pairs")
}

/// Scores of a block of rows against all rows of the other side.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The block's side to move: for each row of the block, a run over the other side.
    to_move: Vec<u8>,
    /// The same transposed: for each row of the other side, a run over the block.
    transposed: Vec<u8>,
    /// The other side to move: for each of its rows, a run over the block.
    waiting: Vec<u8>,
}

impl Block {
    /// Returns the three buffers (to move, transposed, waiting) with this length.
    pub(super) fn sized(&mut self, len: usize) -> [&mut [u8]; 3] {
        [&mut self.to_move, &mut self.transposed, &mut self.waiting].map(|buffer| {
            if buffer.len() < len {
                buffer.resize(len, 0);
            }
            &mut buffer[..len]
        })
    }
}

/// Data for evaluating moves in any layer: an instruction set, and the moves and maps of rows.
#[derive(Debug)]
pub struct Evaluator {
    pub(super) isa: Isa,
    pub(super) rows: BoardRows,
    /// Present for rules with relays.
    pub(super) relays: Option<Relays>,
}

impl Evaluator {
    /// Makes an evaluator for the rows that `rows` ranks.
    pub fn new(isa: Isa, rules: Rules, rows: Arc<RowIndex>) -> Evaluator {
        let relays = rules.relays().then(|| Relays::new(rules, &rows));
        Evaluator { isa, rows: BoardRows::new(rules, rows), relays }
    }
}
