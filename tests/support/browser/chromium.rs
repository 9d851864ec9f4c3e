//! Headless Chromium, driven by chromedriver over HTTP (<https://www.w3.org/TR/webdriver2/>).

use std::io::{BufRead, BufReader, Error};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::serving::{agent, read};

/// Starts chromedriver, with a home folder that it may write to. Returns it and its port.
fn start_driver(home: &Path) -> std::io::Result<(Child, u16)> {
    // It takes a free port first for one address and then for the other, and gives up if another program has taken it
    // in between.
    const TRIES: usize = 5;
    for _ in 0..TRIES {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME");
        let mut driver = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let started = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        if let Some(port) = started {
            return Ok((driver, port));
        }
        driver.kill()?;
        driver.wait()?;
    }
    Err(Error::other(format!("chromedriver printed no port {TRIES} times")))
}

/// Chromium without windows, menus and private profiles. It loads a page in half the processor time.
const SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";

/// A running Chromium and its driver.
pub(super) struct Chromium {
    driver: Child,
    /// Address of the browser's commands.
    session: String,
    _directory: tempfile::TempDir,
}

impl Chromium {
    /// Opens a window of this size in pixels.
    ///
    /// # Errors
    /// If chromedriver is missing, or no Chromium fits it.
    pub(super) fn open((width, height): (u32, u32), flags: &[&str]) -> std::io::Result<Chromium> {
        let directory = tempfile::tempdir()?;
        let (driver, port) = start_driver(directory.path())?;
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            // Chromium would prepare pages of its own for the list under the address.
            "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--user-data-dir={}", directory.path().display()));
        arguments.push(format!("--window-size={width},{height}"));
        arguments.extend(flags.iter().map(|&flag| flag.to_owned()));
        let mut wanted =
            json!({ "goog:chromeOptions": { "args": arguments }, "goog:loggingPrefs": { "browser": "ALL" } });
        if !flags.contains(&"--incognito") && Path::new(SHELL).exists() {
            wanted["browserName"] = "chrome-headless-shell".into();
            wanted["goog:chromeOptions"]["binary"] = SHELL.into();
        }
        let session = format!("http://127.0.0.1:{port}/session");
        let mut browser = Chromium { driver, session, _directory: directory };
        let opened = browser.try_post("", &json!({ "capabilities": { "alwaysMatch": wanted } }))?;
        let session = opened["sessionId"].as_str();
        let session = session.ok_or_else(|| Error::other(format!("chromedriver opened no session: {opened}")))?;
        browser.session += &format!("/{session}");
        Ok(browser)
    }

    /// Sends a command to a path of the session. Returns its result.
    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        self.try_post(path, body).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_post(&self, path: &str, body: &Value) -> std::io::Result<Value> {
        let url = format!("{}{path}", self.session);
        let response = agent().post(url).content_type("application/json").send(body.to_string());
        let (status, mut answer) = read(Ok(response.map_err(Error::other)?));
        match status {
            200 => Ok(answer["value"].take()),
            _ => Err(Error::other(format!("chromedriver: {path}: {}", answer["value"]["message"]))),
        }
    }

    /// Returns the new messages of pages to their consoles.
    pub(super) fn log(&self) -> Value {
        self.post("/se/log", &json!({ "type": "browser" }))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // This closes the browser too.
        let _ = agent().delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
