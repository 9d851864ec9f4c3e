use xxhash_rust::xxh3::xxh3_64;

use super::board::CheckerBoard;

/// Maximum number of entries, as a power of two.
const MAX_BITS: u32 = 20;

/// Bounds found by one search, so that positions reached again are not searched again.
///
/// An entry holds the whole board, so positions are never confused. A new entry replaces another position's
/// entry at its place. Everything is deterministic.
pub(super) struct Memory {
    entries: Vec<Entry>,
    /// The current search. Entries of other searches count as empty.
    generation: u32,
}

#[derive(Clone, Copy)]
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
