//! Measures requests a second of `kalah serve`, and their latency, with 1, 16, 64 and 256 clients
//! on kept connections: `cargo bench --bench serve`. `KALAH_BENCH_SECONDS` is the length of each
//! measurement (default 3).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::game::Rules;

const CLIENTS: [usize; 4] = [1, 16, 64, 256];

/// Requests, by name.
const REQUESTS: [(&str, &str); 3] = [
    ("position in the tables", "GET /api/position?rules=standard&board=1,2,0,1,2,1/1,0,2,1,1,0"),
    ("line of two moves", "GET /api/line?board=6x4&moves=3,6"),
    ("page, compressed", "GET /"),
];

/// Sends a request and reads its answer. Returns its status and bytes.
fn ask(stream: &mut BufReader<TcpStream>, request: &str) -> std::io::Result<(u16, usize)> {
    stream.get_mut().write_all(request.as_bytes())?;
    let (mut line, mut length, mut status) = (String::new(), 0, 0);
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let lower = line.trim().to_ascii_lowercase();
        if let Some(bytes) = lower.strip_prefix("content-length: ") {
            length = bytes.parse().expect("a length");
        } else if let Some(rest) = lower.strip_prefix("http/1.1 ") {
            status = rest[..3].parse().expect("a status");
        } else if lower.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, length))
}

fn main() {
    // `cargo test` builds benches and runs them with this flag.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let seconds = std::env::var("KALAH_BENCH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3.0);
    let tables = tempfile::tempdir().expect("a directory");
    build(tables.path(), Rules::Standard, 6, 12).expect("tables");
    let mut server = Command::new(env!("CARGO_BIN_EXE_kalah"));
    server.args(["serve", "--address", "127.0.0.1:0", "--no-book", "--tables"]).arg(tables.path());
    let mut server = server.stdout(Stdio::piped()).spawn().expect("the server");
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().expect("its output")).read_line(&mut line).expect("its address");
    let address = line.trim().strip_prefix("http://").expect("its address").to_owned();
    println!(
        "{:<24} {:>7} {:>12} {:>12} {:>12} {:>8}",
        "request", "clients", "a second", "median ms", "99 % ms", "bytes"
    );
    for (name, request) in REQUESTS {
        let request = format!("{request} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
        for clients in CLIENTS {
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            let begin = Instant::now();
            let client = || {
                let mut stream = BufReader::new(TcpStream::connect(&address).expect("a connection"));
                let _ = stream.get_mut().set_nodelay(true);
                let (mut times, mut bytes) = (Vec::new(), 0);
                while Instant::now() < end {
                    let asked = Instant::now();
                    let (status, length) = ask(&mut stream, &request).expect("an answer");
                    assert_eq!(status, 200);
                    times.push(asked.elapsed().as_secs_f64());
                    bytes = length;
                }
                (times, bytes)
            };
            let answers: Vec<(Vec<f64>, usize)> = std::thread::scope(|scope| {
                let running: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
                running.into_iter().map(|client| client.join().expect("a client")).collect()
            });
            let rate = |count: usize| count as f64 / begin.elapsed().as_secs_f64();
            let bytes = answers[0].1;
            let mut times: Vec<f64> = answers.into_iter().flat_map(|(times, _)| times).collect();
            times.sort_by(f64::total_cmp);
            let at = |part: f64| 1000.0 * times[((times.len() - 1) as f64 * part) as usize];
            println!(
                "{name:<24} {clients:>7} {:>12.0} {:>12.3} {:>12.3} {bytes:>8}",
                rate(times.len()),
                at(0.5),
                at(0.99)
            );
        }
    }
    let _ = server.kill();
    let _ = server.wait();
}
