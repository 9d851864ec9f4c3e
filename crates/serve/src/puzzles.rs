use std::collections::HashMap;

use kalah_analyse::Puzzle;
use kalah_api::PuzzleKey;
use parking_lot::Mutex;

/// Maximum number of cached puzzles.
const KEPT: usize = 256;

/// Cache of found puzzles, since finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<PuzzleKey, Option<Puzzle>>>);

impl Puzzles {
    /// Returns the cached result of a search; its inner `None` means that there is no puzzle.
    pub(crate) fn get(&self, key: &PuzzleKey) -> Option<Option<Puzzle>> {
        self.0.lock().get(key).cloned()
    }

    /// Adds a puzzle.
    pub(crate) fn put(&self, key: PuzzleKey, puzzle: Option<Puzzle>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, puzzle);
    }
}
