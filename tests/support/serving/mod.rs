//! `kalah serve` in a separate process, and requests to it.

pub mod description;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use serde_json::Value;

use crate::program;

/// A server, killed when dropped.
pub struct Server {
    child: Child,
    /// Host and port.
    pub address: String,
    messages: tempfile::NamedTempFile,
}

impl Server {
    /// Starts a server on a free port, with its tables in a directory or at an address.
    pub fn start(tables: impl AsRef<OsStr>, flags: &[&str]) -> Server {
        Server::start_by(&[], tables, flags)
    }

    /// Starts a server through another command, which gets that of the server as its arguments.
    pub fn start_by(by: &[&str], tables: impl AsRef<OsStr>, flags: &[&str]) -> Server {
        let kalah = program::path();
        let mut words = by.iter().map(OsStr::new).chain([kalah.as_os_str()]);
        let mut command = program::without_settings(words.next().expect("a command"));
        command.args(words).arg("serve").args(flags).env("KALAH_TABLES", tables);
        if !flags.contains(&"--address") {
            command.args(["--address", "127.0.0.1:0"]);
        }
        #[cfg(unix)]
        crate::signals::heard(&mut command);
        let messages = tempfile::NamedTempFile::new().unwrap();
        let mut child = command.stderr(messages.reopen().unwrap()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect("the server prints its address").to_owned();
        Server { child, address, messages }
    }

    /// Messages of the server so far.
    pub fn messages(&self) -> String {
        std::fs::read_to_string(self.messages.path()).unwrap()
    }

    /// Address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Status and document of a GET request.
    pub fn get(&self, path: &str) -> (u16, Value) {
        read(agent().get(self.url(path)).call())
    }

    /// Status and document of a POST request.
    pub fn post(&self, path: &str, body: &[u8]) -> (u16, Value) {
        read(agent().post(self.url(path)).send(body))
    }

    /// Sends raw bytes, and at last the end of all if `ends`. The server takes a client that stops sending for gone.
    /// Returns the whole response until the server closes the connection.
    pub fn raw(&self, bytes: &[u8], ends: bool) -> String {
        let mut stream = self.connect();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        if ends {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Status and document of a request with this first line and these headers, sent as they are.
    #[track_caller]
    pub fn ask(&self, first: &str, headers: &[&str]) -> (u16, Value) {
        let head: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        parts(&self.raw(format!("{first} HTTP/1.1\r\nConnection: close\r\n{head}\r\n").as_bytes(), false))
    }

    /// Opens a connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Bytes of memory that the server uses.
    #[cfg(target_os = "linux")]
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
    }

    /// Processor time of the server's threads, in steps of a hundredth of a second. `None` if the system does not
    /// report it.
    pub fn busy(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name is in parentheses. The 12th and 13th numbers after it are ticks in the program and in the system.
        let (_, after) = stat.rsplit_once(')')?;
        let ticks: Vec<u64> =
            after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
        (ticks.len() == 2).then(|| Duration::from_millis(10 * (ticks[0] + ticks[1])))
    }

    /// Sends the signal of Ctrl-C.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        crate::signals::interrupt(&self.child);
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that treats error statuses as answers.
pub fn agent() -> ureq::Agent {
    let config =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(Duration::from_secs(60)));
    config.build().new_agent()
}

/// Status and document of a response.
pub fn read(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, Value) {
    let mut response = response.expect("an answer");
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().expect("text");
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Status and document of a raw response.
#[track_caller]
pub fn parts(answer: &str) -> (u16, Value) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or_else(|_| body.into()))
}

/// Status of an answer, and the code of its error, or an empty text.
pub fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or_default())
}

/// Encodes a text as a part of a query.
pub fn encoded(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.,/".contains(&byte);
    let part = |byte: u8| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(part).collect()
}
