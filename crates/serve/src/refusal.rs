use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kalah_api::ApiError;

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
