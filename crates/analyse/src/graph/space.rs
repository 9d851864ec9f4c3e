use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use kalah_core::game::{Rules, StartPosition};
use kalah_core::index::{RowIndex, TableRow, row_count};
use kalah_solve::solve::Sower;
use kalah_tables::rows::{Moves, RowMaps};

/// Convention for counting a game graph: which positions differ, and where games end.
///
/// In both conventions, a position is both rows, both stores, and the side to move. A position is final if a
/// row is empty; the remaining seeds stay in their row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// Irving, Donkers, Uiterwijk 2000, Tables 3 to 6. A game also ends as soon as one store holds more than
    /// half of all seeds. Final positions differ by the side to move; after a last seed in the store that is
    /// still the mover.
    #[default]
    Irving,
    /// Kvitberg 2026, section 4.1. A game ends only on an empty row. Final positions do not differ by the side
    /// to move.
    Plain,
}

impl Convention {
    /// Both conventions.
    pub const ALL: [Convention; 2] = [Convention::Irving, Convention::Plain];

    /// The name used in flags and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Convention::Irving => "irving",
            Convention::Plain => "plain",
        }
    }

    /// Returns true if a game of `total` seeds has ended with these stores, whatever the rows.
    pub(super) fn is_decided(self, total: usize, stores: [usize; 2]) -> bool {
        self == Convention::Irving && stores.into_iter().any(|store| 2 * store > total)
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Convention {
    type Err = String;

    fn from_str(text: &str) -> Result<Convention, String> {
        let found = Convention::ALL.into_iter().find(|convention| convention.name() == text);
        found.ok_or_else(|| format!("unknown convention '{text}': use irving or plain"))
    }
}

/// Number of ways to distribute the seeds of a start over the pits and stores of its board, times two for the
/// side to move: 2 C(2mn + 2m + 1, 2m + 1). The state-space complexity of Irving, Donkers, Uiterwijk 2000,
/// Table 2.
pub fn state_space(start: StartPosition) -> u128 {
    let places = 2 * start.pits as u128 + 1;
    let seeds = 2 * start.pits as u128 * u128::from(start.seeds);
    2 * (1..=places).fold(1u128, |product, i| product * (seeds + i) / i)
}

/// Rows of a board with up to some number of seeds. All layers share their maps and moves.
pub(super) struct GraphRows {
    pub maps: RowMaps,
    /// The moves of the rows, by their seeds.
    pub moves: Vec<Moves>,
    /// Number of moves of each row: its pits that hold seeds.
    pub choices: Vec<Vec<u8>>,
    /// The rows, by their seeds and ranks.
    pub all: Vec<Arc<Vec<TableRow>>>,
    pub sower: Sower<u64>,
}

impl GraphRows {
    /// Makes the maps and moves of the rows that `rows` ranks.
    pub(crate) fn new(rules: Rules, rows: Arc<RowIndex>, total: usize) -> GraphRows {
        let pits = rows.pits();
        let maps = RowMaps::new(rows);
        let all: Vec<_> = (0..=total).map(|seeds| maps.all(seeds)).collect();
        let choices = |rows: &Arc<Vec<TableRow>>| {
            rows.iter().map(|row| row.iter().filter(|&&seeds| seeds > 0).count() as u8).collect()
        };
        GraphRows {
            moves: (0..=total).map(|seeds| Moves::new(rules, &maps, seeds)).collect(),
            choices: all.iter().map(choices).collect(),
            all,
            maps,
            sower: Sower::new(rules, pits, total).expect("the board of tables"),
        }
    }

    /// Maximum bytes of the maps of a board's rows; the positions are extra.
    pub(crate) fn bytes(pits: usize, total: usize) -> u64 {
        let rows = |seeds: usize| row_count(pits, seeds) as u64;
        // A spill maps every row to 4 bytes and marks the targets; so does a capture of each pit. A move takes
        // about 8 bytes in lists.
        let of_row = |seeds: usize| {
            let spills: u64 = (0..=total - seeds).map(|spilled| 4 * rows(seeds) + rows(seeds + spilled) / 8).sum();
            spills + rows(seeds) * (4 * pits as u64 + 8 * pits as u64 + 12)
        };
        (0..=total).map(of_row).sum()
    }
}

/// Seeds in the rows of both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowSeeds {
    pub first: usize,
    pub second: usize,
}

impl RowSeeds {
    pub(crate) fn total(self) -> usize {
        self.first + self.second
    }
}

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
    pub(crate) fn second_store(&self, store: usize, seeds: RowSeeds) -> usize {
        self.total - store - seeds.total()
    }

    /// Returns true if the game is over with these stores and seeds in the rows.
    pub(crate) fn is_final(&self, store: usize, seeds: RowSeeds) -> bool {
        seeds.first == 0
            || seeds.second == 0
            || self.convention.is_decided(self.total, [store, self.second_store(store, seeds)])
    }

    fn cell(&self, store: usize, seeds: RowSeeds, side: Side) -> &OnceLock<Plane> {
        let all = seeds.total();
        &self.layers[all][(store * (all + 1) + seeds.first) * 2 + side as usize]
    }

    /// The plane of these positions, if any of them was reached.
    #[inline]
    pub(crate) fn plane(&self, store: usize, seeds: RowSeeds, side: Side) -> Option<&Plane> {
        self.cell(store, seeds, side).get()
    }

    /// The plane for these positions, allocated if necessary.
    ///
    /// Past the limit it is an empty plane that ignores positions.
    #[inline]
    pub(crate) fn target(&self, store: usize, seeds: RowSeeds, side: Side) -> &Plane {
        let merged = self.convention == Convention::Plain && self.is_final(store, seeds);
        let side = if merged { Side::First } else { side };
        self.cell(store, seeds, side).get_or_init(|| self.make(seeds))
    }

    /// Allocates a plane, if the limit permits.
    fn make(&self, seeds: RowSeeds) -> Plane {
        let (rows, columns) = (row_count(self.pits, seeds.first), row_count(self.pits, seeds.second));
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
