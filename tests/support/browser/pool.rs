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

/// Permission to use a browser.
struct Permit;

impl Permit {
    /// Waits until fewer than [`MOST`] browsers are in use.
    fn wait() -> Permit {
        let mut pool = FREE.wait_while(pool(), |pool| pool.used == MOST).unwrap_or_else(PoisonError::into_inner);
        pool.used += 1;
        Permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        pool().used -= 1;
        FREE.notify_one();
    }
}

/// Takes an idle browser of a kind.
fn take(kind: &Kind) -> Option<Driver> {
    let mut pool = pool();
    let found = pool.idle.iter().rposition(|(other, _)| other == kind)?;
    Some(pool.idle.remove(found).1)
}

/// Keeps a browser for other tests. Closes the one that has waited longest if there are too many.
fn give_back(kind: Kind, driver: Driver) {
    close_at_exit();
    let mut pool = pool();
    pool.idle.push((kind, driver));
    let closed = (pool.idle.len() > SPARE).then(|| pool.idle.remove(0));
    drop(pool);
    drop(closed);
}

/// A browser in use.
pub(super) struct Lent {
    driver: Option<Driver>,
    /// Its kind, if other tests may use it.
    kind: Option<Kind>,
    _permit: Permit,
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
        let permit = Permit::wait();
        let (mut driver, is_new) = match kind.as_ref().and_then(take) {
            Some(driver) => (driver, false),
            None => (start()?, true),
        };
        if kind.is_some() {
            match driver.begin(width, height) {
                Err(error) if is_new => return Err(error),
                // It has worked for another test.
                begun => begun.expect("the browser runs"),
            }
        }
        Ok(Lent { driver: Some(driver), kind, _permit: permit })
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
        // After a failure, the browser is closed.
        if let (Some(mut driver), Some(kind), false) = (self.driver.take(), self.kind.take(), std::thread::panicking())
        {
            driver.end();
            give_back(kind, driver);
        }
    }
}
