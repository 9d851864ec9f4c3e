//! Allowed requests, time limits of clients, and answers to bad requests.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::setup::{directory, server, start};
use kalah_tests::serving::{Server, code, parts};

/// Longer than any client may take.
const LATE: Duration = Duration::from_secs(25);

#[test]
fn only_known_hosts_are_answered() {
    let server = start(directory(), "--time 0.1 --allow-host Kalah.example");
    let port = server.address.rsplit(':').next().unwrap();
    let get = |host: &str| server.ask("GET /api", &[&format!("Host: {host}")]);
    for host in ["localhost", "LocalHost", "127.0.0.1", "127.3.2.1", "[::1]", "kalah.example"] {
        // A tunnel may have another port.
        for host in [host.to_owned(), format!("{host}:{port}"), format!("{host}:1")] {
            assert_eq!(get(&host).0, 200, "{host}");
        }
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "evillocalhost"]
    {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            assert_eq!(code(&get(&host)), (403, "forbidden"), "{host}");
        }
    }
    for host in
        ["", ":", "a b", "user@localhost", "localhost:port", "localhost:99999", "[::1", "localhost/x", "\u{1b}[31m"]
    {
        let refused = get(host);
        assert!([400, 403].contains(&refused.0), "{host}: {refused:?}");
    }
    for (first, hosts, expected) in [
        // The same holds for the page, which other sites could otherwise read and control.
        ("GET /", &["Host: evil.example"][..], (403, "forbidden")),
        ("GET /api", &[], (400, "request")),
        ("GET /api", &["Host: localhost", "Host: localhost"], (400, "request")),
        ("GET http://evil.example/api", &["Host: localhost"], (403, "forbidden")),
        ("GET http://localhost/api", &["Host: localhost"], (200, "")),
    ] {
        assert_eq!(code(&server.ask(first, hosts)), expected, "{first} {hosts:?}");
    }
}

#[test]
fn other_websites_are_refused() {
    let server = start(directory(), "--time 0.1 --allow-host kalah.example");
    let port = server.address.rsplit(':').next().unwrap();
    let own = format!("http://127.0.0.1:{port}");
    let ask = |request: &str, header: &str, value: &str| {
        let answer = server.ask(request, &[&format!("Host: 127.0.0.1:{port}"), &format!("{header}: {value}")]);
        (answer.0, code(&answer).1.to_owned())
    };
    let (answered, forbidden) = ((200, String::new()), (403, "forbidden".to_owned()));
    let position = "GET /api/position?board=6x4&time=0";
    for origin in
        ["http://evil.example", "null", "file://", "http://127.0.0.1:1", "http://localhost:1", "127.0.0.1", ""]
    {
        for request in [position, "GET /api", "GET /", "POST /api/move"] {
            assert_eq!(ask(request, "Origin", origin), forbidden, "{origin:?} {request}");
        }
    }
    for origin in [&own, "http://kalah.example", "https://kalah.example:8443"] {
        assert_eq!(ask(position, "Origin", origin), answered, "{origin}");
    }
    for (site, expected) in [
        ("cross-site", &forbidden),
        ("same-site", &forbidden),
        ("nonsense", &forbidden),
        ("same-origin", &answered),
        ("none", &answered),
    ] {
        assert_eq!(ask(position, "Sec-Fetch-Site", site), *expected, "{site}");
        // A link to the page may be on any site.
        assert_eq!(ask("GET /", "Sec-Fetch-Site", site), answered, "{site}");
    }
}

#[cfg(unix)]
#[test]
fn half_open_connections_do_not_block_the_server() {
    let command = ["sh", "-c", "ulimit -n 256; exec \"$0\" \"$@\""];
    let server = Server::start_by(&command, directory(), &["--time", "0.1", "--searches", "1"]);
    let half = |index: usize| {
        let mut stream = server.connect();
        // Every other one is silent.
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
    let post = "POST /api/move HTTP/1.1\r\nHost: localhost\r\n";
    let get = "GET /api HTTP/1.1\r\nHost: localhost\r\n";
    std::thread::scope(|scope| {
        for (first, bytes, expected) in [
            (format!("{post}Content-Length: 8000\r\n\r\n"), " ", 408),
            (format!("{post}Transfer-Encoding: chunked\r\n\r\n"), "1\r\n \r\n", 408),
            (format!("{get}Content-Length: 8000\r\n\r\n"), " ", 408),
            (format!("{get}\r\n"), "", 200),
            // A client that sends no whole head gets no answer.
            (String::new(), "", 0),
            ("G".to_owned(), "E", 0),
            ("GET /api HTTP/1.1\r\n".to_owned(), "Host: localhost\r\n", 0),
        ] {
            scope.spawn(move || {
                let pause = Duration::from_millis(100);
                let (answer, time) = trickle(&server(), first.as_bytes(), bytes.as_bytes(), pause);
                assert!(time < LATE, "{first:?}");
                match expected {
                    408 => assert_eq!(code(&parts(&answer)), (408, "timeout"), "{first:?}"),
                    200 => assert!(parts(&answer).0 == 200 && answer.matches("HTTP/1.1").count() == 1, "{answer}"),
                    _ => {}
                }
            });
        }
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
fn heads_and_bodies_are_limited() {
    let long = format!("X: {}", "x".repeat(300_000));
    assert_eq!(server().ask("GET /api", &["Host: localhost", &long]).0, 431);
    let many: Vec<String> = (0..200).map(|index| format!("X-{index}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(server().ask("GET /api", &many).0, 431);
    let address = format!("GET /api/position?board={}", "1".repeat(70_000));
    assert_eq!(server().ask(&address, &["Host: localhost"]).0, 414);
    for bytes in ["nonsense\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
        assert_eq!(parts(&server().raw(bytes.as_bytes(), true)).0, 400, "{bytes:?}");
    }
    let post = |framing: &str, body: &str| {
        let head = "POST /api/move HTTP/1.1\r\nHost: localhost";
        parts(&server().raw(format!("{head}\r\n{framing}\r\n\r\n{body}").as_bytes(), true))
    };
    for framing in ["Content-Length: 100000000", "Transfer-Encoding: chunked\r\n\r\n20000\r\n"] {
        assert_eq!(code(&post(framing, &" ".repeat(140_000))), (413, "too-large"), "{framing}");
    }
    for length in ["18446744073709551614", "99999999999999999999999", "-1", "9223372036854775808"] {
        assert!((400..500).contains(&post(&format!("Content-Length: {length}"), "{}").0), "{length}");
    }
}
