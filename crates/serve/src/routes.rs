use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::api::{self, Service};
use super::assets::{Asset, accepts_gzip};
use super::compression::compressed;
use super::error::{ApiError, MAX_BYTES};
use super::slots::Slot;
use super::{book, cors, events, game, page, puzzle_request, texts};

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
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
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
    routes
        .fallback(|uri: Uri| async move { ApiError::NotFound(uri.path().chars().take(100).collect()) })
        .method_not_allowed_fallback(|method: Method| async move { ApiError::Method(method.to_string()) })
        .layer(middleware::from_fn_with_state(Arc::clone(&service), guard))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .with_state(service)
}

/// `GET /api/openapi.json`
async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}

/// Whether an address is one of the API.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// What holds for every request and every answer.
async fn guard(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Client>().cloned();
    let api = is_api(request.uri().path());
    let sharing = if api { service.sharing.with(request.headers()) } else { None };
    let packed = api && accepts_gzip(request.headers());
    let is_preflight = sharing.is_some() && cors::is_preflight(request.method(), request.headers());
    let mut response = match admitted(&service, client.as_ref(), request, sharing.is_some()).await {
        Ok(_) if is_preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(request) => {
            let work = client.as_ref().map(|client| client.slot.work());
            let answer = next.run(request).await;
            let answer = if api { compressed(answer, packed).await } else { answer };
            events::at_work_until_sent(answer, work)
        }
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    if api {
        headers.extend([VERSION]);
        service.sharing.add_headers(headers, sharing, is_preflight);
    }
    response
}

/// A request that may be answered, all of it there.
async fn admitted(
    service: &Service,
    client: Option<&Client>,
    request: Request,
    shared: bool,
) -> Result<Request, ApiError> {
    let local = client.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |client| client.local);
    service.hosts.check_host(request.uri(), request.headers(), local)?;
    if !shared {
        service.hosts.check_origin(request.headers(), is_api(request.uri().path()))?;
    }
    if request.uri().path_and_query().is_some_and(|address| address.as_str().len() > MAX_BYTES) {
        return Err(ApiError::LongAddress);
    }
    if request.body().size_hint().lower() > MAX_BYTES as u64 {
        return Err(ApiError::LargeBody);
    }
    let (parts, body) = request.into_parts();
    let read = Bytes::from_request(Request::from_parts(parts.clone(), body), &());
    let body = tokio::time::timeout(service.patience, read).await.map_err(|_| ApiError::Late)?;
    let body = body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::LargeBody,
        _ => ApiError::Request("the body is not what its headers say".to_owned()),
    })?;
    Ok(Request::from_parts(parts, Body::from(body)))
}
