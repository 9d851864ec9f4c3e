use std::net::IpAddr;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use kalah_api::{ApiError, Code};
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;

use super::api::{self, Refusal};
use super::hosts;
use super::searches::Service;

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

/// File of the page, which is a part of the program: nothing is loaded from elsewhere.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub path: &'static str,
    /// Media type.
    pub kind: &'static str,
    pub bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PNG: &str = "image/png";

/// All files. `build.rs` joins the scripts into one; `web/images` makes the images.
pub(super) const FILES: [File; 11] = [
    File { path: "/", kind: HTML, bytes: include_bytes!("../web/page/index.html") },
    File { path: "/style.css", kind: CSS, bytes: include_bytes!("../web/page/style.css") },
    File { path: "/shell.css", kind: CSS, bytes: include_bytes!("../web/page/shell.css") },
    File { path: "/panel.css", kind: CSS, bytes: include_bytes!("../web/page/panel.css") },
    File { path: "/board.css", kind: CSS, bytes: include_bytes!("../web/page/board.css") },
    File { path: "/moves.css", kind: CSS, bytes: include_bytes!("../web/page/moves.css") },
    File { path: "/icon.svg", kind: "image/svg+xml", bytes: include_bytes!("../web/page/icon.svg") },
    File { path: "/icon-180.png", kind: PNG, bytes: include_bytes!("../web/images/icon-180.png") },
    File { path: "/icon-192.png", kind: PNG, bytes: include_bytes!("../web/images/icon-192.png") },
    File { path: "/icon-512.png", kind: PNG, bytes: include_bytes!("../web/images/icon-512.png") },
    File { path: "/page.js", kind: SCRIPT, bytes: include_bytes!(concat!(env!("OUT_DIR"), "/page.js")) },
];

impl File {
    /// Returns the answer to a request for the file with these headers: nothing if the client has it.
    fn answer(self, etag: &HeaderValue, headers: &HeaderMap) -> Response {
        let tag = [(header::ETAG, etag.clone())];
        if headers.get(header::IF_NONE_MATCH) == Some(etag) {
            return (StatusCode::NOT_MODIFIED, tag).into_response();
        }
        (tag, [(header::CONTENT_TYPE, self.kind)], self.bytes).into_response()
    }

    /// Returns the tag of the file, which is the same in compressed form.
    fn etag(self) -> HeaderValue {
        let digest = xxhash_rust::xxh3::xxh3_64(self.bytes);
        HeaderValue::from_str(&format!("W/\"{digest:016x}\"")).expect("plain letters")
    }
}

/// Routes requests. Each has the address at which it arrived among its extensions.
pub(super) fn routes(service: &'static Service) -> Router {
    let mut routes = Router::new()
        .route("/api", get(api::server))
        .route("/api/openapi.json", get(api::description))
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
    for file in FILES {
        let etag = file.etag();
        routes = routes.route(file.path, get(move |headers: HeaderMap| async move { file.answer(&etag, &headers) }));
    }
    routes
        .fallback(async || Refusal(ApiError::new(Code::NotFound, "nothing is here; docs/api.md lists the addresses")))
        .method_not_allowed_fallback(async || Refusal(ApiError::new(Code::Method, "this address has another method")))
        .layer(middleware::from_fn_with_state(service, receive))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(service, guard))
        .with_state(service)
}

/// Checks the sender of a request, and adds the headers of every answer.
async fn guard(
    State(service): State<&'static Service>,
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
async fn receive(State(service): State<&'static Service>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let error = match timeout(service.options.patience, to_bytes(body, MAX_BODY)).await {
        Ok(Ok(body)) => return next.run(Request::from_parts(parts, body.into())).await,
        Ok(Err(_)) => ApiError::new(Code::TooLarge, format_args!("the body has more than {MAX_BODY} bytes")),
        Err(_) => ApiError::new(Code::Timeout, "the request took too long to arrive"),
    };
    Refusal(error).into_response()
}
