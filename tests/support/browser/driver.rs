//! The connection to a running browser of either kind.

use serde_json::{Value, json};

use super::chromium::Chromium;
use super::firefox::Firefox;

/// The connection to a running program.
pub(super) enum Driver {
    Chromium(Chromium),
    Firefox(Firefox),
}

impl Driver {
    /// Returns the connection to Chromium, for what other browsers lack.
    pub(super) fn chromium(&self) -> &Chromium {
        match self {
            Driver::Chromium(chromium) => chromium,
            Driver::Firefox(_) => panic!("only Chromium has this command"),
        }
    }

    /// Sends a command of WebDriver, given by its path and by its name in Marionette. Returns its result.
    #[track_caller]
    pub(super) fn send(&self, (path, name): (&str, &str), body: &Value) -> Value {
        match self {
            Driver::Chromium(chromium) => chromium.post(path, body),
            Driver::Firefox(firefox) => firefox.send(name, body),
        }
    }

    /// Leaves the page for an empty one. Firefox would keep it for its button Back, so there the tab is closed.
    pub(super) fn leave(&self) {
        match self {
            Driver::Chromium(chromium) => drop(chromium.post("/url", &json!({ "url": "about:blank" }))),
            Driver::Firefox(firefox) => firefox.replace_tab(false),
        }
    }

    /// Shows an empty page that shares nothing with those before it, in a window of this size.
    pub(super) fn begin(&mut self, width: u32, height: u32) -> std::io::Result<()> {
        match self {
            Driver::Chromium(chromium) => chromium.begin(width, height),
            // It is started with this size, and as `end` has left it.
            Driver::Firefox(_) => Ok(()),
        }
    }

    /// Closes the page, and all that it has kept.
    pub(super) fn end(&mut self) {
        match self {
            Driver::Chromium(chromium) => chromium.end(),
            Driver::Firefox(firefox) => firefox.end(),
        }
    }
}
