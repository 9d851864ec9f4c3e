//! Hosts of the server, and protection against pages of other websites. Browsers send their requests from the user's
//! machine, so they reach even servers on loopback addresses.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderName, header};
use kalah_api::{ApiError, Code};
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
    type Err = String;

    fn from_str(text: &str) -> Result<Host, String> {
        let bracketed = || text.parse().ok().map(|address: Ipv6Addr| Host::Address(address.to_canonical()));
        Host::new(text).or_else(bracketed).ok_or_else(|| {
            let form = "the name or address of a host, such as kalah.example or 192.168.1.2, without a port";
            format!("'{}' is not {form}", printable(text, MAX_SHOWN))
        })
    }
}

/// Reads host and port of an authority; `standard` is the port of one without. It must not name a user.
fn place(authority: &str, standard: u16) -> Option<(Host, u16)> {
    let authority: Authority = authority.parse().ok()?;
    let port = match authority.as_str().strip_prefix(authority.host())? {
        "" | ":" => standard,
        port => port.strip_prefix(':')?.parse().ok()?,
    };
    Some((Host::new(authority.host())?, port))
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

/// Checks the host that a request is meant for, and the page that sends it. `local` is the address at which it arrived.
/// Other websites may link to the page itself, but not use the API.
///
/// # Errors
/// If there is not exactly one host, it is not this server, or a page of another website sends the request.
pub(super) fn check(hosts: &[Host], local: IpAddr, request: &Request, is_api: bool) -> Result<(), ApiError> {
    let headers = request.headers();
    let mut given = headers.get_all(header::HOST).iter();
    let (Some(named), None) = (given.next(), given.next()) else {
        return Err(ApiError::request("it must have one Host header"));
    };
    let named = String::from_utf8_lossy(named.as_bytes());
    for authority in [&*named, request.uri().authority().map_or(&*named, Authority::as_str)] {
        if !place(authority, 80).is_some_and(|(host, _)| is_ours(hosts, &host, local)) {
            let ours = "it is localhost, the address at which it is reached, and what --allow-host names";
            let why = format_args!("'{}' is not a host of this server: {ours}", printable(authority, MAX_SHOWN));
            return Err(ApiError::new(Code::Host, why));
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let (scheme, authority) = origin.split_once("://").unwrap_or_default();
        let standard = [("http", 80), ("https", 443)].into_iter().find(|&(name, _)| name == scheme);
        let is_own = standard.is_some_and(|(_, port)| {
            let from = place(authority, port);
            // On this machine, another port is another website; behind a proxy the ports differ anyway.
            from.as_ref().is_some_and(|(host, _)| hosts.contains(host)) || from.is_some() && from == place(&named, port)
        });
        if !is_own {
            return Err(foreign(&origin));
        }
    }
    // Also sent without an origin, as for images.
    for site in headers.get_all(SEC_FETCH_SITE) {
        if is_api && !matches!(site.as_bytes(), b"same-origin" | b"none") {
            return Err(foreign(&String::from_utf8_lossy(site.as_bytes())));
        }
    }
    Ok(())
}

/// Returns the error of a request from another website.
fn foreign(site: &str) -> ApiError {
    let shown = printable(site, MAX_SHOWN);
    ApiError::new(Code::Origin, format_args!("requests from other websites are refused; this one came from '{shown}'"))
}
