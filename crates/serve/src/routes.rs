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
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use super::api::{self, Refusal};
use super::page::Asset;
use super::service::Service;
use super::slots::Client;
use super::{events, hosts, page};

/// Header that states whose pages may use an answer.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Minimum bytes of a compressed document: a smaller one fits into one network packet anyway.
const MIN_COMPRESSED: u64 = 1024;

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

/// Paths of the API: the newest version, and each version by name.
const VERSIONS: [&str; 2] = ["/api", "/api/v1"];

/// Header with the version, in all answers of the API.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("kalah-api-version"), HeaderValue::from_static("1"));

/// Routes requests. Each has a [`Client`] among its extensions.
pub(super) fn routes(service: Arc<Service>) -> Router {
    let mut routes = Router::new();
    for version in VERSIONS {
        let at = |path: &str| format!("{version}{path}");
        routes = routes
            .route(&at(""), get(api::server))
            .route(&at("/openapi.json"), get(description))
            .route(&at("/tables"), get(api::tables))
            .route(&at("/position"), get(api::position))
            .route(&at("/positions"), post(api::positions))
            .route(&at("/search"), get(api::search))
            .route(&at("/book"), get(api::book))
            .route(&at("/line"), get(api::line))
            .route(&at("/move"), post(api::choose))
            .route(&at("/game"), post(api::game))
            .route(&at("/text/read"), post(api::read_text))
            .route(&at("/text/write"), post(api::write_text))
            .route(&at("/puzzle"), get(api::puzzle));
    }
    for file in page::FILES {
        if file.path == "/" {
            for path in ["/", "/index.html"] {
                let serve = move |headers: HeaderMap| async move { page::page_answer(file, &headers) };
                routes = routes.route(path, get(serve));
            }
            continue;
        }
        let asset = Arc::new(Asset::new(file.kind, Bytes::from_static(file.bytes)));
        let serve = move |headers: HeaderMap| async move { asset.answer(&headers) };
        routes = routes.route(file.path, get(serve));
    }
    routes = routes
        .fallback(|uri: Uri| async move { Refusal(ApiError::NotFound(uri.path().chars().take(100).collect())) })
        .method_not_allowed_fallback(|method: Method| async move { Refusal(ApiError::Method(method.to_string())) })
        .layer(middleware::from_fn_with_state(Arc::clone(&service), receive))
        // A stream has no end to wait for.
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(SizeAbove::new(MIN_COMPRESSED).and(NotForContentType::SSE)),
        );
    if let Some(cors) = hosts::layer(&service.options.origins) {
        routes = routes.layer(cors);
    }
    routes.layer(middleware::from_fn_with_state(Arc::clone(&service), guard)).with_state(service)
}

/// `GET /api/openapi.json`
async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], page::DESCRIPTION)
}

/// Returns true if an address belongs to the API.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Checks the sender of a request, and adds the headers of every answer.
async fn guard(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    let (method, headers) = (request.method(), request.headers());
    let api = is_api(request.uri().path());
    // From a page of an allowed website. A browser may only ask about requests that such a page may send.
    let shared = api && hosts::allows(&service.options.origins, headers);
    let is_preflight =
        shared && method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let ours = &service.options.hosts;
    let host = hosts::check_host(ours, request.uri(), headers, client.local);
    let admitted = host.and_then(|()| if shared { Ok(()) } else { hosts::check_origin(ours, headers, api) });
    let mut response = match admitted {
        // The CORS layer would answer it for every sender.
        Ok(()) if method == Method::OPTIONS && !is_preflight => {
            Refusal(ApiError::Method(method.to_string())).into_response()
        }
        Ok(()) => next.run(request).await,
        Err(error) => Refusal(error).into_response(),
    };
    match response.status() {
        StatusCode::OK if is_preflight => *response.status_mut() = StatusCode::NO_CONTENT,
        StatusCode::NOT_ACCEPTABLE => response = Refusal(ApiError::Encoding).into_response(),
        _ => {}
    }
    let headers = response.headers_mut();
    // `extend` would keep those that the answer has already, such as that of a stream.
    for (name, value) in HEADERS.into_iter().chain(api.then_some(VERSION)) {
        headers.insert(name, value);
    }
    if shared {
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
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
