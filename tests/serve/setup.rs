//! The server of most tests, and its tables.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kalah::game::Rules;
use kalah_tests::serving::{Server, description};
use kalah_tests::tables::built;
use serde_json::Value;

/// All tables of 3x2, and those of 6 pits to 8 seeds, by the standard rules to 10.
pub(crate) fn directory() -> &'static Path {
    let most = |rules| if rules == Rules::Standard { 10 } else { 8 };
    built(&Rules::ALL.map(|rules| [(rules, 6, most(rules)), (rules, 3, 12)]).concat())
}

/// Starts a server with these flags.
pub(crate) fn start(tables: &Path, flags: &str) -> Server {
    let flags: Vec<&str> = ["--transpositions", "16MiB"].into_iter().chain(flags.split_whitespace()).collect();
    Server::start(tables, &flags)
}

/// The server of all tests that do not stop or overload it.
pub(crate) fn server() -> Arc<Server> {
    // Statics are never dropped, so a strong reference would leave the process running.
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(start(directory(), "--no-book --time 0.3 --stream-time 1.5 --searches 8"));
        *shared = Arc::downgrade(&server);
        server
    })
}

/// Sends the server a document.
pub(crate) fn post(path: &str, body: &Value) -> (u16, Value) {
    server().post(path, body.to_string().as_bytes())
}

/// Checks that a document fits a schema of the server's description.
#[track_caller]
pub(crate) fn assert_described(value: &Value, schema: &str) {
    description::assert_described(&server(), value, schema);
}
