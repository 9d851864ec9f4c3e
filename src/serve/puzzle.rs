//! Puzzles: the same one for everybody on a day.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::api::{Service, read_position, read_rules};
use super::fields::Fields;
use super::{ApiError, day};
use crate::analyse::{Level, Puzzle, PuzzleMiner, PuzzleRecord};
use crate::game::{Position, Rules};
use crate::table::{TableError, Tables};

/// Games in which a puzzle is searched for.
const GAMES: usize = 4000;

/// The most seeds in play of a puzzle of the day: so many are in the tables of nearly everybody, and all who have them
/// get the same one.
pub(super) const DAILY_SEEDS: u32 = 14;

/// Puzzles that are kept.
const KEPT: usize = 256;

/// Which puzzle is asked for: games from which start, of which number, and the most seeds in play.
type Key = (Rules, Position, Level, u64, u32);

/// Searches for the first puzzle of a level in the games of a number; `None` if there is none in [`GAMES`] games.
/// `stop` is asked between games.
fn find(
    tables: &Tables,
    &(_, start, level, number, most): &Key,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Puzzle>, Unfound> {
    let mut miner = PuzzleMiner::new(tables, start, number).up_to(most);
    for _ in 0..GAMES {
        if let Some(found) = miner.game()?.into_iter().find(|puzzle| puzzle.level() == level) {
            return Ok(Some(found));
        }
        if stop() {
            return Err(Unfound::Stopped);
        }
    }
    Ok(None)
}

/// The puzzle of a day such as 2026-11-23.
pub(super) fn daily(
    tables: &Tables,
    start: Position,
    level: Level,
    day: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Puzzle>, Unfound> {
    find(tables, &daily_key(tables.rules(), start, level, day), stop)
}

fn daily_key(rules: Rules, start: Position, level: Level, day: &str) -> Key {
    (rules, start, level, xxh3_64(day.as_bytes()), DAILY_SEEDS)
}

/// Why the search for a puzzle ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfound {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("stopped")]
    Stopped,
}

impl From<Unfound> for ApiError {
    fn from(unfound: Unfound) -> ApiError {
        match unfound {
            Unfound::Table(error) => error.into(),
            Unfound::Stopped => ApiError::Stopping,
        }
    }
}

/// The puzzles that were found: finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<Key, Option<Puzzle>>>);

#[derive(Serialize)]
pub(super) struct PuzzleAnswer {
    #[serde(flatten)]
    puzzle: PuzzleRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl Puzzles {
    fn get(&self, key: &Key) -> Option<Option<Puzzle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: Key, puzzle: Option<Puzzle>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, puzzle);
    }
}

impl Service {
    async fn puzzle(&self, address: &Uri) -> Result<PuzzleAnswer, ApiError> {
        let mut fields = Fields::of_query(address, &["board", "rules", "level", "day", "seed"])?;
        let board = fields.text("board")?.unwrap_or_else(|| "6x4".to_owned());
        let (start, rules) = (read_position(&board)?, read_rules(&mut fields)?);
        let level = fields.text("level")?;
        let wrong = |what: String| ApiError::Request(what);
        let level: Level =
            level.as_deref().unwrap_or("medium").parse().map_err(|error| wrong(format!("'level': {error}")))?;
        let (day, seed) = (fields.text("day")?, fields.number("seed")?);
        let (day, key) = match (day, seed) {
            (Some(_), Some(_)) => {
                return Err(wrong("'day' and 'seed' are given; one of them names a puzzle".to_owned()));
            }
            (None, Some(seed)) => (None, (rules, start, level, seed, u32::MAX)),
            (day, None) => {
                let day = day.unwrap_or_else(|| day::name(day::today()));
                if !day::is_day(&day) {
                    return Err(wrong("'day' must be a day such as 2026-11-23".to_owned()));
                }
                let key = daily_key(rules, start, level, &day);
                (Some(day), key)
            }
        };
        let puzzle = match self.puzzles.get(&key) {
            Some(known) => known,
            None => {
                let board = (rules, start.pits());
                // So many games, whatever time they take: everybody gets the same puzzle.
                let search = self.searches.run(board, Duration::MAX, move |searcher, limit| {
                    let Some(tables) = searcher.shelf().tables(rules, start.pits()) else { return Ok(None) };
                    Ok(find(tables, &key, &|| limit.is_over())?)
                });
                let found = search.await?;
                self.puzzles.put(key, found.clone());
                found
            }
        };
        let puzzle = puzzle.ok_or(ApiError::NoPuzzle)?;
        Ok(PuzzleAnswer { puzzle: PuzzleRecord::new(&puzzle), day, seed })
    }
}

/// `GET /api/puzzle`
pub(super) async fn puzzle(State(service): State<Arc<Service>>, address: Uri) -> Result<Json<PuzzleAnswer>, ApiError> {
    service.report(service.puzzle(&address).await).map(Json)
}
