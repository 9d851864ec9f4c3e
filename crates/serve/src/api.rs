//! The handlers of requests, and responses to requests that have no answer.

use std::time::{Duration, Instant, SystemTime};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use kalah_api::answer::{
    ExplorerAnswer, LineAnswer, MoveAnswer, PositionAnswer, PuzzleAnswer, SearchAnswer, ServerAnswer, TablesAnswer,
};
use kalah_api::{
    ApiError, Code, ErrorAnswer, GameAnswer, GamePlace, GameRequest, MoveRequest, PositionRequest, PositionsAnswer,
    PositionsRequest, PuzzleRequest, ReadAnswer, WriteAnswer, read_query,
};

use super::events;
use super::options::Options;
use super::searches::{NeededTables, Service};

/// Default time to search a position of a game.
const GAME_TIME: Duration = Duration::from_millis(200);

type Shared = State<&'static Service>;
type ApiResult<T> = Result<Json<T>, Refusal>;

fn query(address: &Uri) -> &str {
    address.query().unwrap_or_default()
}

/// `GET /api`
pub(super) async fn server(State(service): Shared) -> Json<ServerAnswer> {
    let Options { books, time, stream_time, .. } = service.options;
    Json(ServerAnswer::new(books, *time, *stream_time, service.options.searches))
}

/// `GET /api/openapi.json`
pub(super) async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}

/// `GET /api/tables`
pub(super) async fn tables(State(service): Shared) -> ApiResult<TablesAnswer> {
    let listing = service.read(|sources| sources.all_tables.list().map_err(ApiError::failed));
    Ok(Json((&listing.await?).into()))
}

/// `GET /api/position`
pub(super) async fn position(State(service): Shared, address: Uri) -> ApiResult<PositionAnswer> {
    let PositionRequest { rules, position, time } = read_query(query(&address))?;
    if let Some(answer) = service.read(move |sources| sources.at_once(rules, &position)).await? {
        return Ok(Json(answer));
    }
    let search = service.searches.begin(NeededTables::of(rules, &position), service.time(time), {
        move |searcher, cancel| searcher.search(rules, &position, cancel)
    });
    Ok(Json(search.await?.await?))
}

/// `POST /api/positions`
pub(super) async fn positions(State(service): Shared, body: Bytes) -> ApiResult<PositionsAnswer> {
    let request = PositionsRequest::read(&body)?;
    Ok(Json(service.read(move |sources| Ok(request.answer(sources))).await?))
}

/// `GET /api/search`
pub(super) async fn search(State(service): Shared, address: Uri) -> Result<Response, Refusal> {
    let PositionRequest { rules, position, time } = read_query(query(&address))?;
    let (start, time) = (Instant::now(), time.unwrap_or(service.options.time).min(service.options.stream_time));
    let (sender, events) = events::channel();
    if let Some(known) = service.read(move |sources| sources.at_once(rules, &position)).await? {
        let answer = SearchAnswer::at_once(known, start.elapsed().as_secs_f64());
        return Ok(events::respond(service, sender, events, async { Ok(answer) }));
    }
    let progress = sender.clone();
    let search = service.searches.begin(NeededTables::of(rules, &position), time, move |searcher, cancel| {
        let report = move |answer| progress.send("progress", &answer);
        pollster::block_on(searcher.begin(rules, &position, cancel)?.run(report))
    });
    Ok(events::respond(service, sender, events, search.await?))
}

/// `GET /api/book`
pub(super) async fn book(State(service): Shared, address: Uri) -> ApiResult<ExplorerAnswer> {
    let PositionRequest { rules, position, .. } = read_query(query(&address))?;
    Ok(Json(service.read(move |sources| sources.recall(rules, &position)).await?))
}

/// `GET /api/line`
pub(super) async fn line(address: Uri) -> ApiResult<LineAnswer> {
    Ok(Json(kalah_api::follow_line(query(&address))?))
}

/// `POST /api/move`
pub(super) async fn choose(State(service): Shared, body: Bytes) -> ApiResult<MoveAnswer> {
    let request = MoveRequest::read(&body)?;
    let (quick, time) = (request.clone(), service.time(request.time));
    if let Some(answer) = service.read(move |sources| quick.at_once(sources, time)).await? {
        return Ok(Json(answer));
    }
    let needed = NeededTables::of(request.rules, &request.position);
    let search = service.searches.begin(needed, time, move |searcher, cancel| {
        let player = request.player(searcher, cancel)?;
        pollster::block_on(request.search(Duration::MAX, player, cancel))
    });
    Ok(Json(search.await?.await?))
}

/// `POST /api/game`
pub(super) async fn game(State(service): Shared, headers: HeaderMap, body: Bytes) -> Result<Response, Refusal> {
    let game = GameRequest::read(&body)?;
    if events::wanted(&headers) {
        let (sender, events) = events::channel();
        let places = sender.clone();
        let answer = evaluate(service, game, move |place| places.send("place", &place));
        return Ok(events::respond(service, sender, events, answer));
    }
    Ok(Json(evaluate(service, game, |_| ()).await?).into_response())
}

/// Evaluates all places of a game, and reports each as soon as it is evaluated.
async fn evaluate(
    service: &'static Service,
    mut game: GameRequest,
    report: impl Fn(GamePlace) + Clone + Send + Sync + 'static,
) -> Result<GameAnswer, ApiError> {
    let (rules, time) = (game.rules, game.time.unwrap_or(GAME_TIME).min(service.options.time));
    let reported = report.clone();
    let known = service.read(move |sources| {
        game.answer_at_once(|rules, position| sources.at_once(rules, position), reported)?;
        Ok(game)
    });
    let mut game = known.await?;
    let unanswered = game.unanswered();
    if let Some(&largest) = unanswered.first() {
        // One more period, to make the solver.
        let all = time.saturating_mul(unanswered.len() as u32 + 1);
        let search = service.searches.begin(NeededTables::of(rules, &largest), all, move |searcher, cancel| {
            while let Some(place) = game.search_next(searcher, time, cancel)? {
                report(place);
            }
            Ok(game)
        });
        game = search.await?.await?;
    }
    Ok(game.answer())
}

/// `POST /api/text/read`
pub(super) async fn read_text(body: Bytes) -> ApiResult<ReadAnswer> {
    Ok(Json(kalah_api::read_text(&body)?))
}

/// `POST /api/text/write`
pub(super) async fn write_text(body: Bytes) -> ApiResult<WriteAnswer> {
    Ok(Json(kalah_api::write_text(&body)?))
}

/// `GET /api/puzzle`
pub(super) async fn puzzle(State(service): Shared, address: Uri) -> ApiResult<PuzzleAnswer> {
    let request = PuzzleRequest::read(query(&address), SystemTime::now())?;
    if let Some(puzzle) = request.known() {
        return Ok(Json(request.answer(&puzzle)));
    }
    let needed = NeededTables { seeds: request.seeds(), ..NeededTables::of(request.rules, &request.start) };
    // A number of games instead of a time limit, so that everybody gets the same puzzle.
    let search = service.searches.begin(needed, Duration::MAX, move |searcher, cancel| {
        let tables = searcher.sources.all_tables.tables(request.rules, request.start.pits());
        pollster::block_on(request.find(tables, cancel))
    });
    Ok(Json(search.await?.await?))
}

/// Response to a request that has no answer. The error is among its extensions.
pub(super) struct Refusal(pub ApiError);

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Refusal {
        Refusal(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal(error) = self;
        let status = StatusCode::from_u16(error.status()).expect("a status");
        let mut response = (status, Json(ErrorAnswer { error: error.clone() })).into_response();
        if error.code == Code::Busy {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response.extensions_mut().insert(error);
        response
    }
}
