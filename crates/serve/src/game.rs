//! Whole games: every position and move of a line of play, in one answer or streamed.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use kalah_core::game::{Pit, Position, Rules};
use kalah_play::record::{GameRecord, read_game};
use kalah_solve::analyse::Tally;
use serde::Serialize;

use super::answer::{PositionAnswer, Sown};
use super::api::{Service, read_position, read_rules};
use super::events::{self, Sender};
use super::fields::Fields;
use super::searches::Reads;
use super::{ApiError, error::MAX_MOVES};

/// Default time to search a position.
const TIME: Duration = Duration::from_millis(200);

/// Position of a game, and the move made there.
#[derive(Clone, Serialize)]
struct PlaceAnswer {
    #[serde(flatten)]
    known: PositionAnswer,
    /// True if South is to move.
    first: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#move: Option<usize>,
    #[serde(flatten)]
    sown: Option<Sown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<i64>,
}

/// Position in a stream.
#[derive(Serialize)]
struct PlaceEvent {
    index: usize,
    #[serde(flatten)]
    place: PlaceAnswer,
}

/// Summary of a side's moves, as far as they are evaluated exactly.
#[derive(Clone, Copy, Serialize)]
struct SideAnswer {
    moves: u32,
    best: u32,
    inaccuracies: u32,
    blunders: u32,
    lost: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
}

#[derive(Serialize)]
struct SidesAnswer {
    south: SideAnswer,
    north: SideAnswer,
}

#[derive(Serialize)]
struct GameAnswer {
    rules: &'static str,
    line: String,
    places: Vec<PlaceAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<[u32; 2]>,
    sides: SidesAnswer,
}

/// Position on a line, before it is evaluated.
#[derive(Clone, Copy)]
struct PlayedPlace {
    position: Position,
    first: bool,
    /// Move made there.
    pit: Option<Pit>,
}

/// Returns the places of a game.
fn places(game: &GameRecord) -> Vec<PlayedPlace> {
    let (mut position, mut first) = (game.start, true);
    let mut places = Vec::new();
    for pit in game.moves() {
        places.push(PlayedPlace { position, first, pit: Some(pit) });
        let played = position.play(game.rules, pit).expect("the moves were checked");
        (position, first) = (played.position, first == played.again);
    }
    places.push(PlayedPlace { position, first, pit: None });
    places
}

impl PlayedPlace {
    /// Returns the answer for this place.
    fn answer(&self, rules: Rules, known: PositionAnswer) -> PlaceAnswer {
        let pit = self.pit.map(Pit::number);
        let lost = pit.and_then(|pit| Some(known.value()? - known.move_value(pit)?));
        let sown = self.pit.and_then(|pit| {
            let played = self.position.play(rules, pit).ok()?;
            Some(Sown::new(rules, &self.position, pit, &played))
        });
        PlaceAnswer { known: known.without_sowing(), first: self.first, r#move: pit, sown, lost }
    }
}

impl SideAnswer {
    /// Returns the summary of the first or the second player.
    fn new(places: &[PlaceAnswer], first: bool) -> SideAnswer {
        let mut tally = Tally::default();
        for place in places.iter().filter(|place| place.first == first && place.known.move_count() > 1) {
            if let (Some(value), Some(lost)) = (place.known.value(), place.lost) {
                tally.add(value, value - lost);
            }
        }
        SideAnswer {
            moves: tally.evaluated,
            best: tally.best,
            inaccuracies: tally.inaccuracies + tally.mistakes,
            blunders: tally.blunders,
            lost: tally.lost,
            accuracy: tally.accuracy(),
        }
    }
}

impl Service {
    /// Evaluates all places of a game, and reports each as soon as it is evaluated.
    async fn game(
        self: Arc<Service>,
        game: GameRecord,
        time: Duration,
        report: impl Fn(usize, &PlaceAnswer) + Send + Sync + 'static,
    ) -> Result<GameAnswer, ApiError> {
        let (rules, places) = (game.rules, places(&game));
        let report = Arc::new(report);
        let mut answers: Vec<Option<PlaceAnswer>> = vec![None; places.len()];
        for (index, place) in places.iter().enumerate() {
            if let Some(known) = self.at_once(rules, place.position).await? {
                let answer = place.answer(rules, known);
                report(index, &answer);
                answers[index] = Some(answer);
            }
        }
        let open: Vec<(usize, PlayedPlace)> =
            (0..).zip(places.iter().copied()).filter(|(i, _)| answers[*i].is_none()).collect();
        if let Some(&(_, largest)) = open.first() {
            let report = Arc::clone(&report);
            // One more period, to make the solver.
            let all = time.saturating_mul(open.len() as u32 + 1);
            let reads = Reads::of(rules, &largest.position);
            let search = self.searches.run(reads, all, move |searcher, cancel| {
                searcher.prepare(rules, &largest.position, cancel)?;
                let mut found = Vec::new();
                // Proved results of later positions help with earlier ones.
                for (index, place) in open.into_iter().rev() {
                    let analysis = searcher.analyse(rules, &place.position, &cancel.within(time))?;
                    let known = PositionAnswer::searched(rules, &place.position, &analysis);
                    let answer = place.answer(rules, known);
                    reads.require_whole(searcher.shelf())?;
                    report(index, &answer);
                    found.push((index, answer));
                }
                Ok(found)
            });
            for (index, answer) in search.await? {
                answers[index] = Some(answer);
            }
        }
        let places: Vec<PlaceAnswer> = answers.into_iter().flatten().collect();
        let sides = SidesAnswer { south: SideAnswer::new(&places, true), north: SideAnswer::new(&places, false) };
        let result = GameRecord::new(rules, game.start, game.line.clone()).ok().and_then(|game| game.result);
        Ok(GameAnswer { rules: rules.name(), line: game.line.to_string(), places, result, sides })
    }
}

/// Reads the game of a body, given as text or as single moves.
pub(super) fn read(fields: &mut Fields) -> Result<GameRecord, ApiError> {
    if let Some(text) = fields.text("text")? {
        for other in ["board", "rules", "moves"] {
            if fields.has(other) {
                return Err(ApiError::Request(format!("give 'text' or '{other}', not both: a text contains it")));
            }
        }
        let game = read_game(&text)?;
        fits(&game)?;
        return Ok(game);
    }
    let start = read_position(&fields.board()?)?;
    let rules = read_rules(fields)?;
    let mut moves = Vec::new();
    for (index, text) in fields.moves()?.into_iter().enumerate() {
        let pit = text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < start.pits());
        let why = || format!("move {} of the line, '{text}': moves are numbers from 1 to {}", index + 1, start.pits());
        moves.push(pit.ok_or_else(|| ApiError::Line(why()))?);
    }
    let game = GameRecord::of_moves(rules, start, &moves).map_err(|(index, error)| {
        ApiError::Line(format!("move {} of the line, '{}': {error}", index + 1, moves[index]))
    })?;
    fits(&game)?;
    Ok(game)
}

/// Checks that a game is not too large.
fn fits(game: &GameRecord) -> Result<(), ApiError> {
    let moves = game.line.turns().iter().map(Vec::len).sum::<usize>();
    if moves > MAX_MOVES {
        return Err(ApiError::Line(format!("the game has {moves} moves, but the limit is {MAX_MOVES}")));
    }
    read_position(&game.start.to_string()).map(drop)
}

/// `POST /api/game`
pub(super) async fn game(State(service): State<Arc<Service>>, headers: HeaderMap, body: Bytes) -> Response {
    let read = || {
        let mut fields = Fields::of_body(&body, &["board", "rules", "moves", "text", "time"])?;
        let game = read(&mut fields)?;
        let time = service.time_or(&mut fields, TIME, service.time)?;
        Ok::<_, ApiError>((game, time))
    };
    let (game, time) = match read() {
        Ok(read) => read,
        Err(error) => return error.into_response(),
    };
    let shared = Arc::clone(&service);
    if events::wanted(&headers) {
        return events::stream(move |sender: Sender| async move {
            let report =
                move |index, place: &PlaceAnswer| sender.send("place", &PlaceEvent { index, place: place.clone() });
            let answer = Arc::clone(&shared).game(game, time, report).await;
            shared.report(answer)
        });
    }
    service.report(shared.game(game, time, |_, _| ()).await).map(Json).into_response()
}
