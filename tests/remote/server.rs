//! A file server for tests. It answers range requests, and can misbehave in chosen ways.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use kalah::build::build;
use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::{ManifestEntry, Table};

/// Largest layer of the tables that are served.
pub(crate) const SEEDS: usize = 13;

/// Tables of 6 pits by empty capture, and small ones of 2 pits, built once.
pub(crate) static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), Rules::EmptyCapture, 6, SEEDS).unwrap();
    build(directory.path(), Rules::Standard, 2, 6).unwrap();
    directory
});

/// Returns a copy of the tables, for a server whose files change.
pub(crate) fn copied() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(TABLES.path()).unwrap().map(Result::unwrap) {
        if file.path().extension().is_some_and(|extension| extension == "kalah") {
            std::fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
        }
    }
    directory
}

/// The same with a list of the tables.
pub(crate) fn listed() -> tempfile::TempDir {
    let directory = copied();
    let tables = std::fs::read_dir(directory.path()).unwrap().map(|file| Table::open(file.unwrap().path()).unwrap());
    let entry = |table: Table| serde_json::to_string(&ManifestEntry::of(&table).unwrap()).unwrap() + "\n";
    let list: String = tables.map(entry).collect();
    std::fs::write(directory.path().join("manifest.jsonl"), list).unwrap();
    directory
}

/// Ways to misbehave, each for one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Answers with this status.
    Status(u16),
    /// Does not answer for a minute.
    Silent,
    /// Ends the connection after this share of the body, in percent.
    Cut(usize),
    /// Inverts the bits of the last byte of the body.
    Flipped,
    /// Sends a range that is one byte longer than stated.
    Longer,
    /// States another length of the whole file.
    OtherTotal,
    /// Sends the range after the one that was requested.
    OtherRange,
    /// Sends the client to another server.
    Redirect,
}

/// A request for a file, with the range of bytes if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub name: String,
    pub range: Option<(u64, Option<u64>)>,
}

/// Settings and records of a server.
#[derive(Default)]
pub(crate) struct State {
    requests: Mutex<Vec<Request>>,
    /// Lines of the heads of the requests.
    heads: Mutex<Vec<Vec<String>>>,
    /// Where clients are sent to.
    other: Mutex<String>,
    /// Faults of the next answers.
    next: Mutex<VecDeque<Fault>>,
    /// Fault of all answers for bytes after the header.
    always: Mutex<Option<Fault>>,
    /// True if ranges are ignored.
    whole: AtomicBool,
    /// Wait before each answer, in milliseconds.
    latency: std::sync::atomic::AtomicU64,
    /// Bytes a second of bodies; 0 for no limit.
    rate: std::sync::atomic::AtomicU64,
    stopped: AtomicBool,
}

pub(crate) struct Server {
    pub address: String,
    port: u16,
    state: Arc<State>,
}

impl Server {
    /// Serves the files of `directory` below `/tables`.
    pub(crate) fn of(directory: &Path) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, directory) = (Arc::new(State::default()), directory.to_owned());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (state, directory) = (Arc::clone(&shared), directory.clone());
                std::thread::spawn(move || converse(stream, &state, &directory));
            }
        });
        Server { address: format!("http://127.0.0.1:{port}/tables"), port, state }
    }

    /// Misbehaves in the next answers.
    pub(crate) fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.next.lock().unwrap().extend(faults);
    }

    /// Misbehaves in all answers for bytes after the header, from now on.
    pub(crate) fn always(&self, fault: Option<Fault>) {
        *self.state.always.lock().unwrap() = fault;
    }

    /// Ignores ranges.
    pub(crate) fn ignore_ranges(&self) {
        self.state.whole.store(true, Ordering::Relaxed);
    }

    /// Limits bodies to this number of bytes a second; 0 for no limit.
    pub(crate) fn limit_rate(&self, rate: u64) {
        self.state.rate.store(rate, Ordering::Relaxed);
    }

    /// Waits this long before each answer.
    pub(crate) fn wait(&self, latency: Duration) {
        self.state.latency.store(latency.as_millis() as u64, Ordering::Relaxed);
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.state.requests.lock().unwrap())
    }

    /// Returns the value of a header of each request since the last call; `None` for requests without it.
    pub(crate) fn headers(&self, name: &str) -> Vec<Option<String>> {
        let value = |head: Vec<String>| {
            let line =
                head.iter().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)));
            line.map(|(_, value)| value.to_owned())
        };
        std::mem::take(&mut *self.state.heads.lock().unwrap()).into_iter().map(value).collect()
    }

    /// Returns the path and query of each request since the last call.
    pub(crate) fn targets(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.heads.lock().unwrap()).into_iter().map(|mut head| head.remove(0)).collect()
    }

    /// Sends clients to the server at `address` in the next answers.
    pub(crate) fn redirect(&self, address: &str, answers: usize) {
        *self.state.other.lock().unwrap() = address.to_owned();
        self.next(vec![Fault::Redirect; answers]);
    }

    /// Returns the requests since the last call for bytes after the header of a table.
    pub(crate) fn block_requests(&self) -> Vec<Request> {
        let is_header = |request: &Request| request.range.is_some_and(|(start, end)| start == 0 && end < Some(9000));
        let is_table = |request: &Request| request.name.ends_with(".kalah") && !is_header(request);
        self.requests().into_iter().filter(is_table).collect()
    }

    /// Opens the tables with this cache.
    pub(crate) fn open(&self, cache: &Path) -> RemoteTables {
        self.try_open(cache).unwrap()
    }

    pub(crate) fn try_open(&self, cache: &Path) -> Result<RemoteTables, kalah::remote::RemoteError> {
        self.open_with(cache, |options| options)
    }

    /// Opens the tables with these options.
    pub(crate) fn open_with(
        &self,
        cache: &Path,
        options: impl Fn(RemoteOptions) -> RemoteOptions,
    ) -> Result<RemoteTables, kalah::remote::RemoteError> {
        let cache = Cache::new(cache, Cache::DEFAULT_LIMIT);
        RemoteTables::open(&Address::parse(&self.address)?, options(RemoteOptions::new(cache)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers the requests of a connection.
fn converse(stream: TcpStream, state: &State, directory: &Path) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some((path, range, head)) = request(&mut reader) {
        state.heads.lock().unwrap().push(head);
        std::thread::sleep(Duration::from_millis(state.latency.load(Ordering::Relaxed)));
        let name = path.split('?').next().unwrap_or_default().trim_start_matches("/tables/").to_owned();
        state.requests.lock().unwrap().push(Request { name: name.clone(), range });
        if answer(&mut stream, state, &directory.join(&name), range).is_none() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Range of a request: its start, and its end if it has one.
type Range = Option<(u64, Option<u64>)>;

/// Reads the head of a request: its path, its range, and its lines.
fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, Range, Vec<String>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let header = |name: &str| {
        lines.iter().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let range = header("range").and_then(|range| range.strip_prefix("bytes=").map(str::to_owned));
    let range = range.and_then(|range| {
        let (start, last) = range.split_once('-')?;
        Some((start.parse().ok()?, last.parse().ok().map(|last: u64| last + 1)))
    });
    Some((path, range, lines))
}

/// Sends an answer; `None` if the connection ends.
fn answer(stream: &mut TcpStream, state: &State, path: &Path, range: Range) -> Option<()> {
    let after_header = range.is_none_or(|(start, _)| start > 0);
    // Faults are for requests of contents, not for that of a byte, which asks for the length.
    let of_length = range == Some((0, Some(1)));
    let fault = if of_length { None } else { state.next.lock().unwrap().pop_front() };
    let fault = fault.or_else(|| state.always.lock().unwrap().filter(|_| after_header));
    if let Some(Fault::Status(status)) = fault {
        return write!(stream, "HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").ok();
    }
    if fault == Some(Fault::Silent) {
        std::thread::sleep(Duration::from_secs(60));
        return None;
    }
    if fault == Some(Fault::Redirect) {
        let (other, name) = (state.other.lock().unwrap(), path.file_name()?.to_str()?);
        let head = "HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 0";
        return write!(stream, "{head}\r\nlocation: {other}/{name}\r\n\r\n").ok();
    }
    let Some(mut file) = File::open(path).ok().filter(|_| path.is_file()) else {
        return write!(stream, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").ok();
    };
    let mut total = file.metadata().ok()?.len();
    let range = range.filter(|_| !state.whole.load(Ordering::Relaxed));
    let (mut start, end) = range.map_or((0, total), |(start, end)| (start, end.unwrap_or(total).min(total)));
    if start >= total {
        return write!(stream, "HTTP/1.1 416 No\r\ncontent-range: bytes */{total}\r\ncontent-length: 0\r\n\r\n").ok();
    }
    let mut body = vec![0; (end - start) as usize];
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut body)).ok()?;
    match fault {
        Some(Fault::Flipped) => *body.last_mut()? ^= 255,
        Some(Fault::Longer) => body.push(0),
        Some(Fault::OtherTotal) => total += 64,
        Some(Fault::OtherRange) => start += 1,
        _ => {}
    }
    let status = if range.is_some() {
        let last = start + (end - start).max(1) - 1;
        format!("206 Partial Content\r\ncontent-range: bytes {start}-{}/{total}", last.min(total - 1))
    } else {
        "200 OK".to_owned()
    };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len()).ok()?;
    let cut = if let Some(Fault::Cut(percent)) = fault { Some(body.len() * percent / 100) } else { None };
    let rate = state.rate.load(Ordering::Relaxed);
    let piece = if rate == 0 { 1 << 16 } else { (rate as usize / 10).clamp(1, 1 << 16) };
    for piece in body[..cut.unwrap_or(body.len())].chunks(piece) {
        stream.write_all(piece).ok()?;
        if rate > 0 {
            std::thread::sleep(Duration::from_secs_f64(piece.len() as f64 / rate as f64));
        }
    }
    if cut.is_some() { None } else { Some(()) }
}

/// Runs the program with these arguments, without proxies or settings of the environment.
pub(crate) fn kalah(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kalah"));
    for variable in ["KALAH_TABLES", "KALAH_CACHE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(variable).env_remove(variable.to_lowercase());
    }
    command.args(arguments);
    command
}

/// Runs the program. Returns its exit code, output and messages.
pub(crate) fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = kalah(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// The path of a cache, as text.
pub(crate) fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Bytes on disk of all files in the folders of a cache; on other systems, holes included.
pub(crate) fn on_disk(cache: &Path) -> u64 {
    #[cfg(unix)]
    let bytes = |file: &Metadata| std::os::unix::fs::MetadataExt::blocks(file) * 512;
    #[cfg(not(unix))]
    let bytes = Metadata::len;
    let list = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = list(cache).flat_map(|folder| list(&folder).collect::<Vec<_>>());
    files.map(|file| bytes(&file.metadata().unwrap())).sum()
}

/// The file of a layer of 6 pits by empty capture.
pub(crate) fn layer(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("empty-capture-6-{seeds:02}.kalah"))
}
