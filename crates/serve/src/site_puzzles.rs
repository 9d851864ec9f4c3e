//! Puzzles of a site, found in advance: some of each level, and the puzzles of the coming days.

use kalah_core::game::{Position, StartPosition};
use kalah_solve::analyse::{Level, PuzzleMiner, PuzzleRecord};
use kalah_tables::progress::Pulse;
use kalah_tables::table::Tables;
use serde_json::{Value, json};

use super::day;
use super::puzzle::daily;
use super::site_files::{SiteError, advance};

/// Number of puzzles of each level and board, and of the games to find them.
const PUZZLES: usize = 60;
const GAMES: usize = 3000;

/// Minimum pits of a board with puzzles.
const LEAST_PITS: usize = 3;

/// Returns true if boards with this number of pits have puzzles.
pub(super) fn has_puzzles(pits: usize) -> bool {
    pits >= LEAST_PITS
}

/// Counted steps of the work for one board.
pub(super) fn steps(days: u32) -> u64 {
    (GAMES + Level::ALL.len() * days as usize) as u64
}

/// Returns files with the puzzles of `boards`, from the starts with 4 seeds in each pit, and the number of puzzles.
pub(super) fn puzzles(
    boards: &[Tables],
    days: u32,
    pulse: &Pulse,
) -> Result<(Vec<(String, String)>, usize), SiteError> {
    let (first, mut files, mut all, mut count) = (day::today().saturating_sub(1), Vec::new(), Vec::new(), 0);
    for (number, tables) in boards.iter().enumerate() {
        let (rules, pits) = (tables.rules(), tables.pits());
        let Ok(start) = (StartPosition { pits, seeds: 4 }).position() else { continue };
        let begun = number as u64 * steps(days);
        all.extend(some(tables, start, begun, pulse)?);
        let (daily, found) = of_days(tables, start, first..first + u64::from(days), begun + GAMES as u64, pulse)?;
        files.push((format!("days-{rules}-{pits}.json"), daily.to_string()));
        count += found;
    }
    count += all.len();
    files.push(("puzzles.json".to_owned(), Value::Array(all).to_string()));
    Ok((files, count))
}

/// Finds some puzzles of each level, as far as the tables allow.
fn some(tables: &Tables, start: Position, begun: u64, pulse: &Pulse) -> Result<Vec<Value>, SiteError> {
    let (mut miner, mut counts, mut found) = (PuzzleMiner::new(tables, start, 0), [0; Level::ALL.len()], Vec::new());
    for game in 0..GAMES {
        advance(pulse, begun + game as u64)?;
        for puzzle in miner.game()? {
            let count = &mut counts[Level::ALL.iter().position(|&level| level == puzzle.level()).expect("a level")];
            if *count >= PUZZLES {
                continue;
            }
            *count += 1;
            let mut described = json!(PuzzleRecord::new(&puzzle));
            described["start"] = json!(start.to_string());
            found.push(described);
        }
        if counts.iter().all(|&count| count >= PUZZLES) {
            break;
        }
    }
    Ok(found)
}

/// Finds the puzzles of some days, the same as a server with these tables: of each level up to the first day without
/// a puzzle. Also returns their number.
fn of_days(
    tables: &Tables,
    start: Position,
    days: std::ops::Range<u64>,
    begun: u64,
    pulse: &Pulse,
) -> Result<(Value, usize), SiteError> {
    let mut levels = serde_json::Map::new();
    let (mut count, length) = (0, days.end - days.start);
    for (index, level) in Level::ALL.into_iter().enumerate() {
        let mut found = Vec::new();
        for day in days.clone() {
            let at = begun + index as u64 * length + (day - days.start);
            advance(pulse, at)?;
            match daily(tables, start, level, &day::name(day), &pulse.cancel)? {
                Some(puzzle) => found.push(json!(PuzzleRecord::new(&puzzle))),
                None => break,
            }
        }
        count += found.len();
        levels.insert(level.name().to_owned(), Value::Array(found));
    }
    Ok((json!({ "start": start.to_string(), "first": day::name(days.start), "puzzles": levels }), count))
}
