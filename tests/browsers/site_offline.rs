//! Copies of an exported site in a visitor's browser: intact files of one version, whatever the network answers.

use std::time::Duration;

use kalah::game::{Position, Rules};
use kalah::table::{AllTables, Table};
use serde_json::{Value, json};

use crate::sites::{Site, ask, browser, directory, export, in_browsers, open, open_at, question, version};
use kalah_tests::browser::{Browser, Program};
use kalah_tests::files::flip;
use kalah_tests::host::{Fault, Host};

in_browsers! {
    both:
    what_the_network_answers_replaces_nothing_that_is_kept,
    the_first_visit_is_enough_to_play_without_a_network,
    files_of_two_versions_never_come_together,
    what_was_damaged_on_the_way_heals;
    chromium:
}

/// Opens a site, and waits until its worker keeps the page and the engine.
fn visit(browser: &Browser, host: &Host) {
    open(browser, host);
    ask(browser, &question(Rules::Standard, "0,0,1,0,2,1/1,0,0,3,0,0"));
    browser.wait("navigator.serviceWorker.controller?.state === 'activated'");
}

/// Leaves the page and opens an address of the host again. Waits until it shows a position.
fn come_back(browser: &Browser, host: &Host, address: &str) {
    browser.leave();
    open_at(browser, host, address);
}

fn what_the_network_answers_replaces_nothing_that_is_kept(browser: &Browser) {
    let site = Site::new("--size 1KiB");
    let host = &site.host;
    visit(browser, host);
    let rules = "[...document.adoptedStyleSheets].map((sheet) => sheet.cssRules.length)";
    let styles = browser.value(rules);
    for fault in [Fault::Portal, Fault::Status(503), Fault::Status(404), Fault::Down] {
        host.conduct().always = Some(fault);
        // Requests every file again, while the page is open.
        browser.run(
            "return Promise.all(performance.getEntriesByType('resource').map(({ name }) =>
               fetch(name, { cache: 'reload' }).then((answer) => answer.text(), () => 0))).then(() => 1)",
        );
        if fault == Fault::Portal {
            // The visitor has to see the portal, to log in.
            browser.go("about:blank");
            browser.go(&format!("{}/", host.address));
            browser.wait("document.title");
            browser.is("document.title", "Portal");
        } else {
            come_back(browser, host, "");
        }
        host.conduct().always = Some(Fault::Down);
        let others: &[&str] =
            if fault == Fault::Portal { &["?utm_source=x", "index.html", "index.html?a=1&b=2"] } else { &[] };
        for address in [""].iter().chain(others) {
            come_back(browser, host, address);
            assert_eq!(browser.value(rules), styles, "{fault:?} {address}");
        }
    }
}

fn the_first_visit_is_enough_to_play_without_a_network(browser: &Browser) {
    let site = Site::new("");
    visit(browser, &site.host);
    let path = question(Rules::Standard, "1,2,0,1,2,1/1,0,2,1,1,1");
    let before = ask(browser, &path);
    assert_eq!((before.0, &before.1["source"]), (200, &json!("tables")));
    site.host.conduct().always = Some(Fault::Down);
    come_back(browser, &site.host, "");
    // The blocks that were read are kept.
    assert_eq!(ask(browser, &path), before);
    let (status, answer) = ask(browser, "api/book?rules=empty-capture&board=6x4");
    assert_eq!((status, &answer["in_book"]), (200, &json!(true)), "{answer}");
    let moved =
        browser.value("ask('api/move', { method: 'POST', body: JSON.stringify({ board: '6x4', player: 'perfect' }) })");
    assert!(moved["move"].is_u64(), "{moved}");
    let (status, puzzle) = ask(browser, "api/puzzle?rules=standard&board=6x4&level=easy&seed=1");
    assert_eq!(status, 200, "{puzzle}");
}

#[test]
fn a_private_window_plays_a_game() {
    let site = Site::new("--size 0");
    for program in [Program::Chromium, Program::Firefox] {
        let Some(browser) = browser(program, true) else { continue };
        open(&browser, &site.host);
        browser.wait("$('.pit.legal')?.click() || $('#end').open");
        assert_eq!(browser.text("#error"), "");
    }
}

fn files_of_two_versions_never_come_together(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new(folder.path(), "");
    host.conduct().lasting = true;
    let read = question(Rules::Standard, "1,0,0,1,0,1/1,0,0,1,1,0");
    let mut before = Value::Null;
    for (index, flags) in ["--seeds 0", "--seeds 0 --no-book", "--seeds 0 --size 1MiB"].into_iter().enumerate() {
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(export(folder.path(), flags).0, 0);
        let now = version(folder.path()).file_name().unwrap().to_str().unwrap().to_owned();
        if index == 0 {
            visit(browser, &host);
        } else {
            browser.run("location.reload()");
        }
        browser.wait(&format!("$('script[src*=\"{now}\"]') && $('.pit.legal')"));
        ask(browser, "api/book?rules=standard&board=6x4");
        let answer = ask(browser, &read);
        assert_eq!(answer.0, 200, "{}", answer.1);
        let loaded = browser.value("performance.getEntriesByType('resource').map(({ name }) => name)");
        let loaded: Vec<String> = serde_json::from_value(loaded).unwrap();
        for name in ["page.bin", "local.js"] {
            assert!(loaded.iter().any(|url| url.ends_with(name)), "{name}: {loaded:?}");
        }
        for url in loaded {
            assert!(url.contains(&now) || url.contains("/tables/"), "{now}: {url}");
        }
        // The worker of this version starts once no page of the last version is open. A busy browser closes a page some
        // time after it was left.
        let mut pause = Duration::ZERO;
        loop {
            browser.wait("navigator.serviceWorker.controller");
            let worker = browser.value("navigator.serviceWorker.controller.scriptURL");
            if worker.as_str().unwrap().contains(&now) {
                break;
            }
            browser.leave();
            std::thread::sleep(pause);
            pause = 2 * pause + Duration::from_millis(200);
            assert!(pause < Duration::from_secs(60), "{now} never starts, but {worker}");
            come_back(browser, &host, "");
        }
        // Table blocks that were read serve all versions.
        host.conduct().always = Some(Fault::Down);
        come_back(browser, &host, "");
        let without = ask(browser, &read);
        assert_eq!((without.0, &without.1["score"]), (200, &answer.1["score"]));
        assert!(before.is_null() || before == answer.1["score"]);
        before = answer.1["score"].clone();
        host.conduct().always = None;
        come_back(browser, &host, "");
    }
    let names = browser.value("caches.keys()");
    assert_eq!(names.as_array().unwrap().len(), 2, "one cache of the page and one of tables: {names}");
}

fn what_was_damaged_on_the_way_heals(browser: &Browser) {
    let site = Site::new("--seeds 0");
    let host = &site.host;
    host.conduct().lasting = true;
    visit(browser, host);
    let tables = AllTables::new(directory().to_owned());
    let answers_right = |position: &Position| {
        let (status, answer) = ask(browser, &question(Rules::Standard, position));
        let score = tables.probe(Rules::Standard, position).unwrap().unwrap().score;
        assert_eq!((status, &answer["score"]), (200, &json!(score)), "{position}: {answer}");
        answer
    };
    // Damage in the scores, in the checksums and in the directory, then a network that wants a visitor to log in. Each
    // case uses a higher layer, since compared blocks are not read again.
    let positions: [Position; 4] =
        ["1,2,0,1,1,0/1,0,2,0,1,1", "1,2,0,1,1,0/1,0,2,1,1,1", "1,2,0,1,2,0/1,0,2,1,1,1", "1,2,0,1,2,1/1,0,2,1,1,1"]
            .map(|text| text.parse().unwrap());
    for (kind, position) in positions.iter().enumerate() {
        let file = site.table(position.seeds());
        let entry = Table::open(&file).unwrap().header().entries[position.mover().total() as usize - 1];
        let at = [entry.offset + 1, entry.offset + entry.checksums_at(), 128 + 72 + 9].get(kind).copied();
        let damage = || at.map(|at| flip(&file, at as usize, 1));
        damage();
        host.conduct().always = at.is_none().then_some(Fault::Portal);
        let (status, answer) = ask(browser, &question(Rules::Standard, position));
        assert!(status == 200 && answer["note"].is_string(), "{position}: {answer}");
        damage();
        host.conduct().always = None;
        assert!(answers_right(position)["note"].is_null(), "{position}");
        come_back(browser, host, "");
        assert!(answers_right(position)["note"].is_null(), "{position}");
    }
    // Blocks that the browser keeps are compared too.
    let spoiled = browser.run(
        "return caches.keys().then((names) => Promise.all(names\
            .filter((name) => name.endsWith('tables')).map(async (name) => {
           const cache = await caches.open(name);
           const kept = await cache.keys();
           for (const request of kept) {
             const answer = await cache.match(request);
             const bytes = new Uint8Array(await answer.arrayBuffer());
             bytes[bytes.length >> 1] ^= 1;
             await cache.put(request, new Response(bytes, { headers: answer.headers }));
           }
           return kept.length;
         })))",
    );
    assert!(spoiled[0].as_u64() > Some(4), "{spoiled}");
    come_back(browser, host, "");
    positions.iter().for_each(|position| drop(answers_right(position)));
    host.conduct().always = Some(Fault::Down);
    come_back(browser, host, "");
    for position in &positions {
        assert_eq!(ask(browser, &question(Rules::Standard, position)).0, 200, "{position}");
    }
}
