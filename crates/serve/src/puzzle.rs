//! Puzzles: the same one for everybody on a day.

use std::collections::HashMap;

use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Position, Rules};
use kalah_solve::analyse::{Level, Puzzle, PuzzleMiner};
use kalah_tables::table::{TableError, Tables};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::ApiError;

/// Games in which a puzzle is searched for.
const GAMES: usize = 4000;

/// The most seeds in play of a puzzle of the day: so many are in the tables of nearly everybody, and all who have them
/// get the same one.
pub(super) const DAILY_SEEDS: u32 = 14;

/// Puzzles that are kept.
const KEPT: usize = 256;

/// Which puzzle is asked for: games from which start, of which number, and the most seeds in play.
pub(super) type Key = (Rules, Position, Level, u64, u32);

/// Searches for the first puzzle of a level in the games of a number; `None` if there is none in [`GAMES`] games.
/// `cancel` is looked at between games.
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

/// The puzzle of a day such as 2026-11-23.
pub(super) fn daily(
    tables: &Tables,
    start: Position,
    level: Level,
    day: &str,
    cancel: &Cancel,
) -> Result<Option<Puzzle>, Unfound> {
    find(tables, &daily_key(tables.rules(), start, level, day), cancel)
}

/// The puzzle of a day.
pub(super) fn daily_key(rules: Rules, start: Position, level: Level, day: &str) -> Key {
    (rules, start, level, xxh3_64(day.as_bytes()), DAILY_SEEDS)
}

/// Why the search for a puzzle ended.
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

/// The puzzles that were found: finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<Key, Option<Puzzle>>>);

impl Puzzles {
    /// The puzzle, if it was searched for; `None` in it: there is none.
    pub fn get(&self, key: &Key) -> Option<Option<Puzzle>> {
        self.0.lock().get(key).cloned()
    }

    /// Keeps a puzzle.
    pub fn put(&self, key: Key, puzzle: Option<Puzzle>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, puzzle);
    }
}
