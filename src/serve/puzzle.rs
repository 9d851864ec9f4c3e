//! Puzzles: the same one for everybody on a day.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::ApiError;
use super::api::{Service, read_position, read_rules};
use super::fields::Fields;
use crate::analyse::{Level, Puzzle, PuzzleMiner};
use crate::game::{Position, Rules};

/// Games in which a puzzle is searched for.
const GAMES: usize = 4000;

/// Puzzles that are kept.
const KEPT: usize = 256;

/// Which puzzle is asked for.
type Key = (Rules, Position, Level, u64);

/// The puzzles that were found: finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<Key, Option<Puzzle>>>);

#[derive(Serialize)]
pub(super) struct PuzzleAnswer {
    position: String,
    rules: &'static str,
    seeds: u32,
    r#move: usize,
    outcome: &'static str,
    value: i64,
    second: i64,
    gap: i64,
    line: String,
    turns: usize,
    depth: u32,
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl PuzzleAnswer {
    fn new(puzzle: &Puzzle, day: Option<String>, seed: Option<u64>) -> PuzzleAnswer {
        PuzzleAnswer {
            position: puzzle.position.to_string(),
            rules: puzzle.rules.name(),
            seeds: puzzle.position.seeds(),
            r#move: puzzle.pit.number(),
            outcome: if puzzle.value > 0 { "win" } else { "draw" },
            value: puzzle.value,
            second: puzzle.second,
            gap: puzzle.gap(),
            line: puzzle.line.to_string(),
            turns: puzzle.line.turns().len(),
            depth: puzzle.depth,
            level: puzzle.level().name(),
            day,
            seed,
        }
    }
}

/// Whether a text is a day such as 2026-11-23.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |text: &str, length: usize| {
        let digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let [year, month, day] = parts[..] else { return false };
    let month_and_day = number(month, 2).zip(number(day, 2));
    number(year, 4).is_some() && month_and_day.is_some_and(|(m, d)| (1..=12).contains(&m) && (1..=31).contains(&d))
}

/// The day that it is in Greenwich: by the algorithm of H. Hinnant, "chrono-compatible low-level date algorithms".
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let days = seconds / 86400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
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
        let (day, seed, number) = match (day, seed) {
            (Some(_), Some(_)) => {
                return Err(wrong("'day' and 'seed' are given; one of them names a puzzle".to_owned()));
            }
            (None, Some(seed)) => (None, Some(seed), seed),
            (day, None) => {
                let day = day.unwrap_or_else(today);
                if !is_day(&day) {
                    return Err(wrong("'day' must be a day such as 2026-11-23".to_owned()));
                }
                let number = xxh3_64(day.as_bytes());
                (Some(day), None, number)
            }
        };
        let key = (rules, start, level, number);
        let puzzle = match self.puzzles.get(&key) {
            Some(known) => known,
            None => {
                let board = (rules, start.pits());
                // So many games, whatever time they take: everybody gets the same puzzle.
                let search = self.searches.run(board, Duration::MAX, move |searcher, limit| {
                    let Some(tables) = searcher.shelf().tables(rules, start.pits()) else { return Ok(None) };
                    let mut miner = PuzzleMiner::new(tables, start, number);
                    for _ in 0..GAMES {
                        if let Some(found) = miner.game()?.into_iter().find(|puzzle| puzzle.level() == level) {
                            return Ok(Some(found));
                        }
                        if limit.is_over() {
                            return Err(ApiError::Stopping);
                        }
                    }
                    Ok(None)
                });
                let found = search.await?;
                self.puzzles.put(key, found.clone());
                found
            }
        };
        let puzzle = puzzle.ok_or(ApiError::NoPuzzle)?;
        Ok(PuzzleAnswer::new(&puzzle, day, seed))
    }
}

/// `GET /api/puzzle`
pub(super) async fn puzzle(State(service): State<Arc<Service>>, address: Uri) -> Result<Json<PuzzleAnswer>, ApiError> {
    service.report(service.puzzle(&address).await).map(Json)
}
