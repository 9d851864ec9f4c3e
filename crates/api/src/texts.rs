//! Games as text: read and written.

use kalah_core::game::Pit;
use kalah_play::record::{GameRecord, read_game};
use serde::Serialize;

use super::error::{ApiError, Code};
use super::fields::{Fields, MAX_MOVES, parse_position};

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

/// Answers `POST /api/text/read`.
///
/// # Errors
/// If the body has no text, the text is not a game, or the game is too long.
pub fn read_text(body: &[u8]) -> Result<ReadAnswer, ApiError> {
    let mut fields = Fields::of_body(body, &["text", "rules"])?;
    let text = fields.text("text")?;
    let text = text.ok_or_else(|| ApiError::request("'text' is missing; it must be a game as docs/games.md has it"))?;
    let game = read_game(&text, fields.rules()?)?;
    let moves: Vec<usize> = game.moves().into_iter().map(Pit::number).collect();
    if moves.len() > MAX_MOVES {
        let why = format_args!("the game has {} moves, but the limit is {MAX_MOVES}", moves.len());
        return Err(ApiError::new(Code::Line, why));
    }
    let board = parse_position(&game.start.to_string())?.to_string();
    Ok(ReadAnswer { rules: game.rules.name(), board, moves, headers: game.headers })
}

/// Answers `POST /api/text/write`.
///
/// # Errors
/// If the body is not a game with valid headers.
pub fn write_text(body: &[u8]) -> Result<WriteAnswer, ApiError> {
    let mut fields = Fields::of_body(body, &["board", "rules", "moves", "headers"])?;
    let (start, rules) = (fields.position()?, fields.rules()?);
    let moves = fields.moves(start.pits())?;
    let game = GameRecord::of_moves(rules, start, &moves);
    let mut game = game.map_err(|(index, error)| ApiError::of_move(index, moves[index], error))?;
    let headers: Option<Vec<(String, String)>> = fields.typed("headers", "an array of pairs of strings")?;
    for (name, value) in headers.unwrap_or_default() {
        if !GameRecord::takes_header(&name) {
            let why = "names consist of letters, digits and _, and rules, start and result have fields of their own";
            return Err(ApiError::request(format_args!("'{name}' cannot be a header: {why}")));
        }
        game = game.with_header(&name, &value);
    }
    Ok(WriteAnswer { text: game.to_string() })
}
