//! A host of files on this machine. It answers range requests, and can misbehave in chosen ways.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Ways to misbehave in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status.
    Status(u16),
    /// Does not answer for a minute.
    Silent,
    /// Closes the connection without an answer.
    Down,
    /// Ends the connection after this share of the body, in percent.
    Cut(usize),
    /// Inverts the bits of the last byte of the body.
    Flipped,
    /// Sends a body that is one byte longer than the range that it states.
    Longer,
    /// States another length of the whole file.
    OtherTotal,
    /// States another range than the one that it sends.
    OtherRange,
    /// Sends the client to the other host.
    Redirect,
    /// Answers with its own page, like a network that wants a visitor to log in first.
    Portal,
    /// Holds back what has this text in its path, until it behaves otherwise.
    Withholds(&'static str),
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Path and query.
    pub target: String,
    /// Path below that of the files.
    pub name: String,
    /// First byte of a range, and its end if it has one.
    pub range: Option<(u64, Option<u64>)>,
}

/// Behaviour of a host.
#[derive(Debug, Default)]
pub struct Conduct {
    /// Faults of the next answers, except those to requests for one byte, which ask for a length.
    pub next: VecDeque<Fault>,
    /// Fault of all other answers.
    pub always: Option<Fault>,
    /// Fault of those for bytes after the header of a table.
    pub later: Option<Fault>,
    /// Address of another host.
    pub other: String,
    /// True if ranges are ignored.
    pub whole: bool,
    /// Permission for clients to use files for ten minutes without another request.
    pub lasting: bool,
    /// Wait before each answer.
    pub latency: Duration,
    /// Bytes a second of bodies; 0 for no limit.
    pub rate: usize,
}

/// A host that lives until the process ends.
#[derive(Clone)]
pub struct Host {
    /// Address of the files.
    pub address: String,
    folder: PathBuf,
    conduct: Arc<Mutex<Conduct>>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Host {
    /// Serves the files of `folder` below a path, such as `/tables`.
    pub fn new(folder: &Path, path: &str) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}{path}", listener.local_addr().unwrap());
        let folder = folder.to_owned();
        let host = Host { address, folder, conduct: Arc::default(), requests: Arc::default() };
        let (answering, path) = (host.clone(), format!("{path}/"));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (host, path) = (answering.clone(), path.clone());
                std::thread::spawn(move || {
                    let _ = host.converse(&mut stream, &path);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        host
    }

    /// Behaviour from here on.
    pub fn conduct(&self) -> MutexGuard<'_, Conduct> {
        self.conduct.lock().unwrap()
    }

    /// Misbehaves in the next answers.
    pub fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.conduct().next.extend(faults);
    }

    /// Returns the requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }

    /// Returns the names of the files that were requested since the last call of `requests`.
    pub fn names(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|request| request.name.clone()).collect()
    }

    /// Answers the requests of a connection until it ends.
    fn converse(&self, stream: &mut TcpStream, path: &str) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
        loop {
            let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            let target = head.first()?.split(' ').nth(1)?.to_owned();
            let name = target.split('?').next()?;
            let name = match name.strip_prefix(path).unwrap_or(name) {
                "" => "index.html",
                name => name,
            };
            let range = head.iter().find_map(|line| {
                let line = line.to_lowercase();
                let (start, last) = line.strip_prefix("range: bytes=")?.split_once('-')?;
                Some((start.parse().ok()?, last.parse().ok().map(|last: u64| last + 1)))
            });
            let request = Request { name: name.to_owned(), target, range };
            self.requests.lock().unwrap().push(request.clone());
            let latency = self.conduct().latency;
            std::thread::sleep(latency);
            self.answer(stream, &request)?;
        }
    }

    /// Returns the fault of an answer. Waits as long as it is withheld.
    fn fault(&self, request: &Request) -> Option<Fault> {
        let is_of_length = request.range == Some((0, Some(1)));
        let is_after_header = request.range.is_none_or(|(start, _)| start > 0);
        loop {
            let mut conduct = self.conduct();
            let next = if is_of_length { None } else { conduct.next.pop_front() };
            match next.or(conduct.always).or(conduct.later.filter(|_| is_after_header)) {
                Some(Fault::Withholds(text)) if request.name.contains(text) => {}
                Some(Fault::Withholds(_)) => return None,
                fault => return fault,
            }
            drop(conduct);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends an answer; `None` if the connection ends.
    fn answer(&self, stream: &mut TcpStream, request: &Request) -> Option<()> {
        let fault = self.fault(request);
        let (is_whole, is_lasting, rate, other) = {
            let conduct = self.conduct();
            (conduct.whole, conduct.lasting, conduct.rate, conduct.other.clone())
        };
        let mut simple = |status: &str, more: &str, body: &str| {
            write!(stream, "HTTP/1.1 {status}\r\n{more}content-length: {}\r\n\r\n{body}", body.len()).ok()
        };
        let html = "content-type: text/html\r\n";
        match fault {
            Some(Fault::Status(status)) => return simple(&format!("{status} No"), html, "<p>no"),
            Some(Fault::Portal) => return simple("200 OK", html, "<!doctype html><title>Portal</title><p>Log in"),
            Some(Fault::Redirect) => {
                let location = format!("location: {other}/{}\r\n", request.name);
                return simple("307 Temporary Redirect", &location, "");
            }
            Some(Fault::Down) => return None,
            Some(Fault::Silent) => {
                std::thread::sleep(Duration::from_secs(60));
                return None;
            }
            _ => {}
        }
        let path = self.folder.join(request.name.trim_start_matches('/'));
        let Some(mut file) = File::open(&path).ok().filter(|_| path.is_file()) else {
            return simple("404 Not Found", "", "");
        };
        let total = file.metadata().ok()?.len();
        let range = request.range.filter(|_| !is_whole);
        let (start, end) = range.map_or((0, total), |(start, end)| (start, end.unwrap_or(total).min(total)));
        if range.is_some() && start >= end {
            return simple("416 No", &format!("content-range: bytes */{total}\r\n"), "");
        }
        let mut body = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut body)).ok()?;
        let (mut status, mut more) = ("200 OK", format!("content-type: {}\r\n", kind(&request.name, is_lasting)));
        if range.is_some() {
            let first = if fault == Some(Fault::OtherRange) { start + 1 } else { start };
            let total = if fault == Some(Fault::OtherTotal) { total + 64 } else { total };
            more += &format!("content-range: bytes {first}-{}/{total}\r\n", (end - 1).max(first));
            status = "206 Partial Content";
        }
        if is_lasting {
            more += "cache-control: max-age=600\r\n";
        }
        match fault {
            Some(Fault::Flipped) => *body.last_mut()? ^= 255,
            Some(Fault::Longer) => body.push(0),
            _ => {}
        }
        write!(stream, "HTTP/1.1 {status}\r\n{more}content-length: {}\r\n\r\n", body.len()).ok()?;
        let cut = if let Some(Fault::Cut(percent)) = fault { Some(body.len() * percent / 100) } else { None };
        let piece = if rate == 0 { 1 << 16 } else { (rate / 10).clamp(1, 1 << 16) };
        for piece in body[..cut.unwrap_or(body.len())].chunks(piece) {
            stream.write_all(piece).ok()?;
            if rate > 0 {
                std::thread::sleep(Duration::from_secs_f64(piece.len() as f64 / rate as f64));
            }
        }
        cut.is_none().then_some(())
    }
}

/// Type of a file. Some hosts have none for modules.
fn kind(name: &str, knows_modules: bool) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html",
        "js" => "text/javascript",
        "css" => "text/css",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "wasm" if knows_modules => "application/wasm",
        _ => "application/octet-stream",
    }
}
