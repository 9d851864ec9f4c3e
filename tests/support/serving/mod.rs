//! `kalah serve` in a separate process, and requests to it.

pub mod description;
pub mod tables;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program;

/// A server, killed when dropped.
pub struct Server {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl Server {
    /// Starts a server on a free port, with its tables in `directory`.
    pub fn start(directory: &Path, flags: &[&str]) -> Server {
        Server::start_by(&[], directory, flags)
    }

    /// Starts a server through another command, which gets that of the server as its arguments.
    pub fn start_by(by: &[&str], directory: &Path, flags: &[&str]) -> Server {
        let kalah = program::path();
        let mut words = by.iter().map(OsStr::new).chain([kalah.as_os_str()]);
        let mut command = Command::new(words.next().expect("a command"));
        command.args(words).args(["serve", "--address", "127.0.0.1:0"]).args(flags).env("KALAH_TABLES", directory);
        #[cfg(unix)]
        crate::signals::heard(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect("the server prints its address").to_owned();
        Server { child, address }
    }

    /// Returns the stderr of a server from its start to the end of its first answer.
    pub fn messages_at_start(address: &str, directory: &Path, flags: &[&str]) -> String {
        let mut command = program::command();
        command.args(["serve", "--address", address]).args(flags).env("KALAH_TABLES", directory);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let _ = child.kill();
        String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
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

    /// Sends raw bytes. Returns the whole response until the server closes the connection.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
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
