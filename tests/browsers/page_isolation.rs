//! Tests share a few running browsers, but their pages see nothing of each other.

use serde_json::json;

use kalah_tests::browser::board::STILL;
use kalah_tests::browser::{Browser, Program};
use kalah_tests::host::Host;

/// Number of tests, one after the other, some of which have the same browser.
const ROUNDS: usize = 3;

/// All that is kept for an origin.
const KEPT: &str = "return (async () => [localStorage.length, sessionStorage.length, document.cookie,
    (await caches.keys()).length, (await indexedDB.databases()).length,
    (await navigator.serviceWorker.getRegistrations()).length])()";

/// Keeps something of each kind.
const KEEP: &str = "return (async () => {
    localStorage.kept = sessionStorage.kept = 1;
    document.cookie = 'kept=1; max-age=600';
    await caches.open('kept');
    await new Promise((done) => { indexedDB.open('kept').onsuccess = done });
    await navigator.serviceWorker.register('worker.js');
    console.error('kept');
    return 1; })()";

/// All that a test sets, and the size of the window.
const SET: &str = "return [matchMedia('(forced-colors: active)').matches, navigator.maxTouchPoints > 0,
    window.before ?? null, innerWidth, outerWidth, outerHeight]";

/// A host whose two files browsers may use for ten minutes.
fn host() -> (Host, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let page = "<!doctype html><link rel=icon href=data:,><title>-</title>";
    std::fs::write(folder.path().join("index.html"), page).unwrap();
    std::fs::write(folder.path().join("worker.js"), "").unwrap();
    let host = Host::new(folder.path(), "");
    host.conduct().lasting = true;
    (host, folder)
}

/// Checks that nothing is there from pages before. Then keeps something.
fn visit(browser: &Browser, host: &Host) {
    host.requests();
    browser.go(&host.address);
    assert_eq!(host.names().iter().filter(|name| *name == "index.html").count(), 1);
    assert_eq!(browser.run(KEPT), json!([0, 0, "", 0, 0, 0]));
    browser.run(KEEP);
    assert_eq!(browser.run(KEPT), json!([1, 1, "kept=1", 1, 1, 1]));
}

#[test]
fn windows_of_chromium_see_nothing_of_each_other() {
    let (host, _folder) = host();
    for _ in 0..ROUNDS {
        let Some(browser) = Browser::open(1280, 800, STILL) else { return };
        assert_eq!(browser.errors(), json!([]));
        visit(&browser, &host);
        assert_eq!(browser.run(SET), json!([false, false, null, 1280, 1280, 800]));
        browser.before("window.before = 1");
        browser.media("forced-colors", "active");
        browser.touch();
        browser.screen(700, 500);
        browser.latency(100);
        browser.run("location.reload()");
        browser.wait("window.before === 1 && document.title");
        let set = browser.run(SET);
        assert_eq!(set, json!([true, true, 1, 700, set[4], set[5]]));
    }
}

#[test]
fn tabs_of_firefox_see_nothing_of_each_other() {
    let (host, _folder) = host();
    for _ in 0..ROUNDS {
        let Some(browser) = Browser::of(Program::Firefox, false) else { return };
        visit(&browser, &host);
        // A file that was kept is not requested again; nor is a tab left that shares nothing with this one.
        browser.leave();
        host.requests();
        browser.go(&host.address);
        assert_eq!(host.requests(), []);
        assert_eq!(browser.run(KEPT), json!([1, 0, "kept=1", 1, 1, 1]));
    }
}
