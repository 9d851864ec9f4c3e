use std::time::{SystemTime, UNIX_EPOCH};

use humantime::{format_rfc3339_seconds, parse_rfc3339};
use kalah_analyse::{Level, Puzzle, PuzzleMiner};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Line, Position, Rules};
use kalah_core::table::Tables;
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::analyser::pause;
use super::answer::PuzzleAnswer;
use super::error::{ApiError, Code};
use super::fields::{parsed, position, read_query};

/// Number of games in which a puzzle is searched for.
const GAMES: usize = 4000;

/// Hard puzzles of Kalah(6,4) with 20 seeds in play or more, whose natural move is wrong. Nobody needs tables for them.
/// Each line has rules, position, value, value of the second best move, depth, and the line of best play, as from
/// `kalah puzzles --level hard --in-play 20 --tempting --json`, in random order.
const HARD: &str = include_str!("hard_puzzles.txt");

/// Maximum seeds in play of other puzzles. Nearly every server has tables for that many seeds, and so has a page whose
/// engine builds them. All of these find the same puzzle.
const PUZZLE_SEEDS: u32 = 14;

/// Seconds in a day.
const DAY: u64 = 86400;

/// Request for a puzzle: `GET /api/puzzle`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PuzzleRequest {
    /// The rule set.
    #[serde(default, deserialize_with = "parsed")]
    pub rules: Rules,
    /// Start of the games.
    #[serde(rename = "board", default = "start", deserialize_with = "position")]
    pub start: Position,
    #[serde(default, deserialize_with = "parsed")]
    level: Level,
    day: Option<String>,
    seed: Option<u64>,
}

fn start() -> Position {
    "6x4".parse().expect("a position")
}

/// Returns the days from 1 January 1970 to a day such as 2026-11-23; `None` for other texts.
fn day_number(text: &str) -> Option<u64> {
    let start = parse_rfc3339(&format!("{text}T00:00:00Z")).ok()?;
    Some(start.duration_since(UNIX_EPOCH).ok()?.as_secs() / DAY)
}

impl PuzzleRequest {
    /// Reads the query. A seed comes before a day; without both it asks for the puzzle of the day in Greenwich.
    ///
    /// # Errors
    /// If a field is unknown or wrong.
    pub fn read(query: &str, now: SystemTime) -> Result<PuzzleRequest, ApiError> {
        let mut request: PuzzleRequest = read_query(query)?;
        request.day = match (request.seed, request.day) {
            (Some(_), _) => None,
            (None, Some(day)) if day_number(&day).is_some() => Some(day),
            (None, Some(_)) => return Err(ApiError::request("'day' must be a day such as 2026-11-23")),
            (None, None) => {
                let mut today = format_rfc3339_seconds(now).to_string();
                today.truncate("2026-11-23".len());
                Some(today)
            }
        };
        Ok(request)
    }

    /// Returns the puzzle, if it is one that the program has, so that nobody searches for it.
    pub fn known(&self) -> Option<Puzzle> {
        if self.level != Level::Hard || self.start != start() {
            return None;
        }
        let all = HARD.lines().filter_map(parse_puzzle).filter(|puzzle| puzzle.rules == self.rules);
        let all: Vec<Puzzle> = all.collect();
        // Days in a row have different puzzles.
        let number = self.seed.or_else(|| day_number(self.day.as_deref()?))?;
        all.get(number.checked_rem(all.len() as u64)? as usize).cloned()
    }

    /// Maximum seeds of the tables that a search reads.
    pub fn seeds(&self) -> u32 {
        self.start.seeds().min(PUZZLE_SEEDS)
    }

    /// Searches for the first puzzle of the level in 4000 games, between which the thread can do other work, and
    /// returns the answer with it.
    ///
    /// # Errors
    /// If they have none, there are no tables or a damaged one, or `cancel` stops the search.
    pub async fn find(self, tables: Option<&Tables>, cancel: &Cancel) -> Result<PuzzleAnswer, ApiError> {
        let none =
            || ApiError::new(Code::NotFound, "no puzzle was found: the server needs larger tables for this board");
        let tables = tables.ok_or_else(none)?;
        let number = self.seed.unwrap_or_else(|| xxh3_64(self.day.as_deref().unwrap_or_default().as_bytes()));
        let mut miner = PuzzleMiner::new(tables, self.start, number)?.within(0..=PUZZLE_SEEDS);
        for _ in 0..GAMES {
            if let Some(found) = miner.game()?.into_iter().find(|puzzle| puzzle.level() == self.level) {
                return Ok(self.answer(&found));
            }
            cancel.check()?;
            pause().await;
        }
        Err(none())
    }

    /// Returns the answer with the puzzle that was found.
    pub fn answer(self, puzzle: &Puzzle) -> PuzzleAnswer {
        PuzzleAnswer { day: self.day, seed: self.seed, ..PuzzleAnswer::from(puzzle) }
    }
}

/// Reads a line of [`HARD`].
fn parse_puzzle(text: &str) -> Option<Puzzle> {
    let mut words = text.splitn(6, ' ');
    let (rules, position) = (words.next()?.parse().ok()?, words.next()?.parse::<Position>().ok()?);
    let (value, second) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (depth, line) = (words.next()?.parse().ok()?, Line::parse(position.pits(), words.next()?).ok()?);
    let pit = *line.turns().first()?.first()?;
    Some(Puzzle { rules, position, pit, value, second, line, depth })
}
