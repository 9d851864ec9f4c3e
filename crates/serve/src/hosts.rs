//! Hosts of the server, and protection against pages of other websites. Browsers send their requests from the user's
//! machine, so they reach even servers on loopback addresses.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderName, header};
use kalah_api::{ApiError, Code};

/// Relation of the sending page to this server.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Reads the name or address of a host, without a port, for [`super::Options::hosts`].
///
/// # Errors
/// If the text is none. An address of version 6 needs its brackets.
pub fn host(text: &str) -> Result<String, String> {
    let host = place(text, 0).filter(|(host, _)| host.eq_ignore_ascii_case(text));
    host.map(|(host, _)| host).ok_or_else(|| "write a name or an address, without a port".to_owned())
}

/// Reads host and port of an authority; `standard` is the port of one without. It must not name a user.
fn place(text: &str, standard: u16) -> Option<(String, u16)> {
    let authority: Authority = text.parse().ok()?;
    let port = match text.strip_prefix(authority.host())? {
        "" => standard,
        port => port.strip_prefix(':')?.parse().ok()?,
    };
    Some((authority.host().to_ascii_lowercase(), port))
}

/// Returns true if `host` means this server, which answers as `hosts`, in a request that arrived at the address
/// `local`.
fn is_ours(hosts: &[String], host: &str, local: IpAddr) -> bool {
    let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let is_here = |address: IpAddr| address.is_loopback() || address == local.to_canonical();
    host == "localhost" || address.is_some_and(is_here) || hosts.iter().any(|other| other == host)
}

/// Checks the host that a request is meant for, and the page that sends it. `local` is the address at which it arrived.
/// Other websites may link to the page itself, but not use the API.
///
/// # Errors
/// If there is not exactly one host, it is not this server, or a page of another website sends the request.
pub(super) fn check(hosts: &[String], local: IpAddr, request: &Request, is_api: bool) -> Result<(), ApiError> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = request.headers();
    let given: Vec<String> = headers.get_all(header::HOST).iter().map(|host| text(host.as_bytes())).collect();
    let [named] = &given[..] else { return Err(ApiError::request("it must have one Host header")) };
    for authority in [&**named, request.uri().authority().map_or(named, Authority::as_str)] {
        if !place(authority, 80).is_some_and(|(host, _)| is_ours(hosts, &host, local)) {
            let why = "a host of this server is localhost, its address, or what --allow-host names";
            return Err(ApiError::new(Code::Forbidden, why));
        }
    }
    let foreign = || ApiError::new(Code::Forbidden, "requests from other websites are refused");
    for origin in headers.get_all(header::ORIGIN) {
        let origin = text(origin.as_bytes());
        let (scheme, authority) = origin.split_once("://").unwrap_or_default();
        let standard = [("http", 80), ("https", 443)].into_iter().find(|&(name, _)| name == scheme);
        let is_own = standard.is_some_and(|(_, port)| {
            // On this machine, another port is another website; behind a proxy the ports differ anyway.
            place(authority, port)
                .is_some_and(|from| hosts.contains(&from.0) || Some(&from) == place(named, port).as_ref())
        });
        if !is_own {
            return Err(foreign());
        }
    }
    // Also sent without an origin, as for images.
    let is_own = |site: &[u8]| matches!(site, b"same-origin" | b"none");
    if is_api && !headers.get_all(SEC_FETCH_SITE).iter().all(|site| is_own(site.as_bytes())) {
        return Err(foreign());
    }
    Ok(())
}
