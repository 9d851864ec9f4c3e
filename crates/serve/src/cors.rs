//! Other websites that may use the API: cross-origin resource sharing,
//! <https://fetch.spec.whatwg.org/#http-cors-protocol>.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use kalah_base::printable::printable;
use tower_http::cors::{AllowOrigin, AllowPrivateNetwork, CorsLayer};

use super::hosts::is_origin;

/// Time for which browsers keep the permissions.
const MAX_AGE: Duration = Duration::from_secs(86400);

/// Website whose pages may use the API, or all websites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedOrigin {
    /// All websites.
    Any,
    /// One website: `https://kalah.example`, with a port unless it is the default of the scheme.
    One(String),
}

/// Error of a text that is not the origin of a website.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not the origin of a website: write https://kalah.example or http://localhost:3000, without a path, \
         or * for all", printable(.0, 100))]
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

/// Returns true if pages from `origin` may use the API.
fn includes(shared: &[SharedOrigin], origin: &HeaderValue) -> bool {
    shared.iter().any(|shared| match shared {
        SharedOrigin::Any => true,
        SharedOrigin::One(name) => name.as_bytes() == origin.as_bytes(),
    })
}

/// Returns true if a request has exactly one origin, and pages from there may use the API.
pub(super) fn allows(shared: &[SharedOrigin], headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(header::ORIGIN).iter();
    matches!((given.next(), given.next()), (Some(origin), None) if includes(shared, origin))
}

/// Returns the layer that states in answers which pages may read them, and that answers all OPTIONS requests; `None`
/// without allowed websites.
pub(super) fn layer(shared: &[SharedOrigin]) -> Option<CorsLayer> {
    if shared.is_empty() {
        return None;
    }
    let shared: Arc<[SharedOrigin]> = shared.into();
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| includes(&shared, origin)))
        .allow_private_network(AllowPrivateNetwork::yes())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE])
        .expose_headers([HeaderName::from_static("kalah-api-version"), header::RETRY_AFTER])
        .max_age(MAX_AGE)
        .vary([header::ORIGIN]);
    Some(layer)
}
