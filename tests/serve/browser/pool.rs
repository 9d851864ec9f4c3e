//! Running Chromiums that tests use one after the other, since a start takes longer than many tests.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

use serde_json::{Value, json};

use super::chromium::Chromium;
use super::devtools::DevTools;

/// Maximum number of open browsers, which are large.
const MOST: usize = 4;

/// All open browsers.
struct Pool {
    /// Number of those in use.
    used: usize,
    /// Those that wait for a test, with their flags.
    idle: Vec<(Vec<String>, Chromium)>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { used: 0, idle: Vec::new() });
static FREE: Condvar = Condvar::new();

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes idle browsers when the process ends, which drops no static value.
fn close_at_exit() {
    extern "C" fn close() {
        // In a thread of its own, since values of this one are gone.
        let _ = std::thread::spawn(|| drop(std::mem::take(&mut pool().idle))).join();
    }
    static ONCE: Once = Once::new();
    // SAFETY: `close` has the type of such functions, and does not unwind.
    ONCE.call_once(|| assert_eq!(unsafe { libc::atexit(close) }, 0));
}

/// Permission to use a browser.
pub struct Permit;

impl Permit {
    /// Waits until fewer than [`MOST`] browsers are in use.
    pub fn wait() -> Permit {
        let mut pool = FREE.wait_while(pool(), |pool| pool.used == MOST).unwrap_or_else(PoisonError::into_inner);
        pool.used += 1;
        Permit
    }

    /// Closes an idle browser if one that is to be started would be one too many.
    pub fn make_room(&self) {
        let mut pool = pool();
        let closed = (pool.used + pool.idle.len() > MOST).then(|| pool.idle.remove(0));
        drop(pool);
        drop(closed);
    }

    /// Takes an idle Chromium with these flags, or starts one.
    fn chromium(&self, width: u32, height: u32, flags: &[&str]) -> std::io::Result<Chromium> {
        let mut pool = pool();
        if let Some(found) = pool.idle.iter().rposition(|(others, _)| others == flags) {
            return Ok(pool.idle.remove(found).1);
        }
        drop(pool);
        self.make_room();
        Chromium::open(width, height, flags)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        pool().used -= 1;
        FREE.notify_one();
    }
}

/// A window in a Chromium from the pool. Its profile is new, and ends with it: storage, caches and workers. So does all
/// that was set for the window.
pub struct Lent {
    chromium: Option<Chromium>,
    flags: Vec<String>,
    devtools: DevTools,
    /// Identifier of the profile.
    profile: Value,
}

impl Lent {
    /// Opens a window of this size in pixels.
    ///
    /// # Errors
    /// If chromedriver is missing.
    pub fn open(permit: &Permit, width: u32, height: u32, flags: &[&str]) -> std::io::Result<Lent> {
        let chromium = permit.chromium(width, height, flags)?;
        let mut devtools = DevTools::connect(chromium.address())?;
        let profile = devtools.send("Target.createBrowserContext", &json!({}))?["browserContextId"].take();
        let window = json!({ "url": "about:blank", "browserContextId": profile, "newWindow": true,
            "width": width, "height": height });
        let opened = devtools.send("Target.createTarget", &window)?;
        chromium.post("/window", &json!({ "handle": opened["targetId"] }));
        // Messages of pages before are not those of this window.
        chromium.log();
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        Ok(Lent { chromium: Some(chromium), flags, devtools, profile })
    }
}

impl Deref for Lent {
    type Target = Chromium;

    fn deref(&self) -> &Chromium {
        self.chromium.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(chromium) = self.chromium.take() else { return };
        // After a failure, the browser is closed instead.
        if std::thread::panicking() {
            return;
        }
        chromium.release();
        self.devtools.send("Target.disposeBrowserContext", &json!({ "browserContextId": self.profile })).unwrap();
        close_at_exit();
        pool().idle.push((std::mem::take(&mut self.flags), chromium));
    }
}
