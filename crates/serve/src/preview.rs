//! The page for link previews, which need whole addresses: its own, and that of its image.

use axum::http::uri::{PathAndQuery, Scheme};
use axum::http::{HeaderMap, HeaderName, Uri, header};
use axum::response::Response;
use kalah_base::printable::printable;

use super::page::{Asset, File};

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
pub(super) fn answer(page: File, headers: &HeaderMap) -> Response {
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
