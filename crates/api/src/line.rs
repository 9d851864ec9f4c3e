use kalah_core::game::Pit;

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer};
use super::error::MAX_MOVES;
use super::fields::Fields;

/// Answers `GET /api/line`: the positions on a line of play.
///
/// # Errors
/// If the query is not a line of play, or it has too many moves.
pub fn follow_line(query: &str) -> Result<LineAnswer, ApiError> {
    let mut fields = Fields::of_query(query, &["board", "rules", "moves"])?;
    let mut position = fields.position()?;
    let rules = fields.rules()?;
    let moves = fields.text("moves")?.unwrap_or_default();
    let moves: Vec<&str> = moves.split(',').filter(|text| !text.is_empty()).collect();
    if moves.len() > MAX_MOVES {
        return Err(ApiError::Line(format!("the line has {} moves, but the limit is {MAX_MOVES}", moves.len())));
    }
    let (mut first, mut places) = (true, Vec::new());
    for (index, text) in moves.into_iter().enumerate() {
        let bad = |why: String| ApiError::Line(format!("move {} of the line, '{text}': {why}", index + 1));
        let pit = text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < position.pits());
        let pit = pit.ok_or_else(|| bad(format!("moves are numbers from 1 to {}", position.pits())))?;
        let played = position.play(rules, pit).map_err(|error| bad(error.to_string()))?;
        let sown = MoveEffects::new(rules, &position, pit, &played);
        let (r#move, sown) = (Some(pit.number()), Some(sown));
        places.push(PlaceAnswer { position: position.to_string(), first, r#move, sown });
        (position, first) = (played.position, first == played.again);
    }
    places.push(PlaceAnswer { position: position.to_string(), first, r#move: None, sown: None });
    Ok(LineAnswer { rules: rules.name(), places })
}
