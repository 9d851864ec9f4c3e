use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::api::{self, Service};
use super::error::{ApiError, MAX_BYTES};
use super::page;

/// Headers of every answer: the page loads nothing from elsewhere and is shown in no other one, and nothing is kept.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// Which request goes where.
pub(super) fn routes(service: Arc<Service>) -> Router {
    let mut routes = Router::new()
        .route("/api", get(api::server))
        .route("/api/tables", get(api::tables))
        .route("/api/position", get(api::position))
        .route("/api/line", get(api::line))
        .route("/api/move", post(api::choose));
    for file in page::FILES {
        let serve = move || async move { ([(header::CONTENT_TYPE, file.kind)], file.text) };
        routes = routes.route(file.path, get(serve));
    }
    routes
        .fallback(|uri: Uri| async move { ApiError::NotFound(uri.path().chars().take(100).collect()) })
        .method_not_allowed_fallback(|method: Method| async move { ApiError::Method(method.to_string()) })
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .layer(middleware::from_fn(guard))
        .with_state(service)
}

/// What holds for every request and every answer.
async fn guard(request: Request, next: Next) -> Response {
    let long = request.uri().path_and_query().is_some_and(|address| address.as_str().len() > MAX_BYTES);
    let mut response = if long { ApiError::LongAddress.into_response() } else { next.run(request).await };
    response.headers_mut().extend(HEADERS);
    response
}
