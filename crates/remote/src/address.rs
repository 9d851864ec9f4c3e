use std::env;
use std::fmt;
use std::time::SystemTime;

use percent_encoding::utf8_percent_encode;
use ureq::http::Uri;

use super::error::RemoteError;
use super::sign::{ESCAPED, Signer};

/// The address of a directory of tables. A query, such as a signature, is sent with every request and never shown.
#[derive(Clone)]
pub struct Address {
    /// The address to show to users.
    pub(crate) shown: String,
    /// The directory over HTTP, without a slash at the end. It may have a name and a password.
    pub(crate) base: String,
    /// The query with its question mark; may be empty.
    query: String,
    /// Keys for a bucket that is not public.
    signer: Option<Signer>,
}

/// Returns the value of an environment variable that is not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

impl Address {
    /// Returns true if the text is an address, not a path.
    pub fn is_address(text: &str) -> bool {
        text.split_once("://").is_some_and(|(scheme, _)| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
            scheme.len() > 1 && scheme.chars().all(is_letter)
        })
    }

    /// Reads an address: `https://`, `http://`, `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`; others are errors. For
    /// `s3`, `AWS_REGION` and `AWS_ENDPOINT_URL` apply. Requests are signed if the environment has keys
    /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`) and the address no query.
    pub fn parse(text: &str) -> Result<Address, RemoteError> {
        let shown = Address::without_secrets(text);
        let fault = |reason| RemoteError::Address { address: shown.clone(), reason };
        let (path, query) = text.split_at(text.find('?').unwrap_or(text.len()));
        let path = path.trim_end_matches('/');
        let (scheme, rest) = path.split_once("://").ok_or_else(|| fault("it has no scheme such as https://"))?;
        let (host, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let rest = utf8_percent_encode(rest, const { &ESCAPED.remove(b'/') });
        let region = variable("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned());
        let base = match (scheme, variable("AWS_ENDPOINT_URL")) {
            ("http" | "https", _) => path.to_owned(),
            ("gs", _) => format!("https://storage.googleapis.com/{host}{rest}"),
            ("s3", Some(endpoint)) => format!("{}/{host}{rest}", endpoint.trim_end_matches('/')),
            ("s3", None) => format!("https://{host}.s3.{region}.amazonaws.com{rest}"),
            _ => return Err(fault("its scheme must be https, http, s3 or gs")),
        };
        if host.is_empty() || format!("{base}{query}").parse::<Uri>().is_err() {
            return Err(fault("it names no host, or is malformed"));
        }
        let keys = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY"));
        let signer = keys.filter(|_| scheme == "s3" && query.is_empty());
        let signer = signer.map(|(id, secret)| Signer { id, secret, token: variable("AWS_SESSION_TOKEN"), region });
        Ok(Address { shown, base, query: query.to_owned(), signer })
    }

    /// An address of any scheme as it is shown: without name, password and query.
    pub fn without_secrets(text: &str) -> String {
        let path = text.split('?').next().unwrap_or_default().trim_end_matches('/');
        let Some((scheme, rest)) = path.split_once("://") else { return path.to_owned() };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
    }

    /// URL of a file of the directory, signed if there are keys.
    pub(crate) fn file(&self, name: &str) -> String {
        let url = format!("{}/{name}{}", self.base, self.query);
        self.signer.as_ref().map(|signer| signer.sign(&url, SystemTime::now())).unwrap_or(url)
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
