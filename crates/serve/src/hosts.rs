//! Protection against pages of other websites. Browsers send their requests from the user's machine, so they reach
//! even servers on loopback addresses.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use kalah_api::ApiError;
use kalah_base::printable::printable;

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
/// Returns true if a text is the origin of a website, in the form of browsers.
pub(super) fn is_origin(text: &str) -> bool {
    HostPort::of_origin(text).is_some()
}
