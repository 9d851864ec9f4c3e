//! Whole games: every position and move of a line of play.

use std::time::Duration;

use kalah_analyse::{QualityTally, seeds_lost};
use kalah_core::cancel::Cancel;
use kalah_core::game::{IllegalMove, Pit, Place, Position, Rules};
use kalah_play::record::{GameRecord, read_game};
use serde::Serialize;

use super::ApiError;
use super::answer::{LineAnswer, MoveEffects, PlaceAnswer, PositionAnswer, SideAnswer};
use super::error::MAX_MOVES;
use super::fields::{Fields, parse_position};
use super::searcher::Searcher;

/// Position of a game, and the move made there.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GamePlace {
    #[serde(flatten)]
    known: PositionAnswer,
    /// True if South is to move.
    first: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#move: Option<usize>,
    #[serde(flatten)]
    sown: Option<MoveEffects>,
    /// Seeds that the move lost, if it is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds_lost: Option<i64>,
}

impl GamePlace {
    /// Returns the values of the position and of the move, if both are exact.
    fn values(&self) -> Option<(i64, i64)> {
        Some((self.known.value()?, self.known.move_value(self.r#move?)?))
    }
}

/// Position in a stream.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlaceEvent {
    index: usize,
    #[serde(flatten)]
    place: GamePlace,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SidesAnswer {
    south: SideAnswer,
    north: SideAnswer,
}

/// Answer about a game.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameAnswer {
    rules: &'static str,
    line: String,
    places: Vec<GamePlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<[u32; 2]>,
    sides: SidesAnswer,
}

/// Returns the summary of the first or the second player.
fn side(places: &[GamePlace], first: bool) -> SideAnswer {
    let mut tally = QualityTally::default();
    for place in places.iter().filter(|place| place.first == first && place.known.move_count() > 1) {
        if let Some((value, after)) = place.values() {
            tally.add(value, after);
        }
    }
    (&tally).into()
}

/// Request about a game: `POST /api/game`.
#[derive(Debug)]
pub struct GameRequest {
    game: GameRecord,
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
        let mut fields = Fields::of_body(body, &["board", "rules", "moves", "text", "time"])?;
        let game = read_record(&mut fields)?;
        let moves = game.moves();
        let places = Place::all(game.rules, &game.start, &moves).expect("the moves were checked");
        Ok(GameRequest { answers: vec![None; places.len()], game, places, moves, time: fields.time()? })
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.game.rules
    }

    /// The first position, which has the most seeds in play.
    pub fn start(&self) -> Position {
        self.game.start
    }

    /// Answers about all places that `known` answers, and reports each.
    ///
    /// # Errors
    /// Those of `known`.
    pub fn answer_at_once(
        &mut self,
        mut known: impl FnMut(Rules, &Position) -> Result<Option<PositionAnswer>, ApiError>,
        mut report: impl FnMut(PlaceEvent),
    ) -> Result<(), ApiError> {
        for (index, place) in self.places.iter().enumerate() {
            if let Some(known) = known(self.game.rules, &place.position)? {
                let place = self.place(index, known);
                report(PlaceEvent { index, place: place.clone() });
                self.answers[index] = Some(place);
            }
        }
        Ok(())
    }

    /// Returns the answer for a place whose position has this answer.
    fn place(&self, index: usize, known: PositionAnswer) -> GamePlace {
        let (Place { position, first, .. }, pit) = (self.places[index], self.moves.get(index));
        let r#move = pit.map(|pit| pit.number());
        let sown = pit.map(|&pit| MoveEffects::new(self.game.rules, &position, pit));
        let mut place = GamePlace { known: known.without_sowing(), first, r#move, sown, seeds_lost: None };
        place.seeds_lost = place.values().map(|(value, after)| seeds_lost(value, after));
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
    pub fn search_next(
        &mut self,
        searcher: &mut Searcher<'_>,
        cancel: &Cancel,
    ) -> Result<Option<PlaceEvent>, ApiError> {
        let Some(index) = self.answers.iter().rposition(Option::is_none) else { return Ok(None) };
        let (rules, position) = (self.game.rules, self.places[index].position);
        let analysis = searcher.analyse(rules, &position, cancel)?;
        let place = self.place(index, PositionAnswer::searched(rules, &position, &analysis));
        self.answers[index] = Some(place.clone());
        Ok(Some(PlaceEvent { index, place }))
    }

    /// Returns the answer about the whole game.
    pub fn answer(self) -> GameAnswer {
        let GameRequest { game, answers, .. } = self;
        let places: Vec<GamePlace> = answers.into_iter().flatten().collect();
        let sides = SidesAnswer { south: side(&places, true), north: side(&places, false) };
        let line = game.line.to_string();
        let result = GameRecord::new(game.rules, game.start, game.line).ok().and_then(|game| game.result);
        GameAnswer { rules: game.rules.name(), line, places, result, sides }
    }
}

/// Reads the game of a body, given as single moves or as text, which may name other rules.
pub(crate) fn read_record(fields: &mut Fields) -> Result<GameRecord, ApiError> {
    if let Some(text) = fields.text("text")? {
        for other in ["board", "moves"] {
            if fields.has(other) {
                return Err(ApiError::Conflict("text", other));
            }
        }
        let game = read_game(&text, fields.rules()?)?;
        let moves = game.line.turns().iter().map(Vec::len).sum::<usize>();
        if moves > MAX_MOVES {
            return Err(ApiError::Line(format!("the game has {moves} moves, but the limit is {MAX_MOVES}")));
        }
        parse_position(&game.start.to_string())?;
        return Ok(game);
    }
    let start = fields.position()?;
    let rules = fields.rules()?;
    let moves = fields.moves(start.pits())?;
    GameRecord::of_moves(rules, start, &moves).map_err(|(index, error)| ApiError::of_move(index, moves[index], error))
}

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
