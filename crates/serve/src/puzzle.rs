//! Puzzles. Everybody gets the same puzzle of the day.

use std::collections::HashMap;

use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Position, Rules};
use kalah_solve::analyse::{Level, Puzzle, PuzzleMiner};
use kalah_tables::table::{TableError, Tables};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::ApiError;

/// Number of games in which a puzzle is searched for.
const GAMES: usize = 4000;

/// Maximum seeds in play of a puzzle of the day. Nearly every server has tables for that many seeds, and all of these
/// find the same puzzle.
pub(super) const DAILY_SEEDS: u32 = 14;

/// Maximum number of cached puzzles.
const KEPT: usize = 256;

/// Request for a puzzle: start and number of the games, and the most seeds in play.
pub(super) type Key = (Rules, Position, Level, u64, u32);

/// Searches for the first puzzle of a level in the games with this number; `None` if [`GAMES`] games have none.
/// `cancel` is checked between games.
pub(super) fn find(
    tables: &Tables,
    &(_, start, level, number, most): &Key,
    cancel: &Cancel,
) -> Result<Option<Puzzle>, Unfound> {
    let mut miner = PuzzleMiner::new(tables, start, number).up_to(most);
    for _ in 0..GAMES {
        if let Some(found) = miner.game()?.into_iter().find(|puzzle| puzzle.level() == level) {
            return Ok(Some(found));
        }
        cancel.check()?;
    }
    Ok(None)
}

/// Requests the puzzle of a day such as 2026-11-23.
pub(super) fn daily(
    tables: &Tables,
    start: Position,
    level: Level,
    day: &str,
    cancel: &Cancel,
) -> Result<Option<Puzzle>, Unfound> {
    find(tables, &daily_key(tables.rules(), start, level, day), cancel)
}

/// Requests the puzzle of a day.
pub(super) fn daily_key(rules: Rules, start: Position, level: Level, day: &str) -> Key {
    (rules, start, level, xxh3_64(day.as_bytes()), DAILY_SEEDS)
}

/// End of the search for a puzzle.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfound {
    #[error("{0}")]
    Table(#[from] TableError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<Unfound> for ApiError {
    fn from(unfound: Unfound) -> ApiError {
        match unfound {
            Unfound::Table(error) => error.into(),
            Unfound::Stopped(_) => ApiError::Stopping,
        }
    }
}

/// Cache of found puzzles, since finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<Key, Option<Puzzle>>>);

impl Puzzles {
    /// Returns the cached result of a search; its inner `None` means that there is no puzzle.
    pub fn get(&self, key: &Key) -> Option<Option<Puzzle>> {
        self.0.lock().get(key).cloned()
    }

    /// Adds a puzzle.
    pub fn put(&self, key: Key, puzzle: Option<Puzzle>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, puzzle);
    }
}
