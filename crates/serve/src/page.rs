//! Files of the page, which are part of the program: nothing is loaded from elsewhere. The page itself names its
//! address and that of its image, which link previews need.

use std::io::Write;

use axum::body::Bytes;
use axum::http::uri::{PathAndQuery, Scheme};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use kalah_base::printable::printable;

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

/// Scheme of the client's connection, which a proxy states.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Beginning of the element of the page that names its image.
const IMAGE: &str = "<meta property=\"og:image\" content=\"";

/// Maximum characters of an address that are shown.
const MAX_SHOWN: usize = 100;

/// Address of the folder of a page, such as `https://kalah.example/play/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteAddress(String);

/// Error of a text that is not the address of a website.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not the address of a website, such as https://kalah.example/play/", printable(.0, MAX_SHOWN))]
pub struct BadAddress(String);

impl std::str::FromStr for SiteAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<SiteAddress, BadAddress> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%[]+".contains(&byte);
        let address: Option<Uri> = text.bytes().all(fits).then(|| text.parse().ok()).flatten();
        let is_website = address.is_some_and(|address| {
            [Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&address.scheme())
                && address.host().is_some_and(|host| !host.is_empty())
                && address.path_and_query().is_none_or(|path: &PathAndQuery| path.path().starts_with('/'))
        });
        let slash = if text.ends_with('/') { "" } else { "/" };
        is_website.then(|| SiteAddress(format!("{text}{slash}"))).ok_or_else(|| BadAddress(text.to_owned()))
    }
}

impl SiteAddress {
    /// Returns the page with this address and that of its image.
    pub(super) fn fill(&self, page: &str) -> String {
        let (before, after) = page.split_once(IMAGE).expect("the page names an image");
        let SiteAddress(address) = self;
        format!("{before}<meta property=\"og:url\" content=\"{address}\">\n{IMAGE}{address}{after}")
    }

    /// Returns the address by which a client reached a server; `None` if its headers name none.
    fn of_request(headers: &HeaderMap) -> Option<SiteAddress> {
        let host = headers.get(header::HOST)?.to_str().ok()?;
        let is_secure = headers.get(FORWARDED_PROTO).is_some_and(|scheme| scheme == "https");
        format!("{}://{host}/", if is_secure { "https" } else { "http" }).parse().ok()
    }
}

/// Returns the answer to a request for the page with these headers.
pub(super) fn page_answer(page: File, headers: &HeaderMap) -> Response {
    let plain = std::str::from_utf8(page.bytes).expect("the page is text");
    let filled = SiteAddress::of_request(headers).map_or_else(|| plain.to_owned(), |address| address.fill(plain));
    Asset::new(page.kind, filled.into_bytes().into()).answer(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_websites() {
        for (text, address) in [
            ("https://kalah.example", "https://kalah.example/"),
            ("https://kalah.example/play", "https://kalah.example/play/"),
            ("http://[::1]:8080/a/", "http://[::1]:8080/a/"),
        ] {
            assert_eq!(text.parse(), Ok(SiteAddress(address.to_owned())));
        }
        for text in
            ["", "kalah.example", "ftp://kalah.example/", "https:///x", "https://a/\"><b", "https://a/?b", "/a/"]
        {
            assert_eq!(text.parse::<SiteAddress>(), Err(BadAddress(text.to_owned())));
        }
    }
}
