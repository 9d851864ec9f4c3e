//! Running browsers that tests use one after the other, since a start takes longer than many tests.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

use super::driver::Driver;

/// Maximum numbers of browsers in use and of idle ones, which are large.
const MOST: usize = 4;
const SPARE: usize = 2;

/// Name and flags of a program.
pub(super) type Kind = Vec<String>;

/// All open browsers.
struct Pool {
    /// Number of those in use.
    used: usize,
    /// Those that wait for a test.
    idle: Vec<(Kind, Driver)>,
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

/// A browser in use, of which there are fewer than [`MOST`] others.
pub(super) struct Lent {
    driver: Option<Driver>,
    /// Its kind, if other tests may use it.
    kind: Option<Kind>,
}

impl Lent {
    /// Takes or starts a browser of this kind, and opens a window of this size in pixels. What pages keep, and what is
    /// set for the window, ends with it. Without a kind, starts a browser for one test.
    ///
    /// # Errors
    /// If the program is missing, or cannot be driven.
    pub(super) fn open(
        kind: Option<Kind>,
        (width, height): (u32, u32),
        start: impl FnOnce() -> std::io::Result<Driver>,
    ) -> std::io::Result<Lent> {
        let mut pool = FREE.wait_while(pool(), |pool| pool.used == MOST).unwrap_or_else(PoisonError::into_inner);
        pool.used += 1;
        let found = pool.idle.iter().rposition(|(other, _)| Some(other) == kind.as_ref());
        let found = found.map(|index| pool.idle.remove(index).1);
        drop(pool);
        let is_new = found.is_none();
        // From here on, its end lets another test begin.
        let mut lent = Lent { driver: found, kind: None };
        let mut driver = lent.driver.take().map_or_else(start, Ok)?;
        if kind.is_some() {
            match driver.begin(width, height) {
                Err(error) if is_new => return Err(error),
                // It has worked for another test.
                begun => begun.expect("the browser runs"),
            }
        }
        (lent.driver, lent.kind) = (Some(driver), kind);
        Ok(lent)
    }
}

impl Deref for Lent {
    type Target = Driver;

    fn deref(&self) -> &Driver {
        self.driver.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut driver = self.driver.take();
        // After a failure, the browser is closed.
        let kind = self.kind.take().filter(|_| !std::thread::panicking());
        if let (Some(driver), true) = (&mut driver, kind.is_some()) {
            driver.end();
        }
        let mut pool = pool();
        pool.used -= 1;
        FREE.notify_one();
        // The one that has waited longest is closed if there are too many.
        if let Some(kind) = kind
            && let Some(kept) = driver.take()
        {
            close_at_exit();
            pool.idle.push((kind, kept));
            driver = (pool.idle.len() > SPARE).then(|| pool.idle.remove(0).1);
        }
        drop(pool);
        drop(driver);
    }
}
