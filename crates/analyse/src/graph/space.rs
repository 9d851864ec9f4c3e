use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use kalah_core::index::row_count;

use super::Convention;

/// The player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::First, Side::Second];

    pub(crate) fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// The positions of a subgraph with the same seeds in the first player's row and the same side to move. Bit
/// `first * columns + second` is set if the position with these ranks of the two rows was reached.
pub(super) struct Plane {
    columns: usize,
    words: Box<[AtomicU64]>,
}

impl Plane {
    fn bytes(rows: usize, columns: usize) -> u64 {
        8 * (rows * columns).div_ceil(64) as u64
    }

    fn new(rows: usize, columns: usize) -> Plane {
        Plane { columns, words: (0..(rows * columns).div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline]
    pub(crate) fn insert(&self, first: u32, second: u32) {
        let index = first as usize * self.columns + second as usize;
        // Only a plane made past the limit lacks this word.
        let Some(word) = self.words.get(index / 64) else { return };
        let bit = 1 << (index % 64);
        // Most positions are reached several times, and a read is cheaper than a write.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// Ranks from `from` to `to` of the second player's row that were reached with rank `first` of the first
    /// player's row.
    #[inline]
    pub(crate) fn reached(&self, first: u32, from: usize, to: usize) -> impl Iterator<Item = u32> + '_ {
        let start = first as usize * self.columns;
        let (low, high) = (start + from, start + to);
        let words = if low < high { low / 64..(high - 1) / 64 + 1 } else { 0..0 };
        words.flat_map(move |index| {
            let mut word = self.words[index].load(Relaxed);
            if index == low / 64 {
                word &= u64::MAX << (low % 64);
            }
            if index == (high - 1) / 64 {
                word &= u64::MAX >> (63 - (high - 1) % 64);
            }
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| index * 64 + word.trailing_zeros() as usize);
                word &= word.wrapping_sub(1);
                bit.map(|bit| (bit - start) as u32)
            })
        })
    }

    /// Number of positions reached.
    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }

    /// Number of ranks of the second player's row.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// The positions reached in all unfinished layers. A plane is allocated when its first position is reached.
pub(super) struct Space {
    pits: usize,
    total: usize,
    convention: Convention,
    /// By seeds in play; within a layer by first player's store, seeds in the first player's row, and side.
    layers: Vec<Vec<OnceLock<Plane>>>,
    limit: u64,
    used: AtomicU64,
    exhausted: AtomicBool,
}

impl Space {
    /// An empty space for `total` seeds on a board with `pits` pits a side, limited to `limit` bytes.
    pub(crate) fn new(pits: usize, total: usize, convention: Convention, limit: u64) -> Space {
        let planes = |seeds: usize| (total - seeds + 1) * (seeds + 1) * 2;
        let layers = (0..=total).map(|seeds| (0..planes(seeds)).map(|_| OnceLock::new()).collect()).collect();
        Space { pits, total, convention, layers, limit, used: AtomicU64::new(0), exhausted: AtomicBool::new(false) }
    }

    /// Bytes of all planes of a layer.
    pub(crate) fn layer_bytes(pits: usize, total: usize, seeds: usize) -> u64 {
        let bytes = |first: usize| Plane::bytes(row_count(pits, first), row_count(pits, seeds - first));
        (0..=seeds).map(bytes).sum::<u64>() * 2 * (total - seeds + 1) as u64
    }

    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// The seeds in the second player's store.
    pub(crate) fn second_store(&self, store: usize, seeds: (usize, usize)) -> usize {
        self.total - store - seeds.0 - seeds.1
    }

    /// Returns true if the game is over with these stores and seeds in the rows.
    pub(crate) fn is_final(&self, store: usize, seeds: (usize, usize)) -> bool {
        seeds.0 == 0 || seeds.1 == 0 || self.convention.is_decided(self.total, (store, self.second_store(store, seeds)))
    }

    fn cell(&self, store: usize, seeds: (usize, usize), side: Side) -> &OnceLock<Plane> {
        let all = seeds.0 + seeds.1;
        &self.layers[all][(store * (all + 1) + seeds.0) * 2 + side as usize]
    }

    /// The plane of these positions, if any of them was reached.
    #[inline]
    pub(crate) fn plane(&self, store: usize, seeds: (usize, usize), side: Side) -> Option<&Plane> {
        self.cell(store, seeds, side).get()
    }

    /// The plane for these positions, allocated if necessary.
    ///
    /// Past the limit it is an empty plane that ignores positions.
    #[inline]
    pub(crate) fn target(&self, store: usize, seeds: (usize, usize), side: Side) -> &Plane {
        let merged = self.convention == Convention::Plain && self.is_final(store, seeds);
        let side = if merged { Side::First } else { side };
        self.cell(store, seeds, side).get_or_init(|| self.make(seeds))
    }

    /// Allocates a plane, if the limit permits.
    fn make(&self, seeds: (usize, usize)) -> Plane {
        let (rows, columns) = (row_count(self.pits, seeds.0), row_count(self.pits, seeds.1));
        let bytes = Plane::bytes(rows, columns);
        if self.used.fetch_add(bytes, Relaxed) + bytes > self.limit {
            self.exhausted.store(true, Relaxed);
            return Plane { columns: 0, words: Box::default() };
        }
        Plane::new(rows, columns)
    }

    /// Bytes of the planes.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Returns true if positions were lost because the limit was reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Relaxed)
    }

    /// Frees a layer.
    pub(crate) fn free(&mut self, seeds: usize) {
        let planes = std::mem::take(&mut self.layers[seeds]);
        let bytes = planes.iter().filter_map(OnceLock::get).map(|plane| 8 * plane.words.len() as u64);
        *self.used.get_mut() -= bytes.sum::<u64>();
    }
}
