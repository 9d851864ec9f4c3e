//! Requests for puzzles.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use kalah_solve::analyse::{Level, PuzzleRecord};
use serde::Serialize;

use super::api::{Service, read_position, read_rules};
use super::fields::Fields;
use super::puzzle::{daily_key, find};
use super::searches::Reads;
use super::{ApiError, day};

#[derive(Serialize)]
pub(super) struct PuzzleAnswer {
    #[serde(flatten)]
    puzzle: PuzzleRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
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
                return Err(wrong("give 'day' or 'seed', not both".to_owned()));
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
                let reads = Reads { seeds: start.seeds().min(key.4), ..Reads::of(rules, &start) };
                // A number of games instead of a time limit, so that everybody gets the same puzzle.
                let search = self.searches.run(reads, Duration::MAX, move |searcher, cancel| {
                    let Some(tables) = searcher.shelf().tables(rules, start.pits()) else { return Ok(None) };
                    Ok(find(tables, &key, cancel)?)
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
