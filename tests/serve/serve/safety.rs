//! Allowed requests, time limits of clients, and answers to bad requests.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{code, directory, server};
use kalah_tests::serving::Server;

/// Longer than any client may take.
const LATE: Duration = Duration::from_secs(25);

/// Sends a request with these lines in its head, which closes the connection. Returns the response.
fn ask(server: &Server, first: &str, headers: &[&str]) -> (u16, Value) {
    let mut head = format!("{first} HTTP/1.1\r\nConnection: close\r\n");
    headers.iter().for_each(|header| head += &format!("{header}\r\n"));
    let mut stream = server.connect();
    // The server may refuse before it has read everything. It assumes that a client that stops sending is gone.
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parts(&String::from_utf8_lossy(&answer))
}

/// Status and document of a raw response.
#[track_caller]
fn parts(answer: &str) -> (u16, Value) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_owned())))
}

#[test]
fn only_known_hosts_are_answered() {
    let server = Server::start(directory(), &["--time", "0.1", "--allow-host", "Kalah.example"]);
    let port = server.address.rsplit(':').next().unwrap();
    let get = |host: &str| ask(&server, "GET /api", &[&format!("Host: {host}")]);
    for host in ["localhost", "LocalHost", "127.0.0.1", "127.3.2.1", "[::1]", "kalah.example"] {
        assert_eq!(get(host).0, 200, "{host}");
        assert_eq!(get(&format!("{host}:{port}")).0, 200, "{host}");
        assert_eq!(get(&format!("{host}:1")).0, 200, "{host}: a tunnel may have another port");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "evillocalhost"]
    {
        assert_eq!(code(&get(host)), (403, "forbidden"), "{host}");
        assert_eq!(code(&get(&format!("{host}:{port}"))), (403, "forbidden"), "{host}");
    }
    for host in
        ["", ":", "a b", "user@localhost", "localhost:port", "localhost:99999", "[::1", "localhost/x", "\u{1b}[31m"]
    {
        let refused = get(host);
        assert!([400, 403].contains(&refused.0), "{host}: {refused:?}");
    }
    // The same holds for the page, which other sites could otherwise read and control.
    assert_eq!(code(&ask(&server, "GET /", &["Host: evil.example"])), (403, "forbidden"));
    assert_eq!(code(&ask(&server, "GET /api", &[])), (400, "request"));
    assert_eq!(code(&ask(&server, "GET /api", &["Host: localhost", "Host: localhost"])), (400, "request"));
    assert_eq!(code(&ask(&server, "GET http://evil.example/api", &["Host: localhost"])), (403, "forbidden"));
    assert_eq!(ask(&server, "GET http://localhost/api", &["Host: localhost"]).0, 200);
}

#[test]
fn other_websites_are_refused() {
    let server = Server::start(directory(), &["--time", "0.1", "--allow-host", "kalah.example"]);
    let port = server.address.rsplit(':').next().unwrap();
    let host = format!("Host: 127.0.0.1:{port}");
    let position = "GET /api/position?board=6x4&time=0";
    for origin in
        ["http://evil.example", "null", "file://", "http://127.0.0.1:1", "http://localhost:1", "127.0.0.1", ""]
    {
        for request in [position, "GET /api", "GET /", "POST /api/move"] {
            let answer = ask(&server, request, &[&host, &format!("Origin: {origin}")]);
            assert_eq!(code(&answer), (403, "forbidden"), "{origin:?} {request}");
        }
    }
    for origin in
        [format!("http://127.0.0.1:{port}"), "http://kalah.example".into(), "https://kalah.example:8443".into()]
    {
        assert_eq!(ask(&server, position, &[&host, &format!("Origin: {origin}")]).0, 200, "{origin}");
    }
    for site in ["cross-site", "same-site", "nonsense"] {
        let site = format!("Sec-Fetch-Site: {site}");
        assert_eq!(code(&ask(&server, position, &[&host, &site])), (403, "forbidden"), "{site}");
        // A link to the page may be on any site.
        assert_eq!(ask(&server, "GET /", &[&host, &site]).0, 200, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(ask(&server, position, &[&host, &format!("Sec-Fetch-Site: {site}")]).0, 200, "{site}");
    }
}

#[cfg(unix)]
#[test]
fn half_open_connections_do_not_block_the_server() {
    let command = ["sh", "-c", "ulimit -n 256; exec \"$0\" \"$@\""];
    let server =
        Server::start_by(&command, directory(), &["--time", "0.1", "--searches", "1", "--transpositions", "16MiB"]);
    // Every other one is silent.
    let half = |index: usize| {
        let mut stream = server.connect();
        let _ = stream.write_all(&b"GET /api HTTP/1.1\r\nHost: localhost\r\nX: "[..index % 40 * (index % 2)]);
        stream
    };
    let open: Vec<TcpStream> = (0..300).map(half).collect();
    assert_eq!(server.get("/api/position?board=3x2").0, 200);
    drop(open);
    assert_eq!(server.get("/api").0, 200);
}

/// Sends `bytes`, one every `pause`, until the server closes the connection. Returns the response and the elapsed time.
fn trickle(server: &Server, first: &[u8], bytes: &[u8], pause: Duration) -> (String, Duration) {
    let (mut stream, begin) = (server.connect(), Instant::now());
    stream.write_all(first).unwrap();
    stream.set_read_timeout(Some(pause)).unwrap();
    let (mut answer, mut bytes) = (Vec::new(), bytes.iter().cycle());
    while begin.elapsed() < LATE {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                // The server may close the connection in between; reading shows that.
                let _ = bytes.next().map(|&byte| stream.write_all(&[byte]));
            }
            Err(_) => break,
        }
    }
    (String::from_utf8(answer).unwrap(), begin.elapsed())
}

#[test]
fn clients_that_take_their_time_are_left() {
    let pause = Duration::from_millis(100);
    std::thread::scope(|scope| {
        let asked = |first: &'static str, bytes: &'static str, expected: u16| {
            scope.spawn(move || {
                let (answer, time) = trickle(&server(), first.as_bytes(), bytes.as_bytes(), pause);
                assert!(time < LATE, "{first:?}");
                assert_eq!(code(&parts(&answer)), (expected, "timeout"), "{first:?}");
            });
        };
        asked("POST /api/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000\r\n\r\n", " ", 408);
        let chunked = "POST /api/move HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
        asked(chunked, "1\r\n \r\n", 408);
        asked("GET /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000\r\n\r\n", " ", 408);
        // A client that sends no whole head, or no more, gets no answer.
        for (first, bytes) in [("", ""), ("G", "E"), ("GET /api HTTP/1.1\r\n", "Host: localhost\r\n")] {
            scope.spawn(move || assert!(trickle(&server(), first.as_bytes(), bytes.as_bytes(), pause).1 < LATE));
        }
        scope.spawn(move || {
            let (answer, time) = trickle(&server(), b"GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n", b"", pause);
            assert!(time < LATE && answer.starts_with("HTTP/1.1 200") && answer.matches("HTTP/1.1").count() == 1);
        });
    });
}

#[test]
fn clients_that_do_not_read_are_left() {
    let mut stream = server().connect();
    stream.set_nonblocking(true).unwrap();
    let (begin, requests) = (Instant::now(), "GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100));
    let mut sent = 0;
    let error = loop {
        assert!(begin.elapsed() < 2 * LATE, "the connection is still open");
        match stream.write(&requests.as_bytes()[sent..]) {
            Ok(more) => sent = (sent + more) % requests.len(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => break error,
        }
    };
    assert!([ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&error.kind()), "{error}");
}

#[test]
fn errors_name_the_field() {
    let message = |answer: &(u16, Value)| {
        assert_eq!(code(answer), (400, "request"), "{answer:?}");
        answer.1["error"]["message"].as_str().unwrap().to_owned()
    };
    for (query, words) in [
        ("", "missing field `board`"),
        ("board", "'' is not a position"),
        ("board=6x4&time=soon", "invalid float"),
        ("board=6x4&time=-1", "a number of seconds, 0 or more"),
        ("board=6x4&time=NaN", "a number of seconds, 0 or more"),
        ("board=6x4&board=6x5", "duplicate field `board`"),
        ("board=6x4&rule=standard", "unknown field `rule`, expected one of `rules`, `board`, `time`"),
        ("board=%ff%fe", "is not a position"),
        ("board=6x4&rules=x", "'x'"),
    ] {
        let message = message(&server().get(&format!("/api/position?{query}")));
        assert!(message.contains(words), "{query}: {message}");
    }
    assert_eq!(server().get("/api/position?&board=3x2&&").0, 200, "an empty part of a query is no field");
    for (body, words) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("nonsense", "line 1 column"),
        ("7", "7"),
        ("null", "null"),
        ("{}", "missing field `board`"),
        ("{\"board\": 6}", "integer `6`, expected a string"),
        ("{\"board\": \"6x4\", \"time\": \"1\"}", "string \"1\", expected f64"),
        ("{\"board\": \"6x4\", \"time\": -1}", "a number of seconds, 0 or more"),
        ("{\"board\": \"6x4\", \"Player\": \"greedy\"}", "unknown field `Player`"),
        ("{\"board\": \"6x4\", \"board\": \"6x4\"}", "duplicate field `board`"),
        ("{\"board\": \"6x4\", \"player\": \"\"}", "''"),
    ] {
        let message = message(&server().post("/api/move", body.as_bytes()));
        assert!(message.contains(words), "{body}: {message}");
    }
    let deep = format!("{{\"board\": {}1{}}}", "[".repeat(500), "]".repeat(500));
    for wrong in [deep.as_bytes(), b"\xff\xfe{}"] {
        message(&server().post("/api/move", wrong));
    }
    let times = json!({ "board": "3x2", "time": 1e300 });
    assert_eq!(server().post("/api/move", times.to_string().as_bytes()).0, 200, "a long time is cut");
}

#[test]
fn heads_and_bodies_are_limited() {
    let long = format!("X: {}", "x".repeat(300_000));
    assert_eq!(ask(&server(), "GET /api", &["Host: localhost", &long]).0, 431);
    let many: Vec<String> = (0..200).map(|index| format!("X-{index}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(ask(&server(), "GET /api", &many).0, 431);
    let address = format!("GET /api/position?board={}", "1".repeat(70_000));
    assert_eq!(ask(&server(), &address, &["Host: localhost"]).0, 414);
    for bytes in ["nonsense\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
        assert_eq!(parts(&server().raw(bytes.as_bytes())).0, 400, "{bytes:?}");
    }
    for body in ["Content-Length: 100000000", "Transfer-Encoding: chunked\r\n\r\n20000\r\n"] {
        let request = format!("POST /api/move HTTP/1.1\r\nHost: localhost\r\n{body}\r\n\r\n{}", " ".repeat(140_000));
        assert_eq!(code(&parts(&server().raw(request.as_bytes()))), (413, "too-large"), "{body}");
    }
}
