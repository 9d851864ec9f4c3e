//! Answers of the API, compressed for those who accept that.

use std::io::Write;

use axum::body::{Body, HttpBody};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderValue, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The fewest bytes of a document that is compressed: a smaller one fits into one packet of a network anyway.
const LEAST: u64 = 1024;

/// An answer as it is sent to somebody who accepts gzip, or does not. Documents become smaller; streams, of which nobody
/// knows the end yet, short answers and what is compressed already stay as they are.
pub(super) async fn compressed(response: Response<Body>, accepts: bool) -> Response<Body> {
    let size = response.body().size_hint().exact();
    let is_document = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_document || size.is_none_or(|size| size < LEAST) || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if !accepts {
        return Response::from_parts(parts, body);
    }
    // All of it is in memory already, so this neither waits nor fails.
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut gzip = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    let packed = gzip.write_all(&bytes).and_then(|()| gzip.finish()).expect("memory can be written");
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(packed))
}
