//! Games as text: read and written.

use kalah_core::game::Pit;
use kalah_play::record::GameRecord;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::fields::{Comment, Moves, of_body, parse_rules};
use super::game::{game_of_moves, game_of_text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFields {
    text: String,
    rules: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFields {
    board: String,
    rules: Option<String>,
    moves: Option<Moves>,
    south: Option<String>,
    north: Option<String>,
    headers: Option<Vec<(String, String)>>,
    comments: Option<Vec<Comment>>,
}

/// Game that was read.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadAnswer {
    rules: &'static str,
    board: String,
    moves: Vec<usize>,
    line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    south: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    north: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<[u32; 2]>,
    headers: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<Comment>,
}

/// Game that was written.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteAnswer {
    text: String,
}

/// Numbers of moves before the first turn, and after each turn.
fn turn_ends(game: &GameRecord) -> Vec<usize> {
    let after = game.line.turns().iter().scan(0, |moves, turn| {
        *moves += turn.len();
        Some(*moves)
    });
    std::iter::once(0).chain(after).collect()
}

/// Answers `POST /api/text/read`.
///
/// # Errors
/// If the body has no text, or the text is not a game.
pub fn read_text(body: &[u8]) -> Result<ReadAnswer, ApiError> {
    let ReadFields { text, rules } = of_body(body)?;
    let game = game_of_text(&text, parse_rules(rules)?)?;
    let ends = turn_ends(&game);
    let header = |name| game.header(name).map(str::to_owned);
    Ok(ReadAnswer {
        rules: game.rules.name(),
        board: game.start.to_string(),
        moves: game.moves().into_iter().map(Pit::number).collect(),
        line: game.line.to_string(),
        south: header("South"),
        north: header("North"),
        result: game.result,
        comments: game
            .comments
            .iter()
            .map(|(turns, text)| Comment { after: ends[*turns], text: text.clone() })
            .collect(),
        headers: game.headers,
    })
}

/// Answers `POST /api/text/write`.
///
/// # Errors
/// If the body is not a game with valid headers and comments.
pub fn write_text(body: &[u8]) -> Result<WriteAnswer, ApiError> {
    let WriteFields { board, rules, moves, south, north, headers, comments } = of_body(body)?;
    let mut game = game_of_moves(&board, parse_rules(rules)?, moves)?;
    for (player, name) in [(south, "South"), (north, "North")] {
        if let Some(player) = player {
            game = game.with_header(name, &player);
        }
    }
    for (name, value) in headers.unwrap_or_default() {
        if !GameRecord::takes_header(&name) {
            let why = "names consist of letters, digits and _, and rules, start and result have fields of their own";
            return Err(ApiError::Request(format!("'{name}' cannot be a header: {why}")));
        }
        game = game.with_header(&name, &value);
    }
    for Comment { after, text } in comments.unwrap_or_default() {
        // A comment within a turn comes after it.
        let turns = turn_ends(&game).partition_point(|&moves| moves < after);
        game = game.with_comment(turns, &text);
    }
    Ok(WriteAnswer { text: game.to_string() })
}
