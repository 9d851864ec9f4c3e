use std::ops::Range;
use std::sync::{Arc, OnceLock};

use kalah_core::index::TableRow;
use kalah_solve::solve::Board;
use kalah_tables::rows::{ForwardMove, Kind, SpillMap};
use rayon::prelude::*;

use super::space::{GraphRows, Plane, RowSeeds, Side, Space};

/// Size of a plane, in bits, from which its work is shared among threads.
const PARALLEL_FROM: usize = 1 << 16;

/// Ranks of the second player's row in one tile: a cache line of a plane.
const TILE: usize = 512;

/// The positions of a subgraph with the same seeds in both rows, for either side to move, and the targets of
/// their moves.
pub(super) struct Block<'a> {
    rows: &'a GraphRows,
    space: &'a Space,
    store: usize,
    seeds: RowSeeds,
    /// For each player's row: the map of ranks after seeds are sown into it, by the number of those seeds.
    spills: [Vec<OnceLock<Arc<SpillMap>>>; 2],
    /// For each player's row: the ranks after a capture, by the seeds sown into it before and by the captured
    /// pit.
    remainders: [Vec<OnceLock<Arc<Vec<u32>>>>; 2],
}

impl<'a> Block<'a> {
    pub(crate) fn new(rows: &'a GraphRows, space: &'a Space, store: usize, seeds: RowSeeds) -> Block<'a> {
        fn unset<T>(count: usize) -> [Vec<OnceLock<T>>; 2] {
            [(); 2].map(|()| (0..count).map(|_| OnceLock::new()).collect())
        }
        let most = seeds.first.max(seeds.second) + 1;
        let pits = rows.maps.rows().pits();
        Block { rows, space, store, seeds, spills: unset(most), remainders: unset(most * pits) }
    }

    /// Inserts the children of all positions of the block.
    pub(crate) fn expand(&self) {
        if Side::BOTH.iter().all(|&side| self.plane(side).is_none()) {
            return;
        }
        self.expand_quiet();
        self.expand_first();
        self.expand_second();
    }

    fn plane(&self, side: Side) -> Option<&Plane> {
        self.space.plane(self.store, self.seeds, side)
    }

    /// Inserts the positions after quiet moves, which are in this block again.
    ///
    /// Quiet moves shift seeds of the mover's row toward the store and lower its potential. So the ranks of the
    /// first player's row are processed from the last level down. The second player's moves leave that row
    /// unchanged and come first; the first player's moves lead to lower levels.
    fn expand_quiet(&self) {
        let levels = self.rows.maps.rows().level_bounds(self.seeds.first);
        for level in levels.windows(2).rev().map(|bounds| bounds[0]..bounds[1]) {
            for side in [Side::Second, Side::First] {
                let Some(plane) = self.plane(side) else { continue };
                if level.len() * plane.columns() < PARALLEL_FROM {
                    level.clone().for_each(|first| self.quiet_row(side, plane, first));
                } else {
                    level.clone().into_par_iter().for_each(|first| self.quiet_row(side, plane, first));
                }
            }
        }
    }

    /// Inserts the positions after the quiet moves of one row of a plane.
    fn quiet_row(&self, side: Side, plane: &Plane, first: u32) {
        let (firsts, seconds) = (&self.rows.all[self.seeds.first], &self.rows.all[self.seeds.second]);
        let is_empty = |row: &TableRow, pit: Option<u8>| pit.is_none_or(|pit| row[usize::from(pit)] == 0);
        let after = OnceLock::new();
        let after = || *after.get_or_init(|| self.space.target(self.store, self.seeds, side.other()));
        match side {
            Side::First => {
                for quiet in self.rows.moves[self.seeds.first].quiet(first) {
                    for second in plane.reached(first, 0, plane.columns()) {
                        if is_empty(&seconds[second as usize], quiet.only_if_empty) {
                            after().insert(quiet.own, second);
                        }
                    }
                }
            }
            Side::Second => {
                let moves = &self.rows.moves[self.seeds.second];
                for second in plane.reached(first, 0, plane.columns()) {
                    for quiet in moves.quiet(second) {
                        if is_empty(&firsts[first as usize], quiet.only_if_empty) {
                            after().insert(first, quiet.own);
                        }
                    }
                }
            }
        }
    }

    /// Inserts the positions after the first player's other moves: one row of the first player with all rows of
    /// the second.
    fn expand_first(&self) {
        let Some(plane) = self.plane(Side::First) else { return };
        let rows = 0..self.rows.maps.rows().rows(self.seeds.first) as u32;
        rows.into_par_iter().with_min_len(PARALLEL_FROM.div_ceil(plane.columns().max(1))).for_each_init(
            Vec::new,
            |others, first| {
                others.clear();
                others.extend(plane.reached(first, 0, plane.columns()));
                self.forward(Side::First, first, others);
            },
        );
    }

    /// Inserts the positions after the second player's other moves, likewise; the plane is transposed tile by
    /// tile.
    fn expand_second(&self) {
        let Some(plane) = self.plane(Side::Second) else { return };
        let rows = self.rows.maps.rows().rows(self.seeds.first);
        let tiles: Vec<Range<usize>> =
            (0..plane.columns()).step_by(TILE).map(|at| at..plane.columns().min(at + TILE)).collect();
        let new = || vec![Vec::new(); TILE];
        tiles.into_par_iter().with_min_len(PARALLEL_FROM.div_ceil(TILE * rows)).for_each_init(new, |others, tile| {
            others.iter_mut().for_each(Vec::clear);
            for first in 0..rows as u32 {
                for second in plane.reached(first, tile.start, tile.end) {
                    others[second as usize - tile.start].push(first);
                }
            }
            for (second, others) in tile.zip(others) {
                self.forward(Side::Second, second as u32, others);
            }
        });
    }

    /// Inserts the positions after moves that store seeds: one row of the mover against all `others`.
    fn forward(&self, side: Side, own: u32, others: &[u32]) {
        if others.is_empty() {
            return;
        }
        let (own_seeds, other_seeds) = self.of_mover(side);
        for forward in self.rows.moves[own_seeds].forward(own) {
            let (left, own_after) = (usize::from(forward.left), forward.own);
            match forward.kind {
                Kind::Again | Kind::Pass => {
                    let again = matches!(forward.kind, Kind::Again);
                    let target = self.target(side, left, own_after, other_seeds + usize::from(forward.spilled), again);
                    match self.spill(side, forward) {
                        None => others.iter().for_each(|&other| target.insert(other)),
                        Some(ranks) => others.iter().for_each(|&other| target.insert(ranks[other as usize])),
                    }
                }
                Kind::Capture { pit, even_empty } => self.capture(side, forward, pit, even_empty, others),
                Kind::Relay { pit } => others.iter().for_each(|&other| self.relay(side, own, other, pit)),
            }
        }
    }

    /// Seeds in the mover's row and in the other row.
    fn of_mover(&self, side: Side) -> (usize, usize) {
        match side {
            Side::First => (self.seeds.first, self.seeds.second),
            Side::Second => (self.seeds.second, self.seeds.first),
        }
    }

    /// Ranks of the other row after the seeds of a move were sown into it; `None` if no seeds were.
    fn spill(&self, side: Side, forward: &ForwardMove) -> Option<&[u32]> {
        let spilled = usize::from(forward.spilled);
        let maps = &self.spills[side.other() as usize];
        let make = || self.rows.maps.spill(self.of_mover(side).1, spilled);
        (spilled > 0).then(|| maps[spilled].get_or_init(make).ranks())
    }

    /// Inserts the positions after a capture of `pit` of the other row.
    fn capture(&self, side: Side, forward: &ForwardMove, pit: u8, even_empty: bool, others: &[u32]) {
        let (left, own_after) = (usize::from(forward.left), forward.own);
        let (spilled, pit) = (usize::from(forward.spilled), usize::from(pit));
        let met_seeds = self.of_mover(side).1 + spilled;
        let remainders = self.remainders[side.other() as usize][spilled * self.rows.maps.rows().pits() + pit]
            .get_or_init(|| self.rows.maps.remainders(met_seeds, pit));
        let ranks = self.spill(side, forward);
        let empty = even_empty.then(|| self.target(side, left, own_after, met_seeds, false));
        for &other in others {
            let met = ranks.map_or(other, |ranks| ranks[other as usize]) as usize;
            match (usize::from(self.rows.all[met_seeds][met][pit]), &empty) {
                (0, None) => {}
                (0, Some(target)) => target.insert(met as u32),
                (captured, _) => {
                    self.target(side, left, own_after, met_seeds - captured, false).insert(remainders[met]);
                }
            }
        }
    }

    /// Inserts the position after a sowing that may relay with seeds of the other row. It is played on the
    /// board.
    fn relay(&self, side: Side, own: u32, other: u32, pit: u8) {
        let packed = |seeds: usize, rank: u32| {
            let mut bytes = [0; 8];
            let row = &self.rows.all[seeds][rank as usize];
            bytes[..row.len()].copy_from_slice(row);
            u64::from_le_bytes(bytes)
        };
        let ranked = |row: u64| {
            let mut bytes = TableRow::default();
            bytes.copy_from_slice(&row.to_le_bytes()[..size_of::<TableRow>()]);
            let seeds = bytes.iter().map(|&seeds| usize::from(seeds)).sum::<usize>();
            (seeds, self.rows.maps.rows().rank(&bytes))
        };
        let (own_seeds, other_seeds) = self.of_mover(side);
        let board = Board { mover: packed(own_seeds, own), other: packed(other_seeds, other) };
        let sown = self.rows.sower.sow(board, usize::from(pit));
        let ((left, own_after), (met_seeds, met)) = (ranked(sown.board.mover), ranked(sown.board.other));
        self.target(side, left, own_after, met_seeds, sown.again).insert(met);
    }

    /// Target of a move: the seeds and the rank of the mover's row after it, the seeds of the other row, and true if
    /// the same side moves again.
    fn target(&self, side: Side, own_seeds: usize, own: u32, other_seeds: usize, again: bool) -> Target<'_> {
        let stored = self.seeds.total() - own_seeds - other_seeds;
        let (store, seeds) = match side {
            Side::First => (self.store + stored, RowSeeds { first: own_seeds, second: other_seeds }),
            Side::Second => (self.store, RowSeeds { first: other_seeds, second: own_seeds }),
        };
        let plane = self.space.target(store, seeds, if again { side } else { side.other() });
        Target { plane, side, own }
    }
}

/// The positions of a plane with one row of the player who moved.
struct Target<'a> {
    plane: &'a Plane,
    side: Side,
    own: u32,
}

impl Target<'_> {
    /// Inserts the position with this rank of the other row.
    #[inline]
    fn insert(&self, other: u32) {
        match self.side {
            Side::First => self.plane.insert(self.own, other),
            Side::Second => self.plane.insert(other, self.own),
        }
    }
}
