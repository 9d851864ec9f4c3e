//! Which other websites may use the API: cross-origin resource sharing, <https://fetch.spec.whatwg.org/#http-cors-protocol>.

use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use kalah_tables::printable::printable;

use super::hosts::is_origin;

/// The headers that ask whether a page from elsewhere may send requests to a machine in its visitor's network, and allow it.
const ASKS_FOR_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Seconds for which a browser keeps what is allowed.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");

/// A website whose pages may use the API, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedOrigin {
    /// All websites.
    Any,
    /// This one: `https://kalah.example`, with a port if it is not that of the scheme.
    One(String),
}

/// A text that is not the origin of a website.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not the origin of a website: write https://kalah.example or http://localhost:3000, without a path, or * for all", printable(.0, 100))]
pub struct BadOrigin(String);

impl FromStr for SharedOrigin {
    type Err = BadOrigin;

    fn from_str(text: &str) -> Result<SharedOrigin, BadOrigin> {
        if text == "*" {
            return Ok(SharedOrigin::Any);
        }
        let small = text.to_ascii_lowercase();
        if is_origin(&small) { Ok(SharedOrigin::One(small)) } else { Err(BadOrigin(text.to_owned())) }
    }
}

/// The websites whose pages may use the API.
pub(super) struct Sharing(pub Vec<SharedOrigin>);

/// The page that sends a request may read the answer.
pub(super) struct Shared {
    origin: HeaderValue,
    in_network: bool,
}

impl Sharing {
    /// Whether the page that sends a request, from an origin, may read the answer; `None` if it has no origin, or one that is not
    /// named.
    pub fn with(&self, headers: &HeaderMap) -> Option<Shared> {
        let mut given = headers.get_all(header::ORIGIN).iter();
        let (Some(origin), None) = (given.next(), given.next()) else { return None };
        let named = |shared: &SharedOrigin| match shared {
            SharedOrigin::Any => true,
            SharedOrigin::One(name) => name.as_bytes() == origin.as_bytes(),
        };
        let in_network = headers.contains_key(ASKS_FOR_NETWORK);
        self.0.iter().any(named).then(|| Shared { origin: origin.clone(), in_network })
    }

    /// Says in an answer which page may read it.
    pub fn add_headers(&self, headers: &mut HeaderMap, shared: Option<Shared>, is_preflight: bool) {
        if !self.0.is_empty() {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        let Some(Shared { origin, in_network }) = shared else { return };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
        headers
            .insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("kalah-api-version, retry-after"));
        if is_preflight {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type"));
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
            if in_network {
                headers.insert(ALLOWS_NETWORK, HeaderValue::from_static("true"));
            }
        }
    }
}

/// Whether a browser only asks what it may send.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}
