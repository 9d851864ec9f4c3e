use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use kalah_base::progress::Pulse;
use kalah_core::index::{Frame, TableRow};
use kalah_core::isa::Isa;
use kalah_core::table::{DamagedGroup, FrameScores, RUN_MARGIN, TableError, Tables};
use parking_lot::Mutex;
use rayon::prelude::*;

use super::Fault;
use super::oracle::{Next, Oracle, next};
use super::template::{Change, templates};
use super::template::{ChangedRows, Ranks, TablePart};
use crate::table::frame_in_parallel;

/// Bytes of the scores of a tile, of which a thread has two copies. They fit in the cache of a core.
const TILE_BYTES: usize = 1 << 20;

/// Maximum number of mover's rows of a tile.
const TILE_ROWS: usize = 64;

/// Tiles of a frame for each thread, if the frame has enough rows.
const TILES_PER_THREAD: usize = 4;

/// Checks every score of a frame against the oracle, under rules without relays.
///
/// A *tile* has some mover's rows and all other rows. Each move of a mover's row has the same
/// [template](templates) against all other rows. So the oracle plays it once, the changed other rows are ranked
/// once for all mover's rows, and the rest is reading and comparing scores. The children of a move that ends the
/// turn lie in one run of a frame, which is unpacked as a whole. Those of a move that gives another one lie in a
/// column, as the scores of the mover's row itself; all columns of a tile are read row by row.
pub(super) struct FrameCheck<'a> {
    tables: &'a Tables,
    oracle: Oracle,
    frame: Frame,
    scores: FrameScores<'a>,
    isa: Isa,
    pulse: &'a Pulse,
    /// All other rows, by rank.
    others: Vec<TableRow>,
    /// Changes of the other rows that the moves make.
    changes: Mutex<HashMap<Change, Arc<OnceLock<ChangedRows>>>>,
    buffers: Mutex<Vec<Buffers>>,
}

/// Memory of a thread.
#[derive(Default)]
struct Buffers {
    /// Scores in the table, a row for each mover's row.
    stored: Vec<u8>,
    /// Best score of the moves seen, likewise.
    best: Vec<u8>,
    /// The run of an unpacked frame, with margins.
    run: Vec<u8>,
}

/// A place in a frame, in the order of the check: ranks of the other row and of the mover's row.
type Place = (u32, u32);

/// A move of a mover's row of a tile.
struct TileMove {
    /// The mover's row, from the first of the tile.
    row: usize,
    /// Rank of the row after the move, and its seeds.
    left: (u32, u8),
    /// Seeds stored, except those that the other row held.
    stored: u8,
    again: bool,
    changed: Arc<OnceLock<ChangedRows>>,
}

/// Moves of a tile that give another move, into the same frame.
struct AgainMoves<'a> {
    scores: FrameScores<'a>,
    stored: u8,
    ranks: &'a Ranks,
    /// For each move the mover's row, from the first of the tile, and the rank of the row after it.
    moves: Vec<(usize, u32)>,
}

impl<'a> FrameCheck<'a> {
    /// Prepares the check of a frame of `tables`.
    pub(super) fn new(tables: &'a Tables, frame: Frame, pulse: &'a Pulse) -> Result<FrameCheck<'a>, TableError> {
        let (rows, other) = (tables.rows(), frame.other);
        let scores = frame_in_parallel(tables.require(frame.mover + other)?, frame.mover)?;
        let others = (0..rows.rows(other) as u32).into_par_iter().map(|rank| rows.unrank(other, rank)).collect();
        Ok(FrameCheck {
            tables,
            oracle: Oracle::new(tables.rules(), tables.pits()).expect("pits of a table"),
            frame,
            scores,
            isa: Isa::detect(),
            pulse,
            others,
            changes: Mutex::default(),
            buffers: Mutex::default(),
        })
    }

    /// Finds the first wrong score of the frame by index; returns the ranks of its rows (mover's, other).
    pub(super) fn first_wrong(&self) -> Result<Option<(u32, u32)>, Fault> {
        let rows = self.frame.mover_rows();
        let even = rows.div_ceil(TILES_PER_THREAD * rayon::current_num_threads());
        let height = (TILE_BYTES / self.others.len()).min(TILE_ROWS).min(even).max(1);
        let tiles = (0..rows.div_ceil(height)).into_par_iter();
        let first = tiles.map(|tile| {
            self.pulse.check()?;
            let movers = tile * height..rows.min((tile + 1) * height);
            let positions = movers.len() as u64 * self.others.len() as u64;
            let mut buffers = self.buffers.lock().pop().unwrap_or_default();
            let wrong = self.tile(movers, &mut buffers)?;
            self.buffers.lock().push(buffers);
            self.pulse.positions.fetch_add(positions, Ordering::Relaxed);
            Ok::<Option<Place>, Fault>(wrong)
        });
        let first = first.try_reduce(|| None, |one, two| Ok([one, two].into_iter().flatten().min()))?;
        Ok(first.map(|(other, mover)| (mover, other)))
    }

    /// Finds the first wrong score of a tile.
    fn tile(&self, movers: Range<usize>, buffers: &mut Buffers) -> Result<Option<Place>, Fault> {
        let width = self.others.len();
        let size = movers.len() * width;
        buffers.stored.resize(size, 0);
        buffers.best.clear();
        buffers.best.resize(size, 0);
        buffers.run.resize(self.tables.rows().rows(self.frame.mover + self.frame.other) + 2 * RUN_MARGIN, 0);
        let moves = self.moves(movers.clone());
        self.read_columns(&movers, &moves, buffers)?;
        for one in moves.iter().filter(|one| !one.again || one.left.1 == 0) {
            let best = &mut buffers.best[one.row * width..][..width];
            for part in &self.changed(one).parts {
                self.play_part(one, part, best, &mut buffers.run)?;
            }
        }
        let rows = buffers.stored.chunks(width).zip(buffers.best.chunks(width)).zip(movers);
        let wrong = rows.filter(|((stored, best), _)| stored != best).filter_map(|((stored, best), mover)| {
            let other = stored.iter().zip(best).position(|(stored, best)| stored != best)?;
            Some((other as u32, mover as u32))
        });
        Ok(wrong.min())
    }

    /// All moves of some mover's rows, in order.
    fn moves(&self, movers: Range<usize>) -> Vec<TileMove> {
        let rows = self.tables.rows();
        let mut moves = Vec::new();
        for (row, rank) in movers.enumerate() {
            let mover = rows.unrank(self.frame.mover, rank as u32);
            for pit in (0..self.frame.pits).filter(|&pit| mover[pit] > 0) {
                for template in templates(&self.oracle, &mover, pit) {
                    let changed = Arc::clone(self.changes.lock().entry(template.change).or_default());
                    changed.get_or_init(|| ChangedRows::new(rows, &self.others, &template.change));
                    let left = (rows.rank(&template.left), template.left_seeds);
                    moves.push(TileMove { row, left, stored: template.stored, again: template.again, changed });
                }
            }
        }
        moves
    }

    /// The other rows, changed by a move.
    fn changed<'m>(&self, one: &'m TileMove) -> &'m ChangedRows {
        one.changed.get().expect("made with the move")
    }

    /// The scores of the frame of another layer or this one.
    fn child(&self, mover: u8, other: u8) -> Result<FrameScores<'a>, TableError> {
        self.tables.require(usize::from(mover) + usize::from(other))?.frame(mover.into())
    }

    /// The error of a damaged group of a frame that was read.
    fn damaged(&self, group: DamagedGroup) -> TableError {
        let table = self.tables.layer(group.mover + group.other);
        table.expect("the frame is one of this table").damaged_group(group)
    }

    /// Reads the scores of a tile, and those after its moves that give another one.
    fn read_columns(&self, movers: &Range<usize>, moves: &[TileMove], buffers: &mut Buffers) -> Result<(), TableError> {
        let width = self.others.len();
        let again = self.again_moves(moves)?;
        let mut line = [0; TILE_ROWS + 2 * RUN_MARGIN];
        for other in 0..width as u32 {
            let first = movers.start as u32;
            let unpacked = self.scores.unpack_run(self.isa, first, other, movers.len(), &mut line, RUN_MARGIN);
            unpacked.map_err(|group| self.damaged(group))?;
            let column = buffers.stored[other as usize..].iter_mut().step_by(width);
            for (stored, &score) in column.zip(&line[RUN_MARGIN..]) {
                *stored = score;
            }
            for AgainMoves { scores, stored, ranks, moves } in &again {
                let child = match ranks {
                    Ranks::Same => other,
                    Ranks::All(after) => after[other as usize],
                    Ranks::Some { .. } => unreachable!("a move that captures ends the turn"),
                };
                for &(row, left) in moves {
                    let score = scores.score(left, child).map_err(|group| self.damaged(group))?;
                    let best = &mut buffers.best[row * width + other as usize];
                    *best = (*best).max(stored.saturating_add(score));
                }
            }
        }
        Ok(())
    }

    /// Sorts the moves that give another one by the frames to which they lead.
    fn again_moves<'m>(&'m self, moves: &'m [TileMove]) -> Result<Vec<AgainMoves<'m>>, TableError> {
        let mut again: Vec<AgainMoves<'m>> = Vec::new();
        for one in moves.iter().filter(|one| one.again && one.left.1 > 0) {
            let part = &self.changed(one).parts[0];
            let frame = (usize::from(one.left.1), usize::from(part.seeds));
            let is_same = |of: &&mut AgainMoves<'_>| {
                let Frame { mover, other, .. } = of.scores.frame();
                (mover, other) == frame && of.stored == one.stored && std::ptr::eq(of.ranks, &part.ranks)
            };
            match again.iter_mut().find(is_same) {
                Some(of) => of.moves.push((one.row, one.left.0)),
                None => {
                    let scores = self.child(one.left.1, part.seeds)?;
                    let moves = vec![(one.row, one.left.0)];
                    again.push(AgainMoves { scores, stored: one.stored, ranks: &part.ranks, moves });
                }
            }
        }
        again.iter_mut().for_each(|of| of.moves.sort_unstable_by_key(|&(_, left)| left));
        Ok(again)
    }

    /// Plays a move that ends the turn or the game against some other rows.
    fn play_part(&self, one: &TileMove, part: &TablePart, best: &mut [u8], run: &mut [u8]) -> Result<(), TableError> {
        let stored = one.stored + part.captured;
        match next(one.left.1, part.seeds, stored, one.again) {
            Next::Over(score) => match &part.ranks {
                Ranks::Same | Ranks::All(_) => best.iter_mut().for_each(|best| *best = (*best).max(score)),
                Ranks::Some { before, .. } => {
                    for &other in before {
                        let best = &mut best[other as usize];
                        *best = (*best).max(score);
                    }
                }
            },
            Next::Again => unreachable!("read with the columns"),
            Next::Other => {
                let scores = self.child(part.seeds, one.left.1)?;
                let count = scores.frame().mover_rows();
                let unpacked = scores.unpack_run(self.isa, 0, one.left.0, count, run, RUN_MARGIN);
                unpacked.map_err(|group| self.damaged(group))?;
                let all = stored + one.left.1 + part.seeds;
                raise(best, &part.ranks, &run[RUN_MARGIN..][..count], all);
            }
        }
        Ok(())
    }
}

/// Raises the best scores to those that the opponent leaves of `all` seeds. `opponent` has the opponent's scores
/// by rank of the changed row.
fn raise(best: &mut [u8], ranks: &Ranks, opponent: &[u8], all: u8) {
    match ranks {
        Ranks::Same => {
            for (best, &score) in best.iter_mut().zip(opponent) {
                *best = (*best).max(all.saturating_sub(score));
            }
        }
        Ranks::All(after) => {
            for (best, &after) in best.iter_mut().zip(after) {
                *best = (*best).max(all.saturating_sub(opponent[after as usize]));
            }
        }
        Ranks::Some { before, after } => {
            for (&before, &after) in before.iter().zip(after) {
                let best = &mut best[before as usize];
                *best = (*best).max(all.saturating_sub(opponent[after as usize]));
            }
        }
    }
}
