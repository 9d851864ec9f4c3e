//! Headless Firefox, driven over Marionette
//! (<https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html>), the protocol in Firefox of which
//! geckodriver makes WebDriver.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Names of the program: Debian's first.
const PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];

/// Maximum time until Firefox takes commands.
const START: Duration = Duration::from_secs(60);

/// A running Firefox.
pub(super) struct Firefox {
    process: Child,
    connection: Mutex<Connection>,
    _profile: tempfile::TempDir,
}

/// Commands and their results: JSON after its length in bytes and a colon.
struct Connection {
    to: TcpStream,
    from: BufReader<TcpStream>,
    /// Number of the last command.
    last: u64,
}

impl Connection {
    /// Connects to the Firefox whose settings are in `profile`.
    fn open(process: &mut Child, profile: &Path) -> std::io::Result<Connection> {
        // It writes its port into this file.
        let (file, begin) = (profile.join("MarionetteActivePort"), Instant::now());
        let port: u16 = loop {
            match std::fs::read_to_string(&file) {
                Ok(text) if !text.is_empty() => break text.trim().parse().map_err(Error::other)?,
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
            if let Some(status) = process.try_wait()? {
                return Err(Error::other(format!("Firefox wrote no port: {status}")));
            }
            if begin.elapsed() > START {
                return Err(Error::other("Firefox wrote no port"));
            }
        };
        let to = TcpStream::connect(("127.0.0.1", port))?;
        let mut connection = Connection { from: BufReader::new(to.try_clone()?), to, last: 0 };
        let greeting = connection.receive()?;
        if greeting["marionetteProtocol"] != 3 {
            return Err(Error::other(format!("Firefox has another protocol: {greeting}")));
        }
        connection.send("WebDriver:NewSession", &json!({}))?;
        Ok(connection)
    }

    fn receive(&mut self) -> std::io::Result<Value> {
        let mut length = Vec::new();
        self.from.read_until(b':', &mut length)?;
        let length = String::from_utf8_lossy(&length).trim_end_matches(':').parse().map_err(Error::other)?;
        let mut message = vec![0; length];
        self.from.read_exact(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    }

    fn send(&mut self, name: &str, parameters: &Value) -> std::io::Result<Value> {
        self.last += 1;
        let message = json!([0, self.last, name, parameters]).to_string();
        write!(self.to, "{}:{message}", message.len())?;
        let mut answer = self.receive()?;
        match (&answer[0], &answer[1]) == (&json!(1), &json!(self.last)) && answer[2].is_null() {
            true => Ok(answer[3].take()),
            false => Err(Error::other(format!("{name}: {answer}"))),
        }
    }
}

impl Firefox {
    /// Opens a window of this size in pixels. A `private` window keeps nothing.
    ///
    /// # Errors
    /// If Firefox is missing, or cannot be driven.
    pub(super) fn open((width, height): (u32, u32), private: bool) -> std::io::Result<Firefox> {
        let profile = tempfile::tempdir()?;
        // It keeps no page for its button Back, so a page that is left is closed.
        let settings = format!(
            "user_pref('marionette.port', 0);
             user_pref('browser.sessionhistory.max_total_viewers', 0);
             user_pref('browser.privatebrowsing.autostart', {private});"
        );
        std::fs::write(profile.path().join("user.js"), settings)?;
        let start = |program: &str| {
            Command::new(program)
                .args(["--headless", "--marionette", "--no-remote", "--profile"])
                .arg(profile.path())
                .env("HOME", profile.path())
                .envs([("MOZ_HEADLESS_WIDTH", width.to_string()), ("MOZ_HEADLESS_HEIGHT", height.to_string())])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        };
        // Debian has both names for one program, which must start only once.
        let mut process = start(PROGRAMS[0]).or_else(|_| start(PROGRAMS[1]))?;
        let connected = Connection::open(&mut process, profile.path()).inspect_err(|_| {
            let _ = process.kill();
            let _ = process.wait();
        });
        Ok(Firefox { process, connection: Mutex::new(connected?), _profile: profile })
    }

    /// Sends a command of WebDriver. Returns its result.
    #[track_caller]
    pub(super) fn send(&self, name: &str, parameters: &Value) -> Value {
        let sent = self.connection.lock().unwrap().send(&format!("WebDriver:{name}"), parameters);
        let mut answer = sent.unwrap_or_else(|error| panic!("{error}"));
        // Some results are the answer itself.
        answer.get_mut("value").map(Value::take).unwrap_or(answer)
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        // Its other processes end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
