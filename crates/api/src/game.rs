//! Whole games: every position and move of a line of play.

use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Place, Position, Rules};
use serde::Serialize;

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer, PositionAnswer};
use super::fields::{Fields, MAX_MOVES, position_of};
use super::searcher::Searcher;

/// Position of a game, and the move made there.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GamePlace {
    /// Number of moves before it.
    index: usize,
    #[serde(flatten)]
    known: PositionAnswer,
    /// True if South is to move.
    first: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#move: Option<usize>,
    #[serde(flatten)]
    sown: Option<MoveEffects>,
}

/// Answer about a game.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameAnswer {
    rules: &'static str,
    places: Vec<GamePlace>,
}

/// Request about a game: `POST /api/game`.
#[derive(Debug)]
pub struct GameRequest {
    /// The rule set.
    pub rules: Rules,
    places: Vec<Place>,
    /// Moves from each place but the last.
    moves: Vec<Pit>,
    /// Answers so far, by place.
    answers: Vec<Option<GamePlace>>,
    /// The requested time for each position.
    pub time: Option<Duration>,
}

impl GameRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or the game is too long.
    pub fn read(body: &[u8]) -> Result<GameRequest, ApiError> {
        let mut fields = Fields::of_body(body, &["board", "rules", "moves", "time"])?;
        let (rules, moves, places) = read_line(&mut fields)?;
        Ok(GameRequest { rules, answers: vec![None; places.len()], places, moves, time: fields.time()? })
    }

    /// The first position, which has the most seeds in play.
    pub fn start(&self) -> Position {
        self.places[0].position
    }

    /// Answers about all places that `known` answers, and reports each.
    ///
    /// # Errors
    /// Those of `known`.
    pub fn answer_at_once(
        &mut self,
        mut known: impl FnMut(Rules, &Position) -> Result<Option<PositionAnswer>, ApiError>,
        mut report: impl FnMut(GamePlace),
    ) -> Result<(), ApiError> {
        for index in 0..self.places.len() {
            if let Some(known) = known(self.rules, &self.places[index].position)? {
                report(self.answered(index, known));
            }
        }
        Ok(())
    }

    /// Keeps and returns the answer for a place whose position has this answer.
    fn answered(&mut self, index: usize, known: PositionAnswer) -> GamePlace {
        let (Place { position, first, .. }, pit) = (self.places[index], self.moves.get(index));
        let r#move = pit.map(|pit| pit.number());
        let sown = pit.map(|&pit| MoveEffects::new(self.rules, &position, pit));
        let place = GamePlace { index, known: known.without_sowing(), first, r#move, sown };
        self.answers[index] = Some(place.clone());
        place
    }

    /// Number of places that are not answered.
    pub fn unanswered(&self) -> u32 {
        self.answers.iter().filter(|answer| answer.is_none()).count() as u32
    }

    /// The first position that is not answered, which has the most seeds in play of all these.
    pub fn first_unanswered(&self) -> Option<Position> {
        let unanswered = self.answers.iter().position(Option::is_none);
        unanswered.map(|index| self.places[index].position)
    }

    /// Searches the last place that is not answered; `None` if all are. Proved results of later positions help with
    /// earlier ones.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search_next(&mut self, searcher: &mut Searcher<'_>, cancel: &Cancel) -> Result<Option<GamePlace>, ApiError> {
        let Some(index) = self.answers.iter().rposition(Option::is_none) else { return Ok(None) };
        let known = searcher.search(self.rules, &self.places[index].position, cancel)?;
        Ok(Some(self.answered(index, known)))
    }

    /// Returns the answer about the whole game.
    pub fn answer(self) -> GameAnswer {
        GameAnswer { rules: self.rules.name(), places: self.answers.into_iter().flatten().collect() }
    }
}

/// Reads rules and moves of a line of play, and plays them.
fn read_line(fields: &mut Fields) -> Result<(Rules, Vec<Pit>, Vec<Place>), ApiError> {
    let (start, rules) = (fields.position()?, fields.rules()?);
    let moves = fields.moves(start.pits())?;
    let places = Place::all(rules, &start, &moves);
    let places = places.map_err(|(index, error)| ApiError::of_move(index, moves[index], error))?;
    Ok((rules, moves, places))
}

/// Answers `GET /api/line`: the positions on a line of play.
///
/// # Errors
/// If the query is not a line of play, or it has too many moves.
pub fn follow_line(query: &str) -> Result<LineAnswer, ApiError> {
    let mut fields = Fields::of_query(query, &["board", "rules", "moves"])?;
    let (rules, moves, places) = read_line(&mut fields)?;
    Ok(line(rules, &moves, places))
}

/// Follows a line of play from the text of a position, by moves with commas between them; `None` if a text is wrong or
/// a move is not legal.
pub fn follow_moves(rules: Rules, board: &str, moves: &str) -> Option<LineAnswer> {
    let start = position_of(board)?;
    let pit = |text: &str| text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < start.pits());
    let moves: Vec<Pit> = moves.split(',').filter(|text| !text.is_empty()).map(pit).collect::<Option<_>>()?;
    let places = (moves.len() <= MAX_MOVES).then(|| Place::all(rules, &start, &moves).ok()).flatten()?;
    Some(line(rules, &moves, places))
}

/// Returns the answer about the places of a line.
fn line(rules: Rules, moves: &[Pit], places: Vec<Place>) -> LineAnswer {
    let pits = moves.iter().copied().map(Some).chain([None]);
    let places = places.into_iter().zip(pits).map(|(Place { position, first, .. }, pit)| PlaceAnswer {
        position: position.to_string(),
        first,
        r#move: pit.map(Pit::number),
        sown: pit.map(|pit| MoveEffects::new(rules, &position, pit)),
    });
    LineAnswer { rules: rules.name(), places: places.collect() }
}
