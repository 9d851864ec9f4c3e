//! Users of the server: its hosts, and protection against pages of other websites. Browsers send their requests from
//! the user's machine, so they reach even servers on loopback addresses. Other websites may use the API if they are
//! allowed: cross-origin resource sharing, <https://fetch.spec.whatwg.org/#http-cors-protocol>.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use kalah_api::ApiError;
use kalah_base::printable::printable;
use tower_http::cors::{AllowOrigin, AllowPrivateNetwork, CorsLayer};

/// Relation of the sending page to this server.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Maximum characters of a host or origin that are shown.
const MAX_SHOWN: usize = 100;

/// Name or address of a host, without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// Name, in lower case.
    Name(String),
    /// Address.
    Address(IpAddr),
}

/// Error of a text that is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not the name or address of a host, such as kalah.example or 192.168.1.2, without a port",
    printable(.0, MAX_SHOWN)
)]
pub struct BadHost(String);

impl Host {
    /// Reads a host as part of an authority, with addresses of version 6 in brackets.
    fn new(text: &str) -> Option<Host> {
        if let Some(address) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return Some(Host::Address(address.parse::<Ipv6Addr>().ok()?.to_canonical()));
        }
        if let Ok(address) = text.parse() {
            return Some(Host::Address(address));
        }
        // A name may end with the dot of the root domain.
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        (!name.is_empty() && name.bytes().all(fits)).then_some(Host::Name(name))
    }
}

impl FromStr for Host {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Host, BadHost> {
        let bracketed = || text.parse().ok().map(|address: Ipv6Addr| Host::Address(address.to_canonical()));
        Host::new(text).or_else(bracketed).ok_or_else(|| BadHost(text.to_owned()))
    }
}

/// Host and port.
#[derive(PartialEq, Eq)]
struct HostPort {
    host: Host,
    port: Option<u16>,
}

impl HostPort {
    fn new(authority: &str) -> Option<HostPort> {
        let authority: Authority = authority.parse().ok()?;
        // No user name before the host.
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" | ":" => None,
            port => Some(port.strip_prefix(':')?.parse().ok()?),
        };
        Some(HostPort { host: Host::new(authority.host())?, port })
    }

    /// Reads the origin of a page: `http://host:port`, with the default port of the scheme if it has none.
    fn of_origin(origin: &str) -> Option<(HostPort, u16)> {
        let (scheme, authority) = origin.split_once("://")?;
        let standard = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        Some((HostPort::new(authority)?, standard))
    }
}

/// Returns true if `host` means this server, which answers as `hosts`, in a request that arrived at the address
/// `local`.
fn is_ours(hosts: &[Host], host: &Host, local: IpAddr) -> bool {
    let here = match host {
        Host::Name(name) => name == "localhost",
        Host::Address(address) => address.is_loopback() || *address == local.to_canonical(),
    };
    here || hosts.contains(host)
}

/// Checks the host that a request is meant for. `local` is the address at which it arrived.
///
/// # Errors
/// If there is not exactly one host, or it is not this server.
pub(super) fn check_host(hosts: &[Host], address: &Uri, headers: &HeaderMap, local: IpAddr) -> Result<(), ApiError> {
    let mut given = headers.get_all(header::HOST).iter();
    let (Some(named), None) = (given.next(), given.next()) else {
        return Err(ApiError::Request("it must have one Host header".to_owned()));
    };
    let named = String::from_utf8_lossy(named.as_bytes());
    let authority = address.authority().map_or(&*named, Authority::as_str);
    let shown = |text: &str| ApiError::Host(printable(text, MAX_SHOWN));
    HostPort::new(&named).filter(|to| is_ours(hosts, &to.host, local)).ok_or_else(|| shown(&named))?;
    HostPort::new(authority).filter(|to| is_ours(hosts, &to.host, local)).ok_or_else(|| shown(authority))?;
    Ok(())
}

/// Checks the page that sends a request for this host. `api` is true for requests to the API, and false for the
/// page itself, which other websites may link to.
///
/// # Errors
/// If it is a page of another website.
pub(super) fn check_origin(hosts: &[Host], headers: &HeaderMap, api: bool) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
    let to = host.as_deref().and_then(HostPort::new);
    for origin in headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let ours = HostPort::of_origin(&origin).is_some_and(|(from, standard)| {
            let port = |place: &HostPort| place.port.unwrap_or(standard);
            // On this machine, another port is another website; behind a proxy the ports differ anyway.
            let same = to.as_ref().is_some_and(|to| from.host == to.host && port(&from) == port(to));
            same || hosts.contains(&from.host)
        });
        if !ours {
            return Err(ApiError::Origin(printable(&origin, MAX_SHOWN)));
        }
    }
    // Also sent without an origin, as for images.
    for site in headers.get_all(SEC_FETCH_SITE) {
        if api && !matches!(site.as_bytes(), b"same-origin" | b"none") {
            return Err(ApiError::Origin(printable(&String::from_utf8_lossy(site.as_bytes()), MAX_SHOWN)));
        }
    }
    Ok(())
}

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
        HostPort::of_origin(&small).ok_or_else(|| BadOrigin(text.to_owned()))?;
        Ok(SharedOrigin::One(small))
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
