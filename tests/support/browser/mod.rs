//! Real browsers without a window on a screen: Chromium and Firefox.
//!
//! Debian's packages are chromium, chromium-driver and firefox-esr. Tests of a browser that is missing, or cannot be
//! driven, are skipped with a warning, or fail if `KALAH_REQUIRE_BROWSER=1`.

pub mod board;
mod chromium;
mod driver;
mod firefox;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::optional;
use chromium::Chromium;
use driver::Driver;
use firefox::Firefox;

/// Keys without a letter, for [`Browser::keys`].
#[allow(missing_docs, reason = "their names say it")]
pub mod keys {
    pub const TAB: &str = "\u{e004}";
    pub const ENTER: &str = "\u{e007}";
    pub const ESCAPE: &str = "\u{e00c}";
    pub const END: &str = "\u{e010}";
    pub const HOME: &str = "\u{e011}";
    pub const LEFT: &str = "\u{e012}";
    pub const RIGHT: &str = "\u{e014}";
}

/// Functions of every script: the first element of a selector, and all; its frame; whether it is seen; the texts of
/// all; and the JSON that an address answers.
const FUNCTIONS: &str = "const $ = (one) => document.querySelector(one), $$ = (all) => \
    [...document.querySelectorAll(all)], box = (one) => $(one).getBoundingClientRect(), \
    shown = (one) => Boolean($(one)?.checkVisibility({ checkVisibilityCSS: true })), \
    texts = (all) => $$(all).map((one) => one.textContent), \
    ask = async (path, options) => (await fetch(path, options)).json();";

/// Path and name of the command that moves pointers and presses keys.
const ACTIONS: (&str, &str) = ("/actions", "PerformActions");

/// Size of the windows in pixels.
const SIZE: (u32, u32) = (1280, 800);

/// Maximum time until a page shows an expected result.
const PATIENCE: Duration = Duration::from_secs(60);

/// Minimum and maximum time between two looks at a page.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(100));

/// Returns an open browser of a package. Returns `None`, with a warning, if it cannot be used and is not required.
fn usable(package: &'static str, open: impl FnOnce() -> std::io::Result<Driver>) -> Option<Browser> {
    /// Reasons why packages cannot be used. Finding out may take a minute, so this is done once.
    static UNUSABLE: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let unusable = || UNUSABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = unusable().get(package).cloned();
    let reason = match known.map_or_else(open, |reason| Err(std::io::Error::other(reason))) {
        Ok(driver) => return Some(Browser { driver }),
        Err(error) => error.to_string(),
    };
    unusable().insert(package, reason.clone());
    optional::skip("BROWSER", format_args!("no browser of the package {package} can be used: {reason}"));
    None
}

/// Programs that show pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Chromium, by chromedriver.
    Chromium,
    /// Firefox, by Marionette.
    Firefox,
}

/// A browser with one window.
pub struct Browser {
    driver: Driver,
}

impl Browser {
    /// Starts Chromium with these flags, in a profile of its own. Returns `None`, with a warning, if there is no
    /// browser and none is required.
    pub fn open(flags: &[&str]) -> Option<Browser> {
        usable("chromium-driver", || Chromium::open(SIZE, flags).map(Driver::Chromium))
    }

    /// Starts a program, as `open` does. A `private` window keeps nothing.
    pub fn of(program: Program, private: bool) -> Option<Browser> {
        match program {
            Program::Chromium if private => Browser::open(&["--incognito"]),
            Program::Chromium => Browser::open(&[]),
            Program::Firefox => usable("firefox-esr", || Firefox::open(SIZE, private).map(Driver::Firefox)),
        }
    }

    /// Opens an address.
    pub fn go(&self, url: &str) {
        self.driver.send(("/url", "Navigate"), &json!({ "url": url }));
    }

    /// Leaves the page for an empty one, and closes it.
    pub fn leave(&self) {
        self.go("about:blank");
    }

    /// Sends a command of the DevTools protocol.
    #[track_caller]
    fn devtools(&self, command: &str, parameters: Value) {
        self.driver.chromium().post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
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

    /// Runs a script that may use `FUNCTIONS`, and returns its result.
    #[track_caller]
    pub fn run(&self, script: &str) -> Value {
        let script = format!("{FUNCTIONS} {{ {script} }}");
        self.driver.send(("/execute/sync", "ExecuteScript"), &json!({ "script": script, "args": [] }))
    }

    /// Value of an expression.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"))
    }

    /// Fails if an expression has another value.
    #[track_caller]
    pub fn is(&self, expression: &str, expected: impl Into<Value>) {
        assert_eq!(self.value(expression), expected.into(), "{expression}");
    }

    /// Text of the first element that matches a selector.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        self.value(&format!("$({}).textContent", json!(selector))).as_str().unwrap().to_owned()
    }

    /// Gives a field a value, as somebody who types or chooses it.
    #[track_caller]
    pub fn fill(&self, selector: &str, value: impl Into<Value>) {
        self.run(&format!(
            "const field = $({}); field.value = {};
             for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }}))",
            json!(selector),
            value.into()
        ));
    }

    /// Loads the page again, and waits until it shows a board.
    #[track_caller]
    pub fn reload(&self) {
        self.run("window.before = true; location.reload()");
        self.wait("!window.before && $('.pit')");
    }

    /// Waits until an expression is true. It is evaluated less often while a wait lasts, since that is work too.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let begin = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            let shown = || self.value("document.body.innerText + ' ' + location.href");
            assert!(begin.elapsed() < PATIENCE, "never true: {expression}\n{}\n{}", shown(), self.errors());
            std::thread::sleep((begin.elapsed() / 10).clamp(PAUSE.0, PAUSE.1));
        }
    }

    /// Clicks the first element that matches a selector, as a mouse would.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let found =
            self.driver.send(("/element", "FindElement"), &json!({ "using": "css selector", "value": selector }));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
        self.driver.send((&format!("/element/{element}/click"), "ElementClick"), &json!({ "id": element }));
    }

    /// Clicks an element, and waits until an expression is true.
    #[track_caller]
    pub fn click_until(&self, selector: &str, expression: &str) {
        self.click(selector);
        self.wait(expression);
    }

    /// Drags a pointer through an element, from one share of its width to another; `at_each` runs after each of some
    /// steps, before the pointer is released.
    #[track_caller]
    pub fn drag(&self, selector: &str, from: f64, to: f64, mut at_each: impl FnMut()) {
        const STEPS: u32 = 8;
        let script = format!(
            "const element = $({}); element.scrollIntoView({{ block: 'center' }});
             const {{ left, top, width, height }} = element.getBoundingClientRect();
             return [left, top + height / 2, width]",
            json!(selector)
        );
        let [left, y, width] = [0, 1, 2].map({
            let found = self.run(&script);
            move |index| found[index].as_f64().unwrap()
        });
        let step = |actions: Value| {
            self.driver
                .send(ACTIONS, &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }));
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
        self.driver.send(ACTIONS, &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Presses keys, and waits until an expression is true.
    #[track_caller]
    pub fn keys_until(&self, keys: &str, expression: &str) {
        self.keys(keys);
        self.wait(expression);
    }

    /// Messages that the page wrote to its console; Firefox does not report them.
    pub fn errors(&self) -> Value {
        match &self.driver {
            Driver::Chromium(chromium) => chromium.log(),
            Driver::Firefox(_) => json!([]),
        }
    }
}
