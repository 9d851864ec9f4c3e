use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::api::{self, Service};
use super::error::{ApiError, MAX_BYTES};
use super::page;
use super::slots::Slot;

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

/// The connection at which a request arrived.
#[derive(Clone)]
pub(super) struct Client {
    /// Our own address on it.
    pub local: IpAddr,
    pub slot: Arc<Slot>,
}

/// Which request goes where. Each has a [`Client`] among its extensions.
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
        .layer(middleware::from_fn_with_state(Arc::clone(&service), guard))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .with_state(service)
}

/// What holds for every request and every answer.
async fn guard(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Client>().cloned();
    let mut response = match admitted(&service, client.as_ref(), request).await {
        Ok(request) => {
            let _work = client.as_ref().map(|client| client.slot.work());
            next.run(request).await
        }
        Err(error) => error.into_response(),
    };
    response.headers_mut().extend(HEADERS);
    response
}

/// A request that may be answered, all of it there.
async fn admitted(service: &Service, client: Option<&Client>, request: Request) -> Result<Request, ApiError> {
    let local = client.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |client| client.local);
    let api = request.uri().path().starts_with("/api");
    service.hosts.check(request.uri(), request.headers(), local, api)?;
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
