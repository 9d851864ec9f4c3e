//! Games as text: read and written.

use kalah_core::game::Pit;
use kalah_play::record::GameRecord;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::fields::Fields;
use super::game;

/// Comment in a game, after a number of moves.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Comment {
    after: usize,
    text: String,
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
    let mut fields = Fields::of_body(body, &["text", "rules"])?;
    if !fields.has("text") {
        return Err(ApiError::Request("'text' is missing; it must be a game as docs/games.md describes it".to_owned()));
    }
    let game = game::read_record(&mut fields)?;
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
    let mut fields = Fields::of_body(body, &["board", "rules", "moves", "south", "north", "headers", "comments"])?;
    let mut game = game::read_record(&mut fields)?;
    for (field, name) in [("south", "South"), ("north", "North")] {
        if let Some(player) = fields.text(field)? {
            game = game.with_header(name, &player);
        }
    }
    let headers: Option<Vec<(String, String)>> = fields.typed("headers", "an array of pairs of strings")?;
    for (name, value) in headers.unwrap_or_default() {
        if !GameRecord::takes_header(&name) {
            let why = "names consist of letters, digits and _, and rules, start and result have fields of their own";
            return Err(ApiError::Request(format!("'{name}' cannot be a header: {why}")));
        }
        game = game.with_header(&name, &value);
    }
    let form = r#"an array of objects such as {"after": 3, "text": "a blunder"}"#;
    let comments: Option<Vec<Comment>> = fields.typed("comments", form)?;
    for Comment { after, text } in comments.unwrap_or_default() {
        // A comment within a turn comes after it.
        let turns = turn_ends(&game).partition_point(|&moves| moves < after);
        game = game.with_comment(turns, &text);
    }
    Ok(WriteAnswer { text: game.to_string() })
}
