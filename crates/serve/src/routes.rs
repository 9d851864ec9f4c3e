use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use kalah_api::{ApiError, Code};
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use super::api::{self, Refusal};
use super::service::Service;
use super::{hosts, page};

/// Maximum bytes of a request's address.
const MAX_ADDRESS: usize = 8192;

/// Maximum bytes of a request's body: that of 1000 positions, or of a long game.
const MAX_BODY: usize = 64 << 10;

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

/// Routes requests. Each has the address at which it arrived among its extensions.
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
        .fallback(|address: Uri| async move {
            let shown: String = address.path().chars().take(100).collect();
            let why = format_args!("there is nothing at {shown}; docs/api.md lists the addresses");
            Refusal(ApiError::new(Code::NotFound, why))
        })
        .method_not_allowed_fallback(|method: Method| async move {
            Refusal(ApiError::new(Code::Method, format_args!("this address does not allow the method {method}")))
        })
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
    Extension(local): Extension<IpAddr>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_api = path == "/api" || path.starts_with("/api/");
    let mut response = match hosts::check(&service.options.hosts, local, &request, is_api) {
        Ok(()) => next.run(request).await,
        Err(error) => Refusal(error).into_response(),
    };
    if response.status() == StatusCode::NOT_ACCEPTABLE {
        let why = "the client accepts neither gzip nor uncompressed documents";
        response = Refusal(ApiError::new(Code::Encoding, why)).into_response();
    }
    if let Some(error) = response.extensions().get() {
        service.options.report(error);
    }
    // `extend` would keep those that the answer has already, such as that of a stream.
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Answers a request once it has arrived completely.
async fn receive(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    match whole(request, service.options.patience).await {
        Ok(request) => next.run(request).await,
        Err(error) => Refusal(error).into_response(),
    }
}

/// Returns the error of an address that is too long.
pub(super) fn long_address() -> ApiError {
    ApiError::new(Code::LongAddress, format_args!("the address has more than {MAX_ADDRESS} bytes"))
}

/// Returns the error of a request that does not arrive in time.
pub(super) fn late() -> ApiError {
    ApiError::new(Code::Timeout, "the request took too long to arrive")
}

/// Reads the body of a request within `patience`.
async fn whole(request: Request, patience: Duration) -> Result<Request, ApiError> {
    if request.uri().path_and_query().is_some_and(|address| address.as_str().len() > MAX_ADDRESS) {
        return Err(long_address());
    }
    let large = || ApiError::new(Code::LargeBody, format_args!("the body has more than {MAX_BODY} bytes"));
    if request.body().size_hint().lower() > MAX_BODY as u64 {
        return Err(large());
    }
    let (parts, body) = request.into_parts();
    let mut limited = Request::from_parts(parts.clone(), body);
    DefaultBodyLimit::max(MAX_BODY).apply(&mut limited);
    let read = Bytes::from_request(limited, &());
    let body = timeout(patience, read).await.map_err(|_| late())?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => large(),
        _ => ApiError::request("the body does not match its headers"),
    })?;
    Ok(Request::from_parts(parts, Body::from(body)))
}
