use kalah_core::game::{Pit, Place};

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer};
use super::fields::Fields;

/// Answers `GET /api/line`: the positions on a line of play.
///
/// # Errors
/// If the query is not a line of play, or it has too many moves.
pub fn follow_line(query: &str) -> Result<LineAnswer, ApiError> {
    let mut fields = Fields::of_query(query, &["board", "rules", "moves"])?;
    let (start, rules) = (fields.position()?, fields.rules()?);
    let moves = fields.moves(start.pits())?;
    let places = Place::all(rules, &start, &moves);
    let places = places.map_err(|(index, error)| ApiError::of_move(index, moves[index], error))?;
    let pits = moves.into_iter().map(Some).chain([None]);
    let places = places.into_iter().zip(pits).map(|(Place { position, first, .. }, pit)| PlaceAnswer {
        position: position.to_string(),
        first,
        r#move: pit.map(Pit::number),
        sown: pit.map(|pit| MoveEffects::new(rules, &position, pit)),
    });
    Ok(LineAnswer { rules: rules.name(), places: places.collect() })
}
