use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use kalah_api::{ApiError, MAX_ADDRESS, MAX_BODY};
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use super::api::{self, Refusal};
use super::service::Service;
use super::slots::Client;
use super::{events, hosts, page};

/// Header that states whose pages may use an answer.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Headers of every answer. The page loads nothing from elsewhere, cannot be shown inside another page, and is not
/// cached.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// Routes requests. Each has a [`Client`] among its extensions.
pub(super) fn routes(service: Arc<Service>) -> Router {
    let mut routes = Router::new()
        .route("/api", get(api::server))
        .route("/api/openapi.json", get(description))
        .route("/api/tables", get(api::tables))
        .route("/api/position", get(api::position))
        .route("/api/positions", post(api::positions))
        .route("/api/search", get(api::search))
        .route("/api/book", get(api::book))
        .route("/api/line", get(api::line))
        .route("/api/move", post(api::choose))
        .route("/api/game", post(api::game))
        .route("/api/text/read", post(api::read_text))
        .route("/api/text/write", post(api::write_text))
        .route("/api/puzzle", get(api::puzzle));
    for file in page::FILES {
        let etag = page::etag(file);
        let serve = get(move |headers: HeaderMap| async move { page::answer(file, &etag, &headers) });
        if file.path == "/" {
            routes = routes.route("/index.html", serve.clone());
        }
        routes = routes.route(file.path, serve);
    }
    // A stream has no end to wait for, and a small document fits into one network packet anyway.
    let compressed = SizeAbove::new(1024).and(DefaultPredicate::new());
    routes
        .fallback(|uri: Uri| async move { Refusal(ApiError::NotFound(uri.path().chars().take(100).collect())) })
        .method_not_allowed_fallback(|method: Method| async move { Refusal(ApiError::Method(method.to_string())) })
        .layer(middleware::from_fn_with_state(Arc::clone(&service), receive))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(middleware::from_fn_with_state(Arc::clone(&service), guard))
        .with_state(service)
}

/// `GET /api/openapi.json`
async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], page::DESCRIPTION)
}

/// Checks the sender of a request, and adds the headers of every answer.
async fn guard(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_api = path == "/api" || path.starts_with("/api/");
    let mut response = match hosts::check(&service.options.hosts, client.local, &request, is_api) {
        Ok(()) => next.run(request).await,
        Err(error) => Refusal(error).into_response(),
    };
    if response.status() == StatusCode::NOT_ACCEPTABLE {
        response = Refusal(ApiError::Encoding).into_response();
    }
    // `extend` would keep those that the answer has already, such as that of a stream.
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Answers a request once it has arrived completely.
async fn receive(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    match whole(request, service.options.patience).await {
        Ok(request) => {
            let work = client.work();
            events::at_work_until_sent(next.run(request).await, work)
        }
        Err(error) => Refusal(error).into_response(),
    }
}

/// Reads the body of a request within `patience`.
async fn whole(request: Request, patience: Duration) -> Result<Request, ApiError> {
    if request.uri().path_and_query().is_some_and(|address| address.as_str().len() > MAX_ADDRESS) {
        return Err(ApiError::LongAddress);
    }
    if request.body().size_hint().lower() > MAX_BODY as u64 {
        return Err(ApiError::LargeBody);
    }
    let (parts, body) = request.into_parts();
    let mut limited = Request::from_parts(parts.clone(), body);
    DefaultBodyLimit::max(MAX_BODY).apply(&mut limited);
    let read = Bytes::from_request(limited, &());
    let body = timeout(patience, read).await.map_err(|_| ApiError::Late)?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::LargeBody,
        _ => ApiError::Request("the body does not match its headers".to_owned()),
    })?;
    Ok(Request::from_parts(parts, Body::from(body)))
}
