//! The handlers of requests, and responses to requests that have no answer.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use kalah_api::answer::{
    ExplorerAnswer, LineAnswer, MoveAnswer, PositionAnswer, PuzzleAnswer, ServerAnswer, TablesAnswer,
};
use kalah_api::{
    ApiError, GameRequest, MoveRequest, PositionRequest, PositionsAnswer, PositionsRequest, PuzzleRequest, ReadAnswer,
    WriteAnswer,
};

use super::events;
use super::options::Options;
use super::service::Service;

type Shared = State<Arc<Service>>;
type ApiResult<T> = Result<Json<T>, Refusal>;

fn query(address: &Uri) -> &str {
    address.query().unwrap_or_default()
}

/// `GET /api`
pub(super) async fn server(State(service): Shared) -> Json<ServerAnswer> {
    let Options { books, time, stream_time, .. } = &*service.options;
    Json(ServerAnswer::new(books, time.as_secs_f64(), stream_time.as_secs_f64(), service.searches.count()))
}

/// `GET /api/tables`
pub(super) async fn tables(State(service): Shared) -> ApiResult<TablesAnswer> {
    let listing = service.read(|sources| {
        let listing = sources.all_tables.list();
        listing.map_err(|error| ApiError::Failed(format!("cannot list the directory of the tables: {error}")))
    });
    Ok(Json(service.report(listing.await)?.into()))
}

/// `GET /api/position`
pub(super) async fn position(State(service): Shared, address: Uri) -> ApiResult<PositionAnswer> {
    let request = PositionRequest::read(query(&address))?;
    Ok(Json(service.report(service.position(request).await)?))
}

/// `POST /api/positions`
pub(super) async fn positions(State(service): Shared, body: Bytes) -> ApiResult<PositionsAnswer> {
    let request = PositionsRequest::read(&body)?;
    Ok(Json(service.report(service.positions(request).await)?))
}

/// `GET /api/search`
pub(super) async fn search(State(service): Shared, address: Uri) -> Result<Response, Refusal> {
    let request = PositionRequest::read(query(&address))?;
    Ok(service.report(service.search(request).await)?)
}

/// `GET /api/book`
pub(super) async fn book(State(service): Shared, address: Uri) -> ApiResult<ExplorerAnswer> {
    let request = PositionRequest::read_untimed(query(&address))?;
    Ok(Json(service.report(service.recall(request).await)?))
}

/// `GET /api/line`
pub(super) async fn line(address: Uri) -> ApiResult<LineAnswer> {
    Ok(Json(kalah_api::follow_line(query(&address))?))
}

/// `POST /api/move`
pub(super) async fn choose(State(service): Shared, body: Bytes) -> ApiResult<MoveAnswer> {
    let request = MoveRequest::read(&body)?;
    Ok(Json(service.report(service.choose(request).await)?))
}

/// `POST /api/game`
pub(super) async fn game(State(service): Shared, headers: HeaderMap, body: Bytes) -> Result<Response, Refusal> {
    let game = GameRequest::read(&body)?;
    let shared = Arc::clone(&service);
    if events::wanted(&headers) {
        return Ok(events::stream(move |sender: events::Sender| async move {
            let answer = Arc::clone(&shared).game(game, move |place| sender.send("place", &place)).await;
            shared.report(answer)
        }));
    }
    Ok(service.report(shared.game(game, |_| ()).await).map(Json)?.into_response())
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
    let request = PuzzleRequest::read(query(&address), kalah_api::today())?;
    Ok(Json(service.report(service.puzzle(request).await)?))
}

/// Seconds after which a refused client may repeat its request.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// Response to a request that has no answer.
pub(super) struct Refusal(pub ApiError);

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Refusal {
        Refusal(error)
    }
}

/// Returns the HTTP status of an error.
fn status(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.kind().0).expect("a status")
}

/// Returns a whole response as bytes, for places where no handler can return it. It is the last one on its connection.
pub(super) fn response_text(error: &ApiError) -> String {
    let (status, document) = (status(error), serde_json::json!(error.document()).to_string());
    let length = document.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: \
         close\r\n\r\n{document}"
    )
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal(error) = self;
        let mut response = (status(&error), Json(error.document())).into_response();
        if matches!(error, ApiError::Busy(_) | ApiError::Stopping) {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}
