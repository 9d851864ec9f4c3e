//! Tests of the page share a few Chromiums, but their windows see nothing of each other.
#![cfg(all(feature = "cli", feature = "serve"))]

use serde_json::json;

use crate::browser::Browser;
use crate::browser::board::STILL;
use crate::sites::Host;

/// All that is kept for an origin or set by a test, and the size of the window.
const STATE: &str = "return (async () => [localStorage.length, sessionStorage.length, document.cookie,
    (await caches.keys()).length, (await indexedDB.databases()).length,
    (await navigator.serviceWorker.getRegistrations()).length, matchMedia('(forced-colors: active)').matches,
    navigator.maxTouchPoints, window.before ?? null, innerWidth, outerWidth, outerHeight])()";

/// Keeps something of each kind.
const KEEP: &str = "return (async () => {
    localStorage.kept = sessionStorage.kept = 1;
    document.cookie = 'kept=1; max-age=600';
    await caches.open('kept');
    await new Promise((done) => { indexedDB.open('kept').onsuccess = done });
    await navigator.serviceWorker.register('worker.js');
    console.error('kept');
    return 1; })()";

#[test]
fn windows_of_one_browser_see_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<!doctype html><link rel=icon href=data:,><title>-</title>")
        .unwrap();
    std::fs::write(folder.path().join("worker.js"), "").unwrap();
    let host = Host::lasting(folder.path().to_owned());
    let asked = || host.requests().iter().filter(|path| *path == "index.html").count();
    for _ in 0..3 {
        let Some(browser) = Browser::open(1280, 800, STILL) else { return };
        assert_eq!(browser.errors(), json!([]));
        let before = asked();
        browser.go(&host.address);
        assert_eq!(browser.run(STATE), json!([0, 0, "", 0, 0, 0, false, 0, null, 1280, 1280, 800]));
        // Nor is a file there that a browser keeps for ten minutes.
        assert_eq!(asked(), before + 1);
        browser.run(KEEP);
        browser.before("window.before = 1");
        browser.media("forced-colors", "active");
        browser.touch();
        browser.screen(700, 500);
        browser.latency(100);
        browser.run("location.reload()");
        browser.wait("window.before === 1 && document.title");
        let kept = browser.run(STATE);
        assert_eq!(kept, json!([1, 1, "kept=1", 1, 1, 1, true, kept[7], 1, 700, kept[10], kept[11]]));
        assert!(kept[7].as_u64() > Some(0));
    }
}
