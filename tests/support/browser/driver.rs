//! The connection to a running browser of either kind.

use serde_json::Value;

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
}
