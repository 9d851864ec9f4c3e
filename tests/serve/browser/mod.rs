//! A real browser, headless Chromium, driven over WebDriver (<https://www.w3.org/TR/webdriver2/>).
//!
//! Debian's packages are chromium and chromium-driver. Without `chromedriver` the tests are skipped with a warning, or
//! fail if `KALAH_REQUIRE_BROWSER=1`.

pub mod board;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::serving::{agent, read};

/// Maximum time until a page shows an expected result.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum number of open browsers, which are large.
const MOST: usize = 4;

/// Number of open browsers.
static OPEN: Mutex<usize> = Mutex::new(0);
static CLOSED: Condvar = Condvar::new();

/// Permission to have a browser open.
struct Permit;

impl Permit {
    /// Waits until fewer than [`MOST`] browsers are open.
    fn wait() -> Permit {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        *CLOSED.wait_while(open, |open| *open == MOST).unwrap_or_else(PoisonError::into_inner) += 1;
        Permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        CLOSED.notify_one();
    }
}

/// Starts chromedriver. Returns it and its port.
fn start_driver() -> std::io::Result<(Child, u16)> {
    // It takes a free port first for one address and then for the other, and gives up if another program has taken it
    // in between.
    const TRIES: usize = 5;
    for _ in 0..TRIES {
        let mut driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
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
    panic!("chromedriver printed no port {TRIES} times");
}

/// A browser with one window.
pub struct Browser {
    driver: Child,
    /// Address of the browser's commands.
    session: String,
    _profile: tempfile::TempDir,
    _permit: Permit,
}

impl Browser {
    /// Opens a window of this size in pixels. Returns `None`, with a warning, if there is no browser and none is
    /// required.
    pub fn open(width: u32, height: u32, flags: &[&str]) -> Option<Browser> {
        let permit = Permit::wait();
        let (driver, port) = match start_driver() {
            Ok(started) => started,
            Err(error) => {
                let required = std::env::var("KALAH_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
                assert!(!required, "KALAH_REQUIRE_BROWSER=1, but chromedriver cannot be started: {error}");
                let test = std::thread::current().name().unwrap_or("a test").to_owned();
                // Not by `eprintln`, whose output the test harness hides when a test passes.
                let message = format!("\n*** SKIPPED: {test}: no chromedriver: {error}; install chromium-driver\n");
                let _ = std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes());
                return None;
            }
        };
        let profile = tempfile::tempdir().unwrap();
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        arguments.push(format!("--window-size={width},{height}"));
        arguments.extend(flags.iter().map(|&flag| flag.to_owned()));
        let wanted = json!({ "goog:chromeOptions": { "args": arguments }, "goog:loggingPrefs": { "browser": "ALL" } });
        let mut browser =
            Browser { driver, session: format!("http://127.0.0.1:{port}/session"), _profile: profile, _permit: permit };
        let opened = browser.post("", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session += &format!("/{}", opened["sessionId"].as_str().unwrap());
        Some(browser)
    }

    #[track_caller]
    fn post(&self, command: &str, body: &Value) -> Value {
        let url = format!("{}{command}", self.session);
        let (status, mut answer) = read(agent().post(url).send_json(body));
        assert_eq!(status, 200, "{command}: {answer}");
        answer["value"].take()
    }

    pub fn go(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    /// Sends a command of the Chrome DevTools Protocol.
    #[track_caller]
    fn devtools(&self, command: &str, parameters: Value) {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Runs a script in each page before its own.
    #[track_caller]
    pub fn before(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// Delays every answer by this time.
    #[track_caller]
    pub fn latency(&self, milliseconds: u32) {
        let conditions =
            json!({ "offline": false, "latency": milliseconds, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.devtools("Network.enable", json!({}));
        self.devtools("Network.emulateNetworkConditions", conditions);
    }

    /// Shows the page on a screen of this size in CSS pixels, which may be smaller than any window.
    #[track_caller]
    pub fn screen(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size);
    }

    /// Makes the screen a touch screen.
    #[track_caller]
    pub fn touch(&self) {
        self.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
        self.devtools("Emulation.setEmitTouchEventsForMouse", json!({ "enabled": true, "configuration": "mobile" }));
    }

    /// Gives a media feature such as `forced-colors` a value.
    #[track_caller]
    pub fn media(&self, name: &str, value: &str) {
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": [{ "name": name, "value": value }] }));
    }

    /// Runs a script, and returns its result.
    #[track_caller]
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Text of the first element that matches a selector.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({}).textContent", json!(selector));
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let begin = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            let shown = || self.run("return document.body.innerText + ' ' + location.href");
            assert!(begin.elapsed() < PATIENCE, "never true: {expression}\n{}\n{}", shown(), self.errors());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks the first element that matches a selector, as a mouse would.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Drags a pointer through an element, from one share of its width to another; `at_each` runs after each of some
    /// steps, before the pointer is released.
    #[track_caller]
    pub fn drag(&self, selector: &str, from: f64, to: f64, mut at_each: impl FnMut()) {
        const STEPS: u32 = 8;
        let script = format!(
            "const element = document.querySelector({}); element.scrollIntoView({{ block: 'center' }});
             const {{ left, top, width, height }} = element.getBoundingClientRect();
             return [left, top + height / 2, width]",
            json!(selector)
        );
        let [left, y, width] = [0, 1, 2].map({
            let found = self.run(&script);
            move |index| found[index].as_f64().unwrap()
        });
        let step = |actions: Value| {
            self.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }));
        };
        let place = |share: f64| {
            let x = left + share * width;
            json!({ "type": "pointerMove", "duration": 0, "x": x as i64, "y": y as i64 })
        };
        step(json!([place(from), { "type": "pointerDown", "button": 0 }]));
        for number in 1..=STEPS {
            step(json!([place(from + (to - from) * f64::from(number) / f64::from(STEPS))]));
            at_each();
        }
        step(json!([{ "type": "pointerUp", "button": 0 }]));
    }

    /// Presses keys, one after the other.
    pub fn keys(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() })))
            .collect();
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Messages that the page wrote to its console.
    pub fn errors(&self) -> Value {
        self.post("/se/log", &json!({ "type": "browser" }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This closes the browser too.
        let _ = agent().delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
