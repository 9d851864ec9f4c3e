use kalah_core::game::{IllegalMove, Pit, Place, Position, Rules};

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer};
use super::error::MAX_MOVES;
use super::fields::{Fields, parse_position};

/// Answers `GET /api/line`: the positions on a line of play.
///
/// # Errors
/// If the query is not a line of play, or it has too many moves.
pub fn follow_line(query: &str) -> Result<LineAnswer, ApiError> {
    let mut fields = Fields::of_query(query, &["board", "rules", "moves"])?;
    let (start, rules) = (fields.position()?, fields.rules()?);
    let moves = fields.moves(start.pits())?;
    line(rules, &start, &moves).map_err(|(index, error)| ApiError::of_move(index, moves[index], error))
}

/// Follows a line of play from the text of a position, by moves with commas between them; `None` if a text is wrong or
/// a move is not legal.
pub fn follow_moves(rules: Rules, board: &str, moves: &str) -> Option<LineAnswer> {
    let start = parse_position(board).ok()?;
    let pit = |text: &str| text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < start.pits());
    let moves: Vec<Pit> = moves.split(',').filter(|text| !text.is_empty()).map(pit).collect::<Option<_>>()?;
    if moves.len() > MAX_MOVES { None } else { line(rules, &start, &moves).ok() }
}

/// Returns the positions on a line; for an illegal move its index and the reason.
fn line(rules: Rules, start: &Position, moves: &[Pit]) -> Result<LineAnswer, (usize, IllegalMove)> {
    let places = Place::all(rules, start, moves)?;
    let pits = moves.iter().copied().map(Some).chain([None]);
    let places = places.into_iter().zip(pits).map(|(Place { position, first, .. }, pit)| PlaceAnswer {
        position: position.to_string(),
        first,
        r#move: pit.map(Pit::number),
        sown: pit.map(|pit| MoveEffects::new(rules, &position, pit)),
    });
    Ok(LineAnswer { rules: rules.name(), places: places.collect() })
}
