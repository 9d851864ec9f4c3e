//! Games as text: read and written.

use kalah_core::game::{Pit, Position, Rules};
use kalah_play::record::{GameRecord, read_game};
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::fields::{MAX_MOVES, of_body, parse_position, parsed, position, read_moves};

/// Game that was read.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadAnswer {
    rules: &'static str,
    board: String,
    moves: Vec<usize>,
    headers: Vec<(String, String)>,
}

/// Game that was written.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteAnswer {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFields {
    text: String,
    #[serde(default, deserialize_with = "parsed")]
    rules: Rules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFields {
    #[serde(deserialize_with = "position")]
    board: Position,
    #[serde(default, deserialize_with = "parsed")]
    rules: Rules,
    #[serde(default)]
    moves: Vec<usize>,
    #[serde(default)]
    headers: Vec<(String, String)>,
}

/// Answers `POST /api/text/read`.
///
/// # Errors
/// If the body has no text, the text is not a game, or the game is too long.
pub fn read_text(body: &[u8]) -> Result<ReadAnswer, ApiError> {
    let ReadFields { text, rules } = of_body(body)?;
    let game = read_game(&text, rules).map_err(ApiError::request)?;
    let board = game.start.to_string();
    parse_position(&board).map_err(ApiError::request)?;
    let moves: Vec<usize> = game.moves().into_iter().map(Pit::number).collect();
    if moves.len() > MAX_MOVES {
        return Err(ApiError::request(format_args!("the game has more than {MAX_MOVES} moves")));
    }
    Ok(ReadAnswer { rules: game.rules.name(), board, moves, headers: game.headers })
}

/// Answers `POST /api/text/write`.
///
/// # Errors
/// If the body is not a game with valid headers.
pub fn write_text(body: &[u8]) -> Result<WriteAnswer, ApiError> {
    let WriteFields { board, rules, moves, headers } = of_body(body)?;
    let moves = read_moves(board.pits(), moves.into_iter().map(Some))?;
    let mut game = GameRecord::of_moves(rules, board, &moves).map_err(ApiError::of_move)?;
    for (name, value) in headers {
        if !GameRecord::takes_header(&name) {
            return Err(ApiError::request(format_args!("'{name}' cannot be a header")));
        }
        game = game.with_header(&name, &value);
    }
    Ok(WriteAnswer { text: game.to_string() })
}
