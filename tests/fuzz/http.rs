//! Hostile requests: nearly valid, invalid, truncated or concatenated ones, and ones with changed bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use kalah::game::Rules;
use kalah::serve::{Options, Stop, serve};
use kalah::solve::SearchMemory;
use kalah_tests::serving::encoded;
use kalah_tests::tables::built;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fuzz;
use crate::mutation::{changed, changes};

/// Longer than any answer takes on a busy machine.
const HUNG: Duration = Duration::from_secs(60);

/// Number of panics in the server's threads, and its messages to the operator.
static PANICS: AtomicUsize = AtomicUsize::new(0);
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Address of a server in this process.
static SERVER: LazyLock<String> = LazyLock::new(|| {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if matches!(std::thread::current().name(), Some("serve" | "search")) {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        hook(panic);
    }));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut options = Options::new(built(&[(Rules::EmptyCapture, 2, 6)]));
    options.time = Duration::from_millis(50);
    options.stream_time = Duration::from_millis(50);
    options.searches = 2;
    options.memory = SearchMemory::shared(None, 1 << 20);
    options.patience = Duration::from_millis(250);
    options.hosts = vec!["kalah.example".to_owned()];
    options.log = Box::new(|line| MESSAGES.lock().unwrap().push(line.to_owned()));
    std::thread::spawn(move || serve(listener, options, &Stop::default()).unwrap());
    address
});

/// Strategy for a text that is a board, or nearly one.
fn board() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[1-4]x[0-4]",
        4 => "<2,[0-9]{1,2},[0-9]{1,2},[0-9],[0-9],[0-9],[0-9]>",
        2 => "[0-9],[0-9],[0-9]/[0-9],[0-9],[0-9]",
        1 => "<?[0-9]{0,3}(,-?[0-9]{0,12}){0,12}>?",
        1 => ".{0,30}",
        1 => Just("1,".repeat(300)),
    ]
}

fn rules() -> impl Strategy<Value = String> {
    "(standard|standard|standard|empty-capture|empty-capture|s-kalaha||x)"
}

fn player() -> impl Strategy<Value = String> {
    "(perfect|perfect|greedy|random|heuristic|(minimax|alphabeta|minimax2|minimax3|random):[0-9]{0,2}|.{0,10})"
}

fn target() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        15 => "/api/(position|position|move|move|move|line|game|search)",
        8 => "/api/(text/read|text/write|puzzle|puzzle|book|book|positions|openapi\\.json|tables)",
        2 => Just("/api".to_owned()),
        1 => "(/|/style.css|/app.js|/api/|/api/nothing|//|/%2e%2e/|\\*|http://localhost/api|http://evil.example/)",
        1 => "/[!-~]{0,30}",
    ];
    let field = prop_oneof![
        6 => board().prop_map(|board| format!("board={}", encoded(&board))),
        3 => rules().prop_map(|rules| format!("rules={rules}")),
        3 => "time=(0|0\\.0[0-5]|-1|NaN|inf|1e9|1e400|soon|)",
        3 => "moves=[0-9,]{0,12}",
        2 => "(level=(easy|medium|hard|x)|seed=-?[0-9]{0,20}|day=2026-[0-9]{2}-[0-9]{2})",
        1 => "[a-z]{0,5}=?[!-~]{0,12}",
        1 => (0..80_000usize).prop_map(|length| format!("long={}", "1".repeat(length))),
    ];
    let wild = (path, prop::collection::vec(field, 0..4)).prop_map(|(path, fields)| match fields.len() {
        0 => path,
        _ => format!("{path}?{}", fields.join("&")),
    });
    let ends =
        [("position", "time=0.02"), ("line", "moves=1,2"), ("search", "time=0.02"), ("puzzle", "seed=1"), ("book", "")];
    let sound = (board(), rules(), prop::sample::select(ends.to_vec()))
        .prop_map(|(board, rules, (path, last))| format!("/api/{path}?board={}&rules={rules}&{last}", encoded(&board)));
    prop_oneof![3 => wild, 4 => sound, 2 => "/api(/tables|)"]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (board(), rules(), player(), "(0|0\\.05|-1|\"1\"|1e9)").prop_map(|(board, rules, player, time)| {
            let fields = json!({ "board": board, "rules": rules, "player": player });
            fields.to_string().replacen('{', &format!("{{\"time\":{time},"), 1).into_bytes()
        }),
        2 => (board(), rules(), prop::collection::vec(0..8u8, 0..6)).prop_map(|(board, rules, moves)| {
            json!({ "board": board, "rules": rules, "moves": moves }).to_string().into_bytes()
        }),
        2 => "(\\[[A-Z][a-z]{1,6} \"[ -~]{0,12}\"\\]\n){0,4}\n?\
              ([1-6]{1,3} ?|\\{[ -~]{0,9}\\}){0,6}(\\*|1-0|)"
            .prop_map(|text| json!({ "text": text }).to_string().into_bytes()),
        1 => (board(), ".{0,20}")
            .prop_map(|(board, text)| json!({ "board": board, "headers": [["Event", text]] }).to_string().into_bytes()),
        2 => "[\\[\\]{}\",:0-9a-z ]{0,60}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..100),
        1 => (0..20_000usize).prop_map(|length| vec![b' '; length]),
    ]
}

/// Strategy for the bytes of a request.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let method = prop_oneof![
        14 => Just("GET".to_owned()),
        5 => Just("POST".to_owned()),
        2 => "(HEAD|PUT|OPTIONS|DELETE|TRACE|get|PRI)",
        1 => "[!-~]{0,9}",
    ];
    let version = prop_oneof![40 => Just("HTTP/1.1"), 1 => Just("HTTP/1.0"), 1 => Just("HTTP/2.0"), 1 => Just("")];
    let header = prop_oneof![
        1 => "Host: (localhost|evil\\.example|127\\.0\\.0\\.1:[0-9]{0,6}|\\[::1\\]|kalah\\.example|)",
        2 => "Origin: (http://localhost|https://kalah\\.example|http://evil\\.example|null|)",
        4 => "Sec-Fetch-Site: (same-origin|none|cross-site|same-site)",
        4 => "Accept: [ -~]{0,20}",
        4 => Just("Accept: text/event-stream".to_owned()),
        4 => Just("Accept-Encoding: gzip".to_owned()),
        9 => "Connection: (close|keep-alive|upgrade|)",
        1 => "Expect: 100-continue",
        1 => "Upgrade: (websocket|h2c)",
        1 => "Transfer-Encoding: (chunked|gzip|identity|chunked, chunked)",
        1 => "Content-Length: (0|-1|7|99999999999999999999|1, 2)",
        1 => "[ -~]{0,40}",
        1 => (0..40_000usize).prop_map(|length| format!("X: {}", "x".repeat(length))),
    ];
    let framing = prop_oneof![30 => Just(0), 6 => Just(1), 1 => Just(2), 1 => Just(3)];
    let headers = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(header, 1..4)];
    let no_host = prop::bool::weighted(0.03);
    (method, target(), version, headers, no_host, framing, body()).prop_map(
        |(method, target, version, headers, no_host, framing, body)| {
            let posted = ["/api/move", "/api/game", "/api/text/read", "/api/text/write", "/api/positions"];
            let is_posted = posted.contains(&target.as_str()) && method == "GET";
            let method = if is_posted { "POST".to_owned() } else { method };
            let host = if no_host { "" } else { "Host: localhost\r\n" };
            let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
            let head = format!("{method} {target} {version}\r\n{host}{headers}");
            let body = if method == "GET" { Vec::new() } else { body };
            let chunk = |chunk: &[u8]| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
            // With the right length, in chunks, in invalid chunks, with a wrong length.
            let (framing, body) = match framing {
                0 if body.is_empty() => (String::new(), body),
                0 => (format!("Content-Length: {}\r\n", body.len()), body),
                1 => {
                    let chunks: Vec<u8> = body.chunks(7).chain([&[][..]]).flat_map(chunk).collect();
                    ("Transfer-Encoding: chunked\r\n".to_owned(), chunks)
                }
                2 => {
                    let body = [b"fffffffffffffffff\r\n", &body[..]].concat();
                    ("Transfer-Encoding: chunked\r\n".to_owned(), body)
                }
                _ => (format!("Content-Length: {}\r\n", body.len() / 2), body),
            };
            [format!("{head}{framing}\r\n").into_bytes(), body].concat()
        },
    )
}

/// Strategy for all bytes that a client sends on one connection, and true if it then closes its side.
fn conversation() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let bytes = prop_oneof![
        12 => prop::collection::vec(request(), 1..4).prop_map(|requests| requests.concat()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ];
    let changes = prop_oneof![8 => Just(Vec::new()), 2 => changes()];
    (bytes, changes, prop::bool::weighted(0.7)).prop_map(|(bytes, changes, shut)| (changed(&bytes, &changes), shut))
}

/// Returns the whole response until the server closes the connection.
fn ask(bytes: &[u8], shut: bool) -> Result<Vec<u8>, TestCaseError> {
    let mut stream = TcpStream::connect(&*SERVER).unwrap();
    stream.set_read_timeout(Some(HUNG)).unwrap();
    stream.set_write_timeout(Some(HUNG)).unwrap();
    // The server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    if shut {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            Err(TestCaseError::fail("the connection hangs"))
        }
        _ => Ok(answer),
    }
}

/// Statuses and documents of all answers in `bytes`.
fn answers(mut bytes: &[u8]) -> Result<Vec<(u16, Vec<u8>)>, String> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").ok_or("a head without an end")?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "a head that is no text")?;
        bytes = &bytes[end + 4..];
        let status =
            head.strip_prefix("HTTP/1.").and_then(|head| head.get(2..5)).and_then(|status| status.parse().ok());
        let status: u16 = status.ok_or_else(|| format!("no status: {head}"))?;
        if status == 100 {
            continue;
        }
        let header = |name: &str| {
            head.lines().find_map(|line| Some(line.to_ascii_lowercase().strip_prefix(name)?.trim().to_owned()))
        };
        let is_packed = header("content-encoding:").is_some_and(|coding| coding == "gzip");
        let is_stream = header("content-type:").is_some_and(|kind| kind == "text/event-stream") || is_packed;
        let body = if header("transfer-encoding:").is_some_and(|coding| coding == "chunked") {
            let (body, rest) = chunks(bytes)?;
            bytes = rest;
            body
        } else if is_stream && header("content-length:").is_none() {
            // An answer to HEAD that would be a stream has no length. A stream to HTTP/1.0 is sent without chunks, to
            // the end of the connection.
            if bytes.starts_with(b"HTTP/1.") { Vec::new() } else { std::mem::take(&mut bytes).to_vec() }
        } else {
            let length = header("content-length:").and_then(|length| length.parse().ok());
            let length: usize = length.ok_or_else(|| format!("no length: {head}"))?;
            // An answer to HEAD has no document.
            let is_without = bytes.is_empty() || bytes.starts_with(b"HTTP/1.");
            let body = if is_without { &[] } else { bytes.get(..length).ok_or("cut")? };
            bytes = &bytes[body.len()..];
            body.to_vec()
        };
        let mut document = body;
        // A document that is cut short with its connection is no error.
        if !document.is_empty() && is_packed && status >= 400 {
            let packed = std::mem::take(&mut document);
            flate2::read::GzDecoder::new(&*packed).read_to_end(&mut document).map_err(|error| error.to_string())?;
        }
        answers.push((status, document));
    }
    Ok(answers)
}

/// Returns a document in chunks, and the bytes after it. A document that is cut short, or answers HEAD, ends with the
/// bytes or at the next head.
fn chunks(mut bytes: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut body = Vec::new();
    while !bytes.is_empty() && !bytes.starts_with(b"HTTP/1.") {
        let end = bytes.windows(2).position(|end| end == b"\r\n").ok_or("a chunk without a size")?;
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.ok_or("a chunk with an invalid size")?;
        body.extend_from_slice(bytes.get(end + 2..end + 2 + size).ok_or("a chunk that is cut short")?);
        bytes = bytes[end + 2 + size..].strip_prefix(b"\r\n").ok_or("a chunk without an end")?;
        if size == 0 {
            break;
        }
    }
    Ok((body, bytes))
}

#[test]
fn http_requests_are_answered_or_refused() {
    fuzz("http", &conversation(), |(bytes, shut)| {
        let answer = ask(&bytes, shut)?;
        for (status, body) in answers(&answer).map_err(TestCaseError::fail)? {
            prop_assert!((200..300).contains(&status) || (400..500).contains(&status) || status == 503, "{status}");
            if status < 400 || body.is_empty() {
                continue;
            }
            let document: Value = serde_json::from_slice(&body).map_err(|_| TestCaseError::fail("no JSON"))?;
            let error = &document["error"];
            prop_assert!(error["code"].is_string(), "{document}");
            let message = error["message"].as_str().unwrap_or_default();
            prop_assert!(!message.is_empty() && !message.contains("serialize"), "{document}");
        }
        // A valid request still works after any other.
        let sound = b"GET /api/position?board=2x1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let mut sound =
            std::iter::repeat_with(|| ask(sound, false)).take(10).filter_map(|answer| answers(&answer.ok()?).ok());
        prop_assert!(sound.any(|answers| answers.len() == 1 && answers[0].0 == 200), "a valid request got no answer");
        prop_assert_eq!(PANICS.load(Ordering::Relaxed), 0);
        let messages = MESSAGES.lock().unwrap();
        prop_assert!(messages.is_empty(), "{messages:?}");
        Ok(())
    });
}
