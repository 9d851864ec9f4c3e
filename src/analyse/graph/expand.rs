use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::space::{Place, Side, Space};
use crate::build::cpu::{ForwardMove, Kind, Moves};
use crate::game::Rules;
use crate::index::{CaptureMap, RowIndex, RowMaps, SpillMap, TableRow};
use crate::solve::{Board, Sower};

/// Bits of a plane from which on threads share it.
const PARALLEL_FROM: usize = 1 << 16;

/// What is known of the rows of a board, whatever the layer.
pub(super) struct Known {
    pub maps: RowMaps,
    /// The moves of the rows, by their seeds.
    moves: Vec<Moves>,
    /// How many moves each row has: its pits that hold seeds.
    pub choices: Vec<Vec<u8>>,
    all: Vec<Arc<Vec<TableRow>>>,
    sower: Sower,
}

impl Known {
    /// What is known of the rows that `rows` ranks.
    pub fn new(rules: Rules, rows: Arc<RowIndex>, total: usize) -> Known {
        let pits = rows.pits();
        let maps = RowMaps::new(rows);
        let all: Vec<_> = (0..=total).map(|seeds| maps.all(seeds)).collect();
        let choices = |rows: &Arc<Vec<TableRow>>| {
            rows.iter().map(|row| row.iter().filter(|&&seeds| seeds > 0).count() as u8).collect()
        };
        Known {
            moves: (0..=total).map(|seeds| Moves::new(rules, &maps, seeds)).collect(),
            choices: all.iter().map(choices).collect(),
            all,
            maps,
            sower: Sower::new(rules, pits, total),
        }
    }

    /// Bytes that the maps of the rows of a board take at most, beside the positions.
    pub fn bytes(pits: usize, total: usize) -> u64 {
        let rows = |seeds: usize| crate::index::row_count(pits, seeds) as u64;
        // A spill maps every row to 4 bytes, and marks those it leads to; so does a capture of each pit. Moves take some
        // 8 bytes each in lists.
        let of_row = |seeds: usize| {
            let spills: u64 = (0..=total - seeds).map(|spilled| 4 * rows(seeds) + rows(seeds + spilled) / 8).sum();
            spills + rows(seeds) * (4 * pits as u64 + 8 * pits as u64 + 12)
        };
        (0..=total).map(of_row).sum()
    }
}

/// The other row after a move.
struct Met {
    seeds: usize,
    rank: u32,
}

/// The positions of a subgraph with the same seeds in both rows, whoever is to move, and where their moves lead.
pub(super) struct Block<'a> {
    known: &'a Known,
    space: &'a Space,
    store: usize,
    /// Seeds in the rows, the first player's first.
    seeds: (usize, usize),
    /// For each player's row, where seeds sown into it lead, by their number.
    spills: [Vec<OnceLock<Arc<SpillMap>>>; 2],
    /// For each player's row, where captures from it lead: by the seeds sown into it before, and the pit.
    captures: [Vec<OnceLock<Arc<CaptureMap>>>; 2],
}

impl<'a> Block<'a> {
    pub fn new(known: &'a Known, space: &'a Space, store: usize, seeds: (usize, usize)) -> Block<'a> {
        fn unset<T>(count: usize) -> [Vec<OnceLock<T>>; 2] {
            [(); 2].map(|()| (0..count).map(|_| OnceLock::new()).collect())
        }
        let most = seeds.0.max(seeds.1) + 1;
        let pits = known.maps.rows().pits();
        Block { known, space, store, seeds, spills: unset(most), captures: unset(most * pits) }
    }

    /// Takes in the children of all positions of the block.
    ///
    /// Moves that stay in it take seeds of the mover's row toward the store and lower its potential. So the ranks of the
    /// first player's row are taken from the last level down: the second player's moves leave that row as it is and come
    /// first, the first player's lead to lower levels.
    pub fn expand(&self) {
        if Side::BOTH.iter().all(|&side| self.space.plane(self.store, self.seeds, side).is_none()) {
            return;
        }
        let levels = self.known.maps.rows().level_bounds(self.seeds.0);
        for level in levels.windows(2).rev().map(|bounds| bounds[0]..bounds[1]) {
            self.expand_level(Side::Second, level.clone());
            self.expand_level(Side::First, level);
        }
    }

    fn expand_level(&self, side: Side, level: Range<u32>) {
        let Some(plane) = self.space.plane(self.store, self.seeds, side) else { return };
        let row = |first: u32| {
            for second in plane.reached(first, 0, plane.columns()) {
                self.play(side, first, second);
            }
        };
        if level.len() * plane.columns() < PARALLEL_FROM {
            level.for_each(row);
        } else {
            level.into_par_iter().for_each(row);
        }
    }

    /// Takes in the children of one position.
    #[inline]
    fn play(&self, side: Side, first: u32, second: u32) {
        let (own_seeds, own, other_seeds, other) = match side {
            Side::First => (self.seeds.0, first, self.seeds.1, second),
            Side::Second => (self.seeds.1, second, self.seeds.0, first),
        };
        let moves = &self.known.moves[own_seeds];
        for quiet in moves.quiet(own) {
            let pit = quiet.only_if_empty;
            if pit.is_none_or(|pit| self.known.all[other_seeds][other as usize][usize::from(pit)] == 0) {
                self.insert(side, (own_seeds, quiet.own), Met { seeds: other_seeds, rank: other }, false);
            }
        }
        for forward in moves.forward(own) {
            let own_after = (usize::from(forward.left), forward.own);
            match forward.kind {
                Kind::Again => self.insert(side, own_after, self.spilled(side, other_seeds, other, forward), true),
                Kind::Pass => self.insert(side, own_after, self.spilled(side, other_seeds, other, forward), false),
                Kind::Capture { pit, even_empty } => {
                    let met = self.spilled(side, other_seeds, other, forward);
                    let left = self.captured(side, &met, forward.spilled, pit);
                    if even_empty || left.seeds < met.seeds {
                        self.insert(side, own_after, left, false);
                    }
                }
                Kind::Relay { pit } => self.relay(side, (own_seeds, own), (other_seeds, other), pit),
            }
        }
    }

    /// The other row after the seeds of a move were sown into it.
    #[inline]
    fn spilled(&self, side: Side, seeds: usize, rank: u32, forward: &ForwardMove) -> Met {
        let spilled = usize::from(forward.spilled);
        if spilled == 0 {
            return Met { seeds, rank };
        }
        let map = self.spills[side.other() as usize][spilled].get_or_init(|| self.known.maps.spill(seeds, spilled));
        Met { seeds: seeds + spilled, rank: map.ranks()[rank as usize] }
    }

    /// The other row after a pit of it was captured.
    #[inline]
    fn captured(&self, side: Side, met: &Met, spilled: u8, pit: u8) -> Met {
        let captured = usize::from(self.known.all[met.seeds][met.rank as usize][usize::from(pit)]);
        if captured == 0 {
            return Met { ..*met };
        }
        let place = usize::from(spilled) * self.known.maps.rows().pits() + usize::from(pit);
        let maps = &self.captures[side.other() as usize];
        let map = maps[place].get_or_init(|| self.known.maps.capture(met.seeds, usize::from(pit)));
        let rank = map.places()[met.rank as usize] - map.segments()[captured].start;
        Met { seeds: met.seeds - captured, rank }
    }

    /// A sowing that may go on with seeds of the other row: played on the board.
    fn relay(&self, side: Side, own: (usize, u32), other: (usize, u32), pit: u8) {
        let packed = |(seeds, rank): (usize, u32)| {
            let mut bytes = [0; 8];
            let row = &self.known.all[seeds][rank as usize];
            bytes[..row.len()].copy_from_slice(row);
            u64::from_le_bytes(bytes)
        };
        let ranked = |row: u64| {
            let bytes = row.to_le_bytes();
            let row = TableRow::try_from(&bytes[..std::mem::size_of::<TableRow>()]).expect("rows have this size");
            let seeds = row.iter().map(|&seeds| usize::from(seeds)).sum::<usize>();
            (seeds, self.known.maps.rows().rank(&row))
        };
        let board = Board { mover: packed(own), other: packed(other) };
        let sown = self.known.sower.sow(board, usize::from(pit));
        let (seeds, rank) = ranked(sown.board.other);
        self.insert(side, ranked(sown.board.mover), Met { seeds, rank }, sown.again);
    }

    /// Takes in a child: the mover's row (its seeds and rank) and the other one, and whether the same side moves again.
    #[inline]
    fn insert(&self, side: Side, own: (usize, u32), other: Met, again: bool) {
        let stored = self.seeds.0 + self.seeds.1 - own.0 - other.seeds;
        let (store, seeds, ranks) = match side {
            Side::First => (self.store + stored, (own.0, other.seeds), (own.1, other.rank)),
            Side::Second => (self.store, (other.seeds, own.0), (other.rank, own.1)),
        };
        self.space.insert(Place { store, seeds, ranks, side: if again { side } else { side.other() } });
    }
}
