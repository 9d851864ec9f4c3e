use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use ureq::http::Uri;

/// Bytes of a path that are escaped in what is signed.
const SIGNED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Signs requests to S3 and compatible servers with the keys of an account, by version 4 of Amazon's signatures
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>).
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
    /// Headers that sign a request for `url`, which has no query, and perhaps for a range of its bytes.
    pub(crate) fn headers(&self, url: &str, range: Option<&str>, now: SystemTime) -> Vec<(&'static str, String)> {
        let url: Uri = url.parse().unwrap_or_default();
        let (host, path) = (url.authority().map_or("", |host| host.as_str()), url.path());
        let time = format_rfc3339_seconds(now).to_string().replace(['-', ':'], "");
        let day = &time[..8];
        let empty = hex(digest(&SHA256, b"").as_ref());
        let mut headers = vec![("host", host.to_owned())];
        headers.extend(range.map(|range| ("range", range.to_owned())));
        headers.extend([("x-amz-content-sha256", empty.clone()), ("x-amz-date", time.clone())]);
        headers.extend(self.token.clone().map(|token| ("x-amz-security-token", token)));
        let names = headers.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(";");
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let request = format!(
            "GET\n{}\n\n{lines}\n{names}\n{empty}",
            utf8_percent_encode(&percent_decode_str(path).decode_utf8_lossy(), SIGNED)
        );
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(digest(&SHA256, request.as_bytes()).as_ref()));
        let keyed = |key: &[u8], data: &str| sign(&Key::new(HMAC_SHA256, key), data.as_bytes());
        let first = format!("AWS4{}", self.secret).into_bytes();
        let key = [day, &self.region, "s3", "aws4_request"]
            .iter()
            .fold(first, |key, data| keyed(&key, data).as_ref().to_vec());
        let signature = hex(keyed(&key, &text).as_ref());
        let credential = format!("{}/{scope}", self.id);
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}");
        // The client sends host and range itself.
        headers.retain(|(name, _)| name.starts_with("x-amz-"));
        headers.push(("authorization", authorization));
        headers
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn signer(token: Option<&str>) -> Signer {
        Signer {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: token.map(str::to_owned),
            region: "us-east-1".to_owned(),
        }
    }

    /// The example of Amazon's documentation: a part of an object.
    #[test]
    fn the_published_example_has_its_signature() {
        let now = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let url = "https://examplebucket.s3.amazonaws.com/test.txt";
        let headers = signer(None).headers(url, Some("bytes=0-9"), now);
        let (_, authorization) = headers.last().unwrap();
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn a_token_is_sent_and_secrets_are_not_shown() {
        let signer = signer(Some("token"));
        let headers = signer.headers("http://localhost:9000/bucket/a=b%20c", None, UNIX_EPOCH);
        assert!(headers.contains(&("x-amz-security-token", "token".to_owned())));
        assert!(
            headers.last().unwrap().1.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security")
        );
        assert!(!format!("{headers:?}").contains("wJalr"));
    }
}
