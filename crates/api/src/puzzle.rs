use std::time::{Duration, SystemTime, UNIX_EPOCH};

use humantime::{format_rfc3339_seconds, parse_rfc3339};
use kalah_analyse::{Level, Puzzle, PuzzleMiner};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Line, Position, Rules};
use kalah_core::table::Tables;
use xxhash_rust::xxh3::xxh3_64;

use super::answer::PuzzleAnswer;
use super::error::{ApiError, Code};
use super::fields::{Fields, parse_position};

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

/// Length of the name of a day, such as 2026-11-23.
const DAY_NAME: usize = 10;

/// Request for a puzzle: `GET /api/puzzle`.
#[derive(Clone, Debug)]
pub struct PuzzleRequest {
    /// Identifies the puzzle.
    pub key: PuzzleKey,
    day: Option<String>,
    seed: Option<u64>,
}

/// Identity of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PuzzleKey {
    /// The rule set.
    pub rules: Rules,
    /// Start of the games.
    pub start: Position,
    level: Level,
    /// Number of the games.
    number: u64,
}

/// Returns today in Greenwich, as days from 1 January 1970.
pub fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / DAY
}

/// Returns the name of a day, such as 2026-11-23. `day` counts days from 1 January 1970.
///
/// # Panics
/// If the day is after the year 9999.
fn day_name(day: u64) -> String {
    let mut time = format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(DAY * day)).to_string();
    time.truncate(DAY_NAME);
    time
}

/// Returns the days from 1 January 1970 to the day of this name; `None` for other texts.
fn day_number(text: &str) -> Option<u64> {
    let start = parse_rfc3339(&format!("{text}T00:00:00Z")).ok().filter(|_| text.len() == DAY_NAME)?;
    Some(start.duration_since(UNIX_EPOCH).ok()?.as_secs() / DAY)
}

impl PuzzleRequest {
    /// Reads the query. Without a day or a seed it asks for the puzzle of `today`, days after 1 January 1970.
    ///
    /// # Errors
    /// If a field is unknown or wrong.
    pub fn read(query: &str, today: u64) -> Result<PuzzleRequest, ApiError> {
        let mut fields = Fields::of_query(query, &["board", "rules", "level", "day", "seed"])?;
        let board = fields.text("board")?.unwrap_or_else(|| "6x4".to_owned());
        let (start, rules) = (parse_position(&board)?, fields.rules()?);
        let level = fields.text("level")?;
        let level = level.as_deref().unwrap_or("medium").parse();
        let level: Level = level.map_err(|error| ApiError::request(format_args!("'level': {error}")))?;
        let (day, seed) = (fields.text("day")?, fields.typed("seed", "a whole number, 0 or more")?);
        if day.as_deref().is_some_and(|day| day_number(day).is_none()) {
            return Err(ApiError::request("'day' must be a day such as 2026-11-23"));
        }
        let (day, number) = match (day, seed) {
            (Some(_), Some(_)) => return Err(ApiError::new(Code::Conflict, "give 'day' or 'seed', not both")),
            (None, Some(seed)) => (None, seed),
            (day, None) => {
                let day = day.unwrap_or_else(|| day_name(today));
                let number = xxh3_64(day.as_bytes());
                (Some(day), number)
            }
        };
        let key = PuzzleKey { rules, start, level, number };
        Ok(PuzzleRequest { key, day, seed })
    }

    /// Returns the puzzle, if it is one that the program has, so that nobody searches for it.
    pub fn known(&self) -> Option<Puzzle> {
        let PuzzleKey { rules, start, level, number, .. } = self.key;
        if level != Level::Hard || start.to_string() != "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>" {
            return None;
        }
        let all: Vec<Puzzle> = HARD.lines().filter_map(parse_puzzle).filter(|puzzle| puzzle.rules == rules).collect();
        // Days in a row have different puzzles.
        let number = self.day.as_deref().and_then(day_number).unwrap_or(number);
        let index = number.checked_rem(all.len() as u64)?;
        all.into_iter().nth(index as usize)
    }

    /// Returns the answer with the puzzle that was found.
    ///
    /// # Errors
    /// If none was found.
    pub fn answer(self, puzzle: Option<Puzzle>) -> Result<PuzzleAnswer, ApiError> {
        let puzzle = puzzle.ok_or_else(ApiError::no_puzzle)?;
        Ok(PuzzleAnswer { day: self.day, seed: self.seed, ..PuzzleAnswer::from(&puzzle) })
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

impl PuzzleKey {
    /// Maximum seeds of the tables that a search reads.
    pub fn seeds(&self) -> u32 {
        self.start.seeds().min(PUZZLE_SEEDS)
    }

    /// Searches for the first puzzle of the level in the games with this number; `None` if 4000 games have none.
    /// `cancel` is checked between games.
    ///
    /// # Errors
    /// If a table is damaged, or the search was stopped.
    pub fn find(&self, tables: &Tables, cancel: &Cancel) -> Result<Option<Puzzle>, ApiError> {
        let mut search = self.search(tables)?;
        loop {
            if let Some(found) = search.game()? {
                return Ok(found);
            }
            cancel.check()?;
        }
    }

    /// Prepares the search that [`PuzzleKey::find`] does, game by game.
    ///
    /// # Errors
    /// If the tables have another number of pits.
    pub fn search<'t>(&self, tables: &'t Tables) -> Result<PuzzleSearch<'t>, ApiError> {
        let miner = PuzzleMiner::new(tables, self.start, self.number)?.within(0..=PUZZLE_SEEDS);
        Ok(PuzzleSearch { miner, level: self.level, left: GAMES })
    }
}

/// A search for a puzzle.
#[derive(Debug)]
pub struct PuzzleSearch<'t> {
    miner: PuzzleMiner<'t>,
    level: Level,
    /// Number of further games.
    left: usize,
}

impl PuzzleSearch<'_> {
    /// Searches the next game. Returns the end of the search, a puzzle or none; `None` if it goes on.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn game(&mut self) -> Result<Option<Option<Puzzle>>, ApiError> {
        let found = self.miner.game()?.into_iter().find(|puzzle| puzzle.level() == self.level);
        self.left -= 1;
        Ok(if found.is_some() || self.left == 0 { Some(found) } else { None })
    }
}
