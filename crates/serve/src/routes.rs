use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use tokio::time::timeout;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

use super::api::{self, Service};
use super::assets::Asset;
use super::error::{ApiError, MAX_BYTES};
use super::slots::Slot;
use super::{book, events, game, page, puzzle_request, texts};

/// Says whose pages may use an answer.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The fewest bytes of a document that is compressed: a smaller one fits into one packet of a network anyway.
const MIN_COMPRESSED: u64 = 1024;

/// Headers of every answer: the page loads nothing from elsewhere and is shown in no other one, and nothing is kept.
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

/// Where the API is: the newest version, and each by its name.
const VERSIONS: [&str; 2] = ["/api", "/api/v1"];

/// The header that names the version, in all answers of the API.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("kalah-api-version"), HeaderValue::from_static("1"));

/// The connection at which a request arrived.
#[derive(Clone)]
pub(super) struct Client {
    /// Our own address on it.
    pub local: IpAddr,
    pub slot: Arc<Slot>,
}

/// Which request goes where. Each has a [`Client`] among its extensions.
pub(super) fn routes(service: Arc<Service>) -> Router {
    let mut routes = Router::new();
    for version in VERSIONS {
        let at = |path: &str| format!("{version}{path}");
        routes = routes
            .route(&at(""), get(api::server))
            .route(&at("/openapi.json"), get(description))
            .route(&at("/tables"), get(api::tables))
            .route(&at("/position"), get(api::position))
            .route(&at("/search"), get(api::search))
            .route(&at("/book"), get(book::book))
            .route(&at("/line"), get(api::line))
            .route(&at("/move"), post(api::choose))
            .route(&at("/game"), post(game::game))
            .route(&at("/text/read"), post(texts::read))
            .route(&at("/text/write"), post(texts::write))
            .route(&at("/puzzle"), get(puzzle_request::puzzle));
    }
    for file in page::FILES {
        let asset = Asset::new(&file);
        let serve = move |headers: HeaderMap| async move { asset.answer(&headers) };
        routes = routes.route(file.path, get(serve));
    }
    routes = routes
        .fallback(|uri: Uri| async move { ApiError::NotFound(uri.path().chars().take(100).collect()) })
        .method_not_allowed_fallback(|method: Method| async move { ApiError::Method(method.to_string()) })
        .layer(middleware::from_fn_with_state(Arc::clone(&service), receive))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .layer(compression());
    if let Some(cors) = service.sharing.layer() {
        routes = routes.layer(cors);
    }
    routes.layer(middleware::from_fn_with_state(Arc::clone(&service), guard)).with_state(service)
}

/// Compresses JSON documents for those who accept that: not streams, of which nobody knows the end yet, and not short ones.
fn compression() -> CompressionLayer<impl Predicate> {
    let is_document = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
    };
    let worthwhile = SizeAbove::new(MIN_COMPRESSED).and(is_document);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worthwhile)
}

/// `GET /api/openapi.json`
async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}

/// Whether an address is one of the API.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Checks who sends a request, and adds the headers that every answer has.
async fn guard(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    let (method, headers) = (request.method(), request.headers());
    let api = is_api(request.uri().path());
    // A page of one of the websites that may use the API; a browser may only ask what such a page may send.
    let shared = api && service.sharing.allows(headers);
    let is_preflight =
        shared && method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let host = service.hosts.check_host(request.uri(), headers, client.local);
    let admitted = host.and_then(|()| if shared { Ok(()) } else { service.hosts.check_origin(headers, api) });
    let mut response = match admitted {
        // The layer of CORS would answer it, whoever asks.
        Ok(()) if method == Method::OPTIONS && !is_preflight => ApiError::Method(method.to_string()).into_response(),
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    match response.status() {
        StatusCode::OK if is_preflight => *response.status_mut() = StatusCode::NO_CONTENT,
        StatusCode::NOT_ACCEPTABLE => response = ApiError::Encoding.into_response(),
        _ => {}
    }
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    if api {
        headers.extend([VERSION]);
    }
    if shared {
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    }
    response
}

/// Has a request answered once all of it is there.
async fn receive(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    match whole(request, service.patience).await {
        Ok(request) => {
            let work = client.slot.work();
            events::at_work_until_sent(next.run(request).await, work)
        }
        Err(error) => error.into_response(),
    }
}

/// Reads the body of a request within `patience`.
async fn whole(request: Request, patience: Duration) -> Result<Request, ApiError> {
    if request.uri().path_and_query().is_some_and(|address| address.as_str().len() > MAX_BYTES) {
        return Err(ApiError::LongAddress);
    }
    if request.body().size_hint().lower() > MAX_BYTES as u64 {
        return Err(ApiError::LargeBody);
    }
    let (parts, body) = request.into_parts();
    let read = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    let body = timeout(patience, read).await.map_err(|_| ApiError::Late)?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::LargeBody,
        _ => ApiError::Request("the body is not what its headers say".to_owned()),
    })?;
    Ok(Request::from_parts(parts, Body::from(body)))
}
