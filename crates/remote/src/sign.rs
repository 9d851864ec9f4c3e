use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use kalah_base::printable::hex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};

/// Bytes that are escaped in what is signed.
pub(crate) const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Signs requests to S3 and compatible servers with the keys of an account, by version 4 of Amazon's signatures
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>).
#[derive(Clone)]
pub(crate) struct Signer {
    pub id: String,
    pub secret: String,
    /// Token of temporary keys.
    pub token: Option<String>,
    /// Region of the buckets.
    pub region: String,
}

impl Signer {
    /// Adds a query to `url`, which has none, that lets it be read for a day.
    pub(crate) fn sign(&self, url: &str, now: SystemTime) -> String {
        let (_, place) = url.split_once("://").unwrap_or_default();
        let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        let time = format_rfc3339_seconds(now).to_string().replace(['-', ':'], "");
        let (day, escape) = (&time[..8], |text: &str| utf8_percent_encode(text, ESCAPED).to_string());
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let token = self.token.as_deref().map(|token| format!("&X-Amz-Security-Token={}", escape(token)));
        let query = format!(
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={time}&X-Amz-Expires=86400{}\
             &X-Amz-SignedHeaders=host",
            escape(&format!("{}/{scope}", self.id)),
            token.unwrap_or_default()
        );
        let request = format!("GET\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD");
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(digest(&SHA256, request.as_bytes()).as_ref()));
        let parts = [day, &self.region, "s3", "aws4_request", &text];
        let signature = parts.iter().fold(format!("AWS4{}", self.secret).into_bytes(), |key, part| {
            sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec()
        });
        format!("{url}?{query}&X-Amz-Signature={}", hex(&signature))
    }
}

/// The example of Amazon's documentation.
#[cfg(test)]
#[test]
fn the_published_example_has_its_signature() {
    let (id, secret) = ("AKIAIOSFODNN7EXAMPLE".to_owned(), "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned());
    let signer = Signer { id, secret, token: None, region: "us-east-1".to_owned() };
    let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_369_353_600);
    let signed = signer.sign("https://examplebucket.s3.amazonaws.com/test.txt", now);
    assert!(signed.ends_with("=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"), "{signed}");
}
