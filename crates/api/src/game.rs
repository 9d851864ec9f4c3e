//! Whole games: every position and move of a line of play.

use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Place, Position, Rules};
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer, PositionAnswer};
use super::fields::{moves_of, numbers, of_body, parsed, position, position_of, read_moves, read_query, seconds};
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GameFields {
    #[serde(deserialize_with = "position")]
    board: Position,
    #[serde(default, deserialize_with = "parsed")]
    rules: Rules,
    #[serde(default)]
    moves: Vec<usize>,
    #[serde(default, deserialize_with = "seconds")]
    time: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFields {
    #[serde(deserialize_with = "position")]
    board: Position,
    #[serde(default, deserialize_with = "parsed")]
    rules: Rules,
    #[serde(default)]
    moves: String,
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
        let GameFields { board, rules, moves, time } = of_body(body)?;
        let moves = read_moves(board.pits(), moves.into_iter().map(Some))?;
        let places = Place::all(rules, &board, &moves).map_err(ApiError::of_move)?;
        Ok(GameRequest { rules, answers: vec![None; places.len()], places, moves, time })
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
        let (Place { position, first, .. }, pit) = (self.places[index], self.moves.get(index).copied());
        let sown = pit.map(|pit| MoveEffects::new(self.rules, &position, pit));
        let place = GamePlace { index, known: known.without_sowing(), first, r#move: pit.map(Pit::number), sown };
        self.answers[index] = Some(place.clone());
        place
    }

    /// Positions that are not answered. The first one has the most seeds in play.
    pub fn unanswered(&self) -> Vec<Position> {
        let places = self.places.iter().zip(&self.answers);
        places.filter(|(_, answer)| answer.is_none()).map(|(place, _)| place.position).collect()
    }

    /// Searches the last place that is not answered, within `time` after the solver is made; `None` if all are. Proved
    /// results of later positions help with earlier ones.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search_next(
        &mut self,
        searcher: &mut Searcher<'_>,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<Option<GamePlace>, ApiError> {
        let Some(index) = self.answers.iter().rposition(Option::is_none) else { return Ok(None) };
        searcher.solver(self.rules, &self.unanswered()[0], cancel)?;
        let known = searcher.search(self.rules, &self.places[index].position, &cancel.within(time))?;
        Ok(Some(self.answered(index, known)))
    }

    /// Returns the answer about the whole game.
    pub fn answer(self) -> GameAnswer {
        GameAnswer { rules: self.rules.name(), places: self.answers.into_iter().flatten().collect() }
    }
}

/// Answers `GET /api/line`: the positions on a line of play.
///
/// # Errors
/// If the query is not a line of play, or it has too many moves.
pub fn follow_line(query: &str) -> Result<LineAnswer, ApiError> {
    let LineFields { board, rules, moves } = read_query(query)?;
    let moves = read_moves(board.pits(), numbers(&moves))?;
    Ok(line(rules, &moves, Place::all(rules, &board, &moves).map_err(ApiError::of_move)?))
}

/// Follows a line of play from the text of a position, by moves with commas between them; `None` if a text is wrong or
/// a move is not legal.
pub fn follow_moves(rules: Rules, board: &str, moves: &str) -> Option<LineAnswer> {
    let start = position_of(board)?;
    let moves = moves_of(start.pits(), numbers(moves))?;
    Some(line(rules, &moves, Place::all(rules, &start, &moves).ok()?))
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
