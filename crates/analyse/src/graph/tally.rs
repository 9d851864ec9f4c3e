use std::ops::Range;

use kalah_core::isa::Isa;
use kalah_core::table::{FrameScores, RUN_MARGIN, Table, TableError};
use kalah_tables::table::frame_in_parallel;
use rayon::prelude::*;
use serde::Serialize;

use super::space::{GraphRows, Plane, RowSeeds, Side, Space};

/// Positions by outcome for the first player. In JSON they are numbers in an array: won, lost, drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "[u64; 3]")]
#[non_exhaustive]
pub struct Outcomes {
    /// Positions won.
    pub won: u64,
    /// Positions lost.
    pub lost: u64,
    /// Positions drawn.
    pub drawn: u64,
}

impl Outcomes {
    /// All positions.
    pub fn positions(self) -> u64 {
        self.won + self.lost + self.drawn
    }

    pub(super) fn add(&mut self, more: Outcomes) {
        self.won += more.won;
        self.lost += more.lost;
        self.drawn += more.drawn;
    }

    /// Adds positions by the sign of their value for the first player.
    fn count(&mut self, value: i64, positions: u64) {
        match value.signum() {
            1 => self.won += positions,
            -1 => self.lost += positions,
            _ => self.drawn += positions,
        }
    }
}

impl From<Outcomes> for [u64; 3] {
    fn from(outcomes: Outcomes) -> [u64; 3] {
        [outcomes.won, outcomes.lost, outcomes.drawn]
    }
}

/// Distribution of the number of moves of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branching {
    /// Positions in which the game goes on, by number of moves.
    pub moves: [u64; Branching::MOST + 1],
    /// Positions in which the game is over.
    pub finals: u64,
}

impl Branching {
    /// The maximum number of moves of a position.
    pub(crate) const MOST: usize = kalah_core::index::MAX_TABLE_PITS;

    /// Positions counted.
    pub fn positions(&self) -> u64 {
        self.finals + self.moves.iter().sum::<u64>()
    }

    /// Mean and standard deviation of the number of moves, over unfinished positions, or over all positions
    /// with those without moves as 0. Both are 0 if there are no positions.
    pub fn mean(&self, with_finals: bool) -> (f64, f64) {
        let positions = self.positions() - if with_finals { 0 } else { self.finals };
        let positions = (positions as f64).max(1.0);
        let moment = |power: i32| {
            let counts = self.moves.iter().enumerate();
            counts.map(|(moves, &count)| (moves as f64).powi(power) * count as f64).sum::<f64>() / positions
        };
        let mean = moment(1);
        (mean, (moment(2) - mean * mean).max(0.0).sqrt())
    }

    pub(super) fn add(&mut self, more: &Branching) {
        self.finals += more.finals;
        self.moves.iter_mut().zip(&more.moves).for_each(|(count, more)| *count += more);
    }
}

/// The positions of a game graph with the same stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Subgraph {
    /// Seeds in the first player's store.
    pub first: usize,
    /// Seeds in the second player's store.
    pub second: usize,
    /// Number of positions reached.
    pub positions: u64,
    /// These positions by outcome, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Outcomes>,
}

/// Counts of the planes with the same seeds in the rows: outcomes by the first player's store, and moves.
struct Counts {
    positions: Vec<u64>,
    outcomes: Vec<Outcomes>,
    branching: Branching,
}

impl Counts {
    fn new(stores: usize) -> Counts {
        Counts {
            positions: vec![0; stores],
            outcomes: vec![Outcomes::default(); stores],
            branching: Branching::default(),
        }
    }

    fn merged(mut self, more: Counts) -> Counts {
        self.positions.iter_mut().zip(more.positions).for_each(|(count, more)| *count += more);
        self.outcomes.iter_mut().zip(more.outcomes).for_each(|(count, more)| count.add(more));
        self.branching.add(&more.branching);
        self
    }
}

/// Counts the positions of the layer with `seeds` in play: the subgraphs reached, and the moves.
///
/// `table` is the table of the layer; layers of fewer than 2 seeds have none. Without tables there are no
/// outcomes.
pub(super) fn tally(
    rows: &GraphRows,
    space: &Space,
    seeds: usize,
    values: bool,
    table: Option<&Table>,
) -> Result<(Vec<Subgraph>, Branching), TableError> {
    let stores = space.total() - seeds + 1;
    let parts = (0..=seeds).flat_map(|first| {
        Side::BOTH.map(|side| Part { rows, space, seeds: RowSeeds { first, second: seeds - first }, side })
    });
    let table = table.filter(|_| values);
    let counts = parts
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|part| part.count(table))
        .try_reduce(|| Counts::new(stores), |a, b| Ok(a.merged(b)))?;
    let subgraphs = (0..stores).filter(|&store| counts.positions[store] > 0).map(|store| Subgraph {
        first: store,
        second: space.total() - seeds - store,
        positions: counts.positions[store],
        outcomes: values.then_some(counts.outcomes[store]),
    });
    Ok((subgraphs.collect(), counts.branching))
}

/// The planes of a layer with the same seeds in the rows and the same side to move.
#[derive(Clone, Copy)]
struct Part<'a> {
    rows: &'a GraphRows,
    space: &'a Space,
    seeds: RowSeeds,
    side: Side,
}

/// A plane in which games go on.
struct Open<'a> {
    store: usize,
    plane: &'a Plane,
    /// Lead of the first player's store.
    ahead: i64,
}

impl Part<'_> {
    fn count<'t>(self, table: Option<&'t Table>) -> Result<Counts, TableError> {
        let stores = self.space.total() - self.seeds.total() + 1;
        let mut counts = Counts::new(stores);
        let mut open = Vec::new();
        for store in 0..stores {
            let Some(plane) = self.space.plane(store, self.seeds, self.side) else { continue };
            let positions = plane.count();
            counts.positions[store] = positions;
            let ahead = store as i64 - self.space.second_store(store, self.seeds) as i64;
            if self.space.is_final(store, self.seeds) {
                // If a row is empty, the seeds of the other row belong to its owner. A store with more than
                // half of all seeds wins whoever gets the rest.
                let rows = self.seeds.first as i64 - self.seeds.second as i64;
                let over = self.seeds.first == 0 || self.seeds.second == 0;
                counts.outcomes[store].count(if over { ahead + rows } else { ahead }, positions);
                counts.branching.finals += positions;
            } else {
                open.push(Open { store, plane, ahead });
            }
        }
        if open.is_empty() {
            return Ok(counts);
        }
        // Runs of the table follow the mover's row, so the other row is divided into tiles.
        let rows = self.rows.maps.rows();
        let (run, others) = match self.side {
            Side::First => (rows.rows(self.seeds.first), rows.rows(self.seeds.second)),
            Side::Second => (rows.rows(self.seeds.second), rows.rows(self.seeds.first)),
        };
        let width = (TILE / run).max(64);
        let tiles: Vec<Range<usize>> = (0..others).step_by(width).map(|at| at..others.min(at + width)).collect();
        let mover = if self.side == Side::First { self.seeds.first } else { self.seeds.second };
        let source = table.map(|table| Ok::<_, TableError>((table, frame_in_parallel(table, mover)?))).transpose()?;
        let tally = |(mut counts, mut runs): (Counts, Runs<'t>), tile: Range<usize>| {
            runs.tile = tile.clone();
            runs.filled = false;
            for open in &open {
                self.count_tile(open, tile.clone(), &mut runs, &mut counts)?;
            }
            Ok::<_, TableError>((counts, runs))
        };
        let scored = tiles
            .into_par_iter()
            .try_fold(|| (Counts::new(stores), Runs::new(source, run)), tally)
            .map(|counts| counts.map(|(counts, _)| counts))
            .try_reduce(|| Counts::new(stores), |a, b| Ok(a.merged(b)))?;
        Ok(counts.merged(scored))
    }

    /// Counts the positions of a plane whose rank of the other row is in `tile`.
    fn count_tile(
        self,
        open: &Open,
        tile: Range<usize>,
        runs: &mut Runs,
        counts: &mut Counts,
    ) -> Result<(), TableError> {
        let (firsts, seconds) = match self.side {
            Side::First => (0..self.rows.maps.rows().rows(self.seeds.first), tile),
            Side::Second => (tile, 0..open.plane.columns()),
        };
        let (branching, outcomes) = (&mut counts.branching, &mut counts.outcomes[open.store]);
        for first in firsts.start as u32..firsts.end as u32 {
            for second in open.plane.reached(first, seconds.start, seconds.end) {
                let (choices, mover, other) = match self.side {
                    Side::First => (&self.rows.choices[self.seeds.first], first, second),
                    Side::Second => (&self.rows.choices[self.seeds.second], second, first),
                };
                branching.moves[usize::from(choices[mover as usize])] += 1;
                if let Some(score) = runs.score(mover, other)? {
                    let rows = 2 * i64::from(score) - self.seeds.total() as i64;
                    outcomes.count(open.ahead + if self.side == Side::First { rows } else { -rows }, 1);
                }
            }
        }
        Ok(())
    }
}

/// Approximate number of scores in a tile.
const TILE: usize = 1 << 20;

/// Scores of a tile: runs along the mover's row, for some ranks of the other row.
struct Runs<'a> {
    /// The table and its scores with these seeds in the rows.
    source: Option<(&'a Table, FrameScores<'a>)>,
    isa: Isa,
    run: usize,
    tile: Range<usize>,
    filled: bool,
    buffer: Vec<u8>,
}

impl<'a> Runs<'a> {
    fn new(source: Option<(&'a Table, FrameScores<'a>)>, run: usize) -> Runs<'a> {
        Runs { source, isa: Isa::detect(), run, tile: 0..0, filled: false, buffer: Vec::new() }
    }

    /// The score of a position of the tile, if there is a table.
    #[inline]
    fn score(&mut self, mover: u32, other: u32) -> Result<Option<u8>, TableError> {
        let Some((table, scores)) = self.source else { return Ok(None) };
        let stride = self.run + 2 * RUN_MARGIN;
        if !self.filled {
            self.buffer.resize(stride * self.tile.len(), 0);
            for (index, other) in self.tile.clone().enumerate() {
                let at = index * stride + RUN_MARGIN;
                let unpacked = scores.unpack_run(self.isa, 0, other as u32, self.run, &mut self.buffer, at);
                unpacked.map_err(|group| table.damaged_group(group))?;
            }
            self.filled = true;
        }
        Ok(Some(self.buffer[(other as usize - self.tile.start) * stride + RUN_MARGIN + mover as usize]))
    }
}
