//! Files of the page, which are part of the program: nothing is loaded from elsewhere.

use std::io::Write;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// File of the page.
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
pub(super) const FILES: [File; 12] = [
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
    File { path: "/preview.png", kind: PNG, bytes: include_bytes!("../web/images/preview.png") },
    File { path: "/page.js", kind: SCRIPT, bytes: include_bytes!(concat!(env!("OUT_DIR"), "/page.js")) },
];

/// Description of the API, as OpenAPI.
pub(super) const DESCRIPTION: &str = include_str!("openapi.json");

/// File ready to be sent.
pub(super) struct Asset {
    kind: &'static str,
    plain: Sendable,
    compressed: Sendable,
}

/// One form of a file, with its tag.
struct Sendable {
    bytes: Bytes,
    etag: HeaderValue,
}

impl Asset {
    /// Returns a file of this media type with these bytes, in both forms.
    pub(crate) fn new(kind: &'static str, bytes: Bytes) -> Asset {
        let digest = xxhash_rust::xxh3::xxh3_64(&bytes);
        let etag = |end: &str| HeaderValue::from_str(&format!("\"{digest:016x}{end}\"")).expect("plain letters");
        let compressed = Sendable { bytes: compressed(&bytes).into(), etag: etag("-gzip") };
        Asset { kind, plain: Sendable { bytes, etag: etag("") }, compressed }
    }

    /// Returns the answer to a request with these headers.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        let is_compressed = accepts_gzip(headers);
        let form = if is_compressed { &self.compressed } else { &self.plain };
        let always: [(HeaderName, HeaderValue); 2] =
            [(header::ETAG, form.etag.clone()), (header::VARY, HeaderValue::from_static("accept-encoding"))];
        if has(headers, &form.etag) {
            return (StatusCode::NOT_MODIFIED, always).into_response();
        }
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(self.kind))];
        let encoding = is_compressed.then(|| [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        let mut response = (always, kind, form.bytes.clone()).into_response();
        response.headers_mut().extend(encoding.into_iter().flatten());
        response
    }
}

/// Returns bytes compressed by gzip.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes).and_then(|()| gzip.finish()).expect("memory can be written")
}

/// Returns the parts of a header that is a list, over all its lines.
pub(super) fn parts<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Returns true if the client has the form with this tag.
fn has(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    parts(headers, &header::IF_NONE_MATCH).any(|tag| tag == "*" || tag.trim_start_matches("W/").as_bytes() == etag)
}

/// Returns true if the client accepts gzip, by name or by `*`, with a weight above 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = |wanted: &str| {
        parts(headers, &header::ACCEPT_ENCODING).find_map(|part| {
            let (name, weight) = part.split_once(';').unwrap_or((part, ""));
            let weight = weight.trim().strip_prefix("q=").map_or(Some(1.0), |weight| weight.trim().parse::<f32>().ok());
            name.trim().eq_ignore_ascii_case(wanted).then_some(weight.is_some_and(|weight| weight > 0.0))
        })
    };
    accepted("gzip").or_else(|| accepted("*")).unwrap_or(false)
}
