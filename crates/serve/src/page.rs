//! Files of the page, which are part of the program: nothing is loaded from elsewhere.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

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

/// Returns the answer to a request for a file with these headers: nothing if the client has it.
pub(super) fn answer(file: File, etag: &HeaderValue, headers: &HeaderMap) -> Response {
    let tag = [(header::ETAG, etag.clone())];
    if headers.get(header::IF_NONE_MATCH) == Some(etag) {
        return (StatusCode::NOT_MODIFIED, tag).into_response();
    }
    (tag, [(header::CONTENT_TYPE, file.kind)], file.bytes).into_response()
}

/// Returns the tag of a file, which is the same in compressed form.
pub(super) fn etag(file: File) -> HeaderValue {
    let digest = xxhash_rust::xxh3::xxh3_64(file.bytes);
    HeaderValue::from_str(&format!("W/\"{digest:016x}\"")).expect("plain letters")
}
