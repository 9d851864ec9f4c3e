use arrayvec::ArrayVec;
use kalah_core::game::MAX_PITS;
use kalah_core::index::TableRow;
use kalah_core::table::{TableError, Tables};
use xxhash_rust::xxh3::xxh3_64;

use super::board::{After, CheckerBoard, Variant, sum};

/// Depth in moves at which a search gives up. No board that tables can reach comes near it, and it keeps the
/// stack small.
const MAX_DEPTH: u32 = 1000;

/// Result of a search of the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckerFinding {
    /// True if the score is at least the tested one; `None` if 2^k nodes did not suffice.
    pub reached: Option<bool>,
    /// Nodes: positions whose moves were played. The number depends only on rules, position, score, tables and
    /// effort.
    pub nodes: u64,
}

/// Reason why a search ended without an answer.
pub(super) enum Stop {
    /// It would exceed the limit of nodes.
    Effort,
    /// A table cannot be read.
    Table(TableError),
}

impl From<TableError> for Stop {
    fn from(error: TableError) -> Stop {
        Stop::Table(error)
    }
}

/// The search of the checker: zero-window tests with fail-soft bounds, from the rules and the tables alone.
#[derive(Debug)]
pub(super) struct CheckerSearch<'a> {
    pub variant: Variant,
    tables: Option<&'a Tables>,
    /// The largest layer of tables that is used.
    table_seeds: u32,
    limit: u64,
    nodes: u64,
    memory: Memory,
}

/// A move whose score is not known yet. It is played again when searched, which keeps the stack small.
#[derive(Clone, Copy)]
struct Open {
    pit: u8,
    order: i32,
}

impl<'a> CheckerSearch<'a> {
    pub(crate) fn new(
        variant: Variant,
        tables: Option<&'a Tables>,
        table_seeds: usize,
        effort: u32,
    ) -> CheckerSearch<'a> {
        let memory = Memory::new(effort);
        CheckerSearch { variant, tables, table_seeds: table_seeds as u32, limit: 1 << effort, nodes: 0, memory }
    }

    /// Returns true if positions with `seeds` seeds in play are in the tables.
    pub(crate) fn is_in_tables(&self, seeds: u32) -> bool {
        seeds <= self.table_seeds
    }

    /// Tests whether the score of a position with `seeds` seeds in play is at least `score`. The game is not over.
    pub(crate) fn reaches(
        &mut self,
        board: &CheckerBoard,
        seeds: u32,
        score: u32,
    ) -> Result<CheckerFinding, TableError> {
        let known = |reached| CheckerFinding { reached: Some(reached), nodes: 0 };
        if score == 0 || score > seeds {
            return Ok(known(score == 0));
        }
        if let Some(exact) = self.table_score(board, seeds)? {
            return Ok(known(exact >= score));
        }
        self.nodes = 0;
        self.memory.forget();
        let reached = match self.test(board, seeds, score, 0) {
            Ok(found) => Some(found >= score),
            Err(Stop::Effort) => None,
            Err(Stop::Table(error)) => return Err(error),
        };
        Ok(CheckerFinding { reached, nodes: self.nodes })
    }

    /// The score of an unfinished position in the tables; `None` if it is above them.
    #[inline]
    pub(crate) fn table_score(&self, board: &CheckerBoard, seeds: u32) -> Result<Option<u32>, TableError> {
        let Some(tables) = self.tables.filter(|_| seeds <= self.table_seeds) else { return Ok(None) };
        let row = |row: u128| *row.to_le_bytes().first_chunk().expect("a row of a table is shorter");
        let (mover, other): (TableRow, TableRow) = (row(board.mover), row(board.other));
        let score = u32::from(tables.score_rows(&mover, &other)?);
        if score > seeds {
            let table = tables.require(seeds as usize)?;
            let rank = |row| tables.rows().rank(row);
            return Err(table.damaged_score(sum(board.mover) as usize, rank(&mover), rank(&other)));
        }
        Ok(Some(score))
    }

    /// Tests whether the score is at least `score`, 1 to `seeds`. Returns a lower bound of at least `score`, or an
    /// upper bound below it. The game is not over, and the position is above the tables.
    fn test(&mut self, board: &CheckerBoard, seeds: u32, score: u32, depth: u32) -> Result<u32, Stop> {
        if self.nodes == self.limit || depth == MAX_DEPTH {
            return Err(Stop::Effort);
        }
        self.nodes += 1;
        let found = self.best(board, seeds, score, depth)?;
        self.memory.put(board, seeds, found, found >= score);
        Ok(found)
    }

    fn best(&mut self, board: &CheckerBoard, seeds: u32, score: u32, depth: u32) -> Result<u32, Stop> {
        let mut open: ArrayVec<Open, MAX_PITS> = ArrayVec::new();
        // The largest upper bound of a move that is not enough.
        let mut best = 0;
        for pit in board.moves(&self.variant) {
            let after = board.after(&self.variant, pit);
            let left = seeds - after.stored;
            let (lower, upper) = self.known(&after, seeds, left, score)?;
            if lower >= score {
                return Ok(lower);
            }
            if upper < score {
                best = best.max(upper);
                continue;
            }
            open.push(Open { pit: pit as u8, order: order(&after, pit) });
        }
        // A stable sort: moves of equal order keep their places.
        open.sort_by_key(|open| -open.order);
        for Open { pit, .. } in open {
            let after = board.after(&self.variant, pit.into());
            let left = seeds - after.stored;
            let found = if after.again {
                after.stored + self.test(&after.board, left, score - after.stored, depth + 1)?
            } else {
                seeds - self.test(&after.board, left, seeds - score + 1, depth + 1)?
            };
            if found >= score {
                return Ok(found);
            }
            best = best.max(found);
        }
        Ok(best)
    }

    /// Lower and upper bound of the mover's score by a move from `seeds` to `left` seeds in play, without a
    /// search.
    #[inline]
    fn known(&self, after: &After, seeds: u32, left: u32, score: u32) -> Result<(u32, u32), TableError> {
        if let Some(end) = after.end {
            return Ok((end, end));
        }
        if after.stored >= score {
            return Ok((after.stored, seeds));
        }
        let next = match self.table_score(&after.board, left)? {
            Some(exact) => (exact, exact),
            None => self.memory.get(&after.board).unwrap_or((0, left)),
        };
        Ok(if after.again { (after.stored + next.0, after.stored + next.1) } else { (seeds - next.1, seeds - next.0) })
    }
}

/// Returns the order of a move: again-moves first, then more seeds stored, then the pit nearer to the store.
fn order(after: &After, pit: usize) -> i32 {
    let again = if after.again { 1 << 20 } else { 0 };
    again + 64 * after.stored as i32 + pit as i32
}

/// Maximum number of entries, as a power of two.
const MAX_BITS: u32 = 20;

/// Bounds found by one search, so that positions reached again are not searched again.
///
/// An entry holds the whole board, so positions are never confused. A new entry replaces another position's
/// entry at its place. Everything is deterministic.
#[derive(Debug)]
pub(super) struct Memory {
    entries: Vec<Entry>,
    /// The current search. Entries of other searches count as empty.
    generation: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    board: CheckerBoard,
    generation: u32,
    lower: u8,
    upper: u8,
}

impl Memory {
    /// For searches of at most 2^`effort` nodes.
    pub(crate) fn new(effort: u32) -> Memory {
        let empty = Entry { board: CheckerBoard { mover: 0, other: 0 }, generation: 0, lower: 0, upper: 0 };
        Memory { entries: vec![empty; 1 << effort.min(MAX_BITS)], generation: 0 }
    }

    /// Removes everything.
    pub(crate) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.iter_mut().for_each(|entry| entry.generation = 0);
            self.generation = 1;
        }
    }

    #[inline]
    fn place(&self, board: &CheckerBoard) -> usize {
        xxh3_64(bytemuck::bytes_of(&[board.mover.to_le(), board.other.to_le()])) as usize & (self.entries.len() - 1)
    }

    /// The lower and the upper bound found for a board.
    #[inline]
    pub(crate) fn get(&self, board: &CheckerBoard) -> Option<(u32, u32)> {
        let entry = &self.entries[self.place(board)];
        (entry.generation == self.generation && entry.board == *board)
            .then_some((entry.lower.into(), entry.upper.into()))
    }

    /// Stores the result of a test of a board with `seeds` seeds in play: its score is at least `score` if
    /// `reached`, else below it.
    pub(crate) fn put(&mut self, board: &CheckerBoard, seeds: u32, score: u32, reached: bool) {
        let place = self.place(board);
        let (lower, upper) = self.get(board).unwrap_or((0, seeds));
        let (lower, upper) = if reached { (lower.max(score), upper) } else { (lower, upper.min(score)) };
        let (lower, upper) = (lower as u8, upper as u8);
        self.entries[place] = Entry { board: *board, generation: self.generation, lower, upper };
    }
}
