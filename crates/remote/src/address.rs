use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use ureq::http::Uri;

use super::error::RemoteError;
use super::sign::Signer;

/// The address of a directory of tables.
///
/// A query, such as the signature of a presigned address, is sent with every request and never shown.
#[derive(Clone)]
pub struct Address {
    /// The address to show to users: as they gave it, without its query.
    pub(crate) shown: String,
    /// The directory over HTTP, without a slash at the end. It may have a name and a password.
    pub(crate) base: String,
    /// The query with its question mark; may be empty.
    query: String,
    /// Keys for a bucket that is not public.
    pub(crate) signer: Option<Signer>,
}

/// Returns the value of an environment variable that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Address {
    /// Returns true if the text is an address, not a path.
    pub fn is_address(text: &str) -> bool {
        text.split_once("://").is_some_and(|(scheme, _)| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
            scheme.len() > 1 && scheme.chars().all(is_letter)
        })
    }

    /// Reads an address: `https://`, `http://`, `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`. For `s3`, `AWS_REGION`
    /// and `AWS_ENDPOINT_URL` apply. Requests are signed if the environment has keys (`AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`) and the address no query.
    ///
    /// # Errors
    /// When it is not such an address.
    pub fn parse(text: &str) -> Result<Address, RemoteError> {
        let (path, query) = text.split_once('?').map_or((text, ""), |(path, query)| (path, query));
        let path = path.split('#').next().unwrap_or_default().trim_end_matches('/');
        let fault = |reason| RemoteError::Address { address: without_user(path), reason };
        let (scheme, rest) = path.split_once("://").ok_or_else(|| fault("it has no scheme such as https://"))?;
        let (host, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        // Spaces and other letters that a URL cannot have.
        let rest = utf8_percent_encode(rest, HIDDEN).to_string();
        let base = match scheme {
            "http" | "https" => format!("{scheme}://{host}{rest}"),
            "gs" => format!("https://storage.googleapis.com/{host}{rest}"),
            "s3" => s3(host, &rest, &region()),
            _ => return Err(fault("its scheme must be https, http, s3 or gs")),
        };
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        if host.is_empty() || format!("{base}{query}").parse::<Uri>().is_err() {
            return Err(fault("it names no host, or is malformed"));
        }
        let signer = signer().filter(|_| scheme == "s3" && query.is_empty());
        Ok(Address { shown: without_user(&format!("{scheme}://{host}{rest}")), base, query, signer })
    }

    /// An address of any scheme as it is shown: without name, password, query and fragment.
    pub fn without_secrets(text: &str) -> String {
        without_user(text.split(['?', '#']).next().unwrap_or_default())
    }

    /// Address of a file of the directory.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}{}", self.base, self.query)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Returns the address without a name and password before the host.
fn without_user(path: &str) -> String {
    let Some((scheme, rest)) = path.split_once("://") else { return path.to_owned() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// Signs with the keys for S3 of the environment; `None` without any.
fn signer() -> Option<Signer> {
    let (id, secret) = (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?);
    Some(Signer { id, secret, token: variable("AWS_SESSION_TOKEN"), region: region() })
}

/// Region of buckets of S3.
fn region() -> String {
    variable("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned())
}

/// Address over HTTP of a bucket of S3 or of a compatible server, with the path that follows it.
fn s3(bucket: &str, path: &str, region: &str) -> String {
    if let Some(endpoint) = variable("AWS_ENDPOINT_URL") {
        return format!("{}/{bucket}{path}", endpoint.trim_end_matches('/'));
    }
    // A certificate for all buckets does not cover a bucket with dots.
    if bucket.contains('.') {
        format!("https://s3.{region}.amazonaws.com/{bucket}{path}")
    } else {
        format!("https://{bucket}.s3.{region}.amazonaws.com{path}")
    }
}

/// Bytes of a path that no URL can have.
const HIDDEN: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_files() {
        let file = |text: &str| Address::parse(text).unwrap().file("a.kalah");
        assert_eq!(file("https://example.org/tables/"), "https://example.org/tables/a.kalah");
        assert_eq!(file("http://[::1]:8000"), "http://[::1]:8000/a.kalah");
        assert_eq!(file("https://h/t?sig=1%2F2"), "https://h/t/a.kalah?sig=1%2F2");
        assert_eq!(file("gs://bucket/kalah"), "https://storage.googleapis.com/bucket/kalah/a.kalah");
        assert_eq!(file("gs://b/my dir/ü"), "https://storage.googleapis.com/b/my%20dir/%C3%BC/a.kalah");
        assert_eq!(file("https://h/my%20dir"), "https://h/my%20dir/a.kalah");
        assert_eq!(Address::parse("s3://b/my dir").unwrap().to_string(), "s3://b/my%20dir");
        for text in ["ftp://example.org/tables", "https://", "https:///tables", "https://a b/c"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for text in ["https://user:secret@host/tables?token=secret", "https://host/tables?secret#secret"] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.to_string(), "https://host/tables");
        }
    }

    #[test]
    fn paths_are_not_addresses() {
        for text in ["tables", "/tables", "C:/tables", "a/b://c", "://", "c://x"] {
            assert!(!Address::is_address(text), "{text}");
        }
        assert!(Address::is_address("s3://bucket/tables"));
    }
}
