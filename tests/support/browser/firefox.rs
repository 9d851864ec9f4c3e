//! Headless Firefox, driven over Marionette
//! (<https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html>), the protocol in Firefox of which
//! geckodriver makes WebDriver.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Names of the program: Debian's first.
const PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];

/// Maximum time until Firefox takes commands.
const START: Duration = Duration::from_secs(60);

/// Script of the browser that opens a tab and closes all others: in a new container, or in that of the tab before.
/// Containers share no storage, caches or workers.
const REPLACE: &str = "
    const { ContextualIdentityService } =
      ChromeUtils.importESModule('resource://gre/modules/ContextualIdentityService.sys.mjs');
    const others = [...gBrowser.tabs];
    const container = arguments[0] ? ContextualIdentityService.create('test', 'circle', 'blue') : gBrowser.selectedTab;
    gBrowser.selectedTab = gBrowser.addTab('about:blank', {
      userContextId: container.userContextId,
      skipLoad: true,
      triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal(),
    });
    for (const tab of others) gBrowser.removeTab(tab, { skipPermitUnload: true });";

/// A running Firefox.
pub struct Firefox {
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
    fn receive(&mut self) -> Value {
        let mut length = Vec::new();
        self.from.read_until(b':', &mut length).unwrap();
        let length = std::str::from_utf8(&length).unwrap().trim_end_matches(':').parse().unwrap();
        let mut message = vec![0; length];
        self.from.read_exact(&mut message).unwrap();
        serde_json::from_slice(&message).unwrap()
    }

    #[track_caller]
    fn send(&mut self, name: &str, parameters: &Value) -> Value {
        self.last += 1;
        let message = json!([0, self.last, name, parameters]).to_string();
        write!(self.to, "{}:{message}", message.len()).unwrap();
        let mut answer = self.receive();
        assert_eq!((&answer[0], &answer[1]), (&json!(1), &json!(self.last)), "{name}: {answer}");
        assert!(answer[2].is_null(), "{name}: {}", answer[2]);
        answer[3].take()
    }
}

impl Firefox {
    /// Opens a window of this size in pixels, whose settings are `preferences`.
    ///
    /// # Errors
    /// If Firefox is missing.
    pub fn open(width: u32, height: u32, preferences: &[(&str, bool)]) -> std::io::Result<Firefox> {
        let profile = tempfile::tempdir()?;
        let mut settings = "user_pref(\"marionette.port\", 0);\n".to_owned();
        for (name, value) in preferences {
            settings += &format!("user_pref(\"{name}\", {value});\n");
        }
        std::fs::write(profile.path().join("user.js"), settings)?;
        let start = |program: &str| {
            Command::new(program)
                .args(["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile"])
                .arg(profile.path())
                .envs([("MOZ_HEADLESS_WIDTH", width.to_string()), ("MOZ_HEADLESS_HEIGHT", height.to_string())])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        };
        // Debian has both names for one program, which must start only once.
        let process = start(PROGRAMS[0]).or_else(|_| start(PROGRAMS[1]))?;
        // It writes its port into this file.
        let (file, begin) = (profile.path().join("MarionetteActivePort"), Instant::now());
        let port: u16 = loop {
            assert!(begin.elapsed() < START, "Firefox wrote no port");
            match std::fs::read_to_string(&file) {
                Ok(text) if !text.is_empty() => break text.trim().parse().unwrap(),
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let to = TcpStream::connect(("127.0.0.1", port))?;
        let mut connection = Connection { from: BufReader::new(to.try_clone()?), to, last: 0 };
        assert_eq!(connection.receive()["marionetteProtocol"], 3);
        connection.send("WebDriver:NewSession", &json!({}));
        Ok(Firefox { process, connection: Mutex::new(connection), _profile: profile })
    }

    /// Sends a command of WebDriver. Returns its result.
    #[track_caller]
    pub fn send(&self, name: &str, parameters: &Value) -> Value {
        let mut answer = self.connection.lock().unwrap().send(&format!("WebDriver:{name}"), parameters);
        // Some results are the answer itself.
        if let Some(value) = answer.get_mut("value") {
            return value.take();
        }
        answer
    }

    /// Replaces the tab by an empty one: in a new container, or else in its own.
    pub fn replace_tab(&self, is_apart: bool) {
        let context = |name: &str| {
            self.connection.lock().unwrap().send("Marionette:SetContext", &json!({ "value": name }));
        };
        let before = self.send("GetWindowHandles", &json!({}));
        context("chrome");
        self.send("ExecuteScript", &json!({ "script": REPLACE, "args": [is_apart] }));
        context("content");
        let (before, after) = (before.as_array().unwrap(), self.send("GetWindowHandles", &json!({})));
        let opened = after.as_array().unwrap().iter().find(|tab| !before.contains(tab)).expect("the tab is there");
        self.send("SwitchToWindow", &json!({ "handle": opened }));
    }

    /// Closes the tab, and leaves an empty one that shares nothing with it.
    pub fn end(&self) {
        self.send("ReleaseActions", &json!({}));
        self.replace_tab(true);
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        // Its other processes end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
