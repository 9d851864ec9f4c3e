//! Copies of an exported site in a visitor's browser: intact files of one version, whatever the network answers.

use std::path::Path;
use std::time::Duration;

use kalah::game::{Position, Rules};
use kalah::table::{AllTables, Table};
use serde_json::{Value, json};

use crate::sites::{Conduct, Host, ask, browser, directory, export, in_browsers, need_engine, open, version};
use kalah_tests::browser::{Browser, Program};
use kalah_tests::serving::encoded;

in_browsers! {
    what_the_network_answers_replaces_nothing_that_is_kept,
    the_first_visit_is_enough_to_play_without_a_network,
    files_of_two_versions_never_come_together,
    what_was_damaged_on_the_way_heals,
}

/// Opens a site, and waits until its worker keeps the page.
fn visit(browser: &Browser, host: &Host) {
    open(browser, &host.address);
    need_engine(browser);
    browser.wait("navigator.serviceWorker.controller?.state === 'activated'");
}

/// Leaves the page and opens an address of the host again. Waits until it shows a position.
fn come_back(browser: &Browser, host: &Host, address: &str) {
    browser.leave();
    browser.go(&format!("{}/{address}#board=3x1&rules=standard", host.address));
    browser.wait("globalThis.plainFetch && document.querySelector('.pit.legal')");
}

fn question(position: &str) -> String {
    format!("api/position?rules=standard&board={}", encoded(position))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn what_the_network_answers_replaces_nothing_that_is_kept(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "1KiB"]);
    let host = Host::new(folder.path().to_owned());
    visit(browser, &host);
    let rules = "return [...document.adoptedStyleSheets].map((sheet) => sheet.cssRules.length)";
    let styles = browser.run(rules);
    for conduct in [Conduct::Portal, Conduct::Fails(503), Conduct::Fails(404), Conduct::Down] {
        host.conducts(conduct);
        // Requests every file again, while the page is open.
        browser.run(
            "return Promise.all(performance.getEntriesByType('resource').map(({ name }) =>
               fetch(name, { cache: 'reload' }).then((answer) => answer.text(), () => 0))).then(() => 1)",
        );
        if conduct == Conduct::Portal {
            // The visitor has to see the portal, to log in.
            browser.go("about:blank");
            browser.go(&format!("{}/", host.address));
            browser.wait("document.title");
            assert_eq!(browser.run("return document.title"), json!("Portal"));
        } else {
            come_back(browser, &host, "");
        }
        host.conducts(Conduct::Down);
        for address in ["", "?utm_source=x", "index.html", "index.html?a=1&b=2"] {
            come_back(browser, &host, address);
            assert_eq!(browser.run(rules), styles, "{conduct:?} {address}");
        }
    }
}

fn the_first_visit_is_enough_to_play_without_a_network(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &[]);
    let host = Host::new(folder.path().to_owned());
    visit(browser, &host);
    host.conducts(Conduct::Down);
    come_back(browser, &host, "");
    let (status, answer) = ask(browser, &["api/book?rules=empty-capture&board=6x4".to_owned()]).remove(0);
    assert_eq!((status, &answer["in_book"]), (200, &json!(true)), "{answer}");
    let moved = browser.run(
        "return fetch('api/move', { method: 'POST', body: JSON.stringify({ board: '6x4', player: 'perfect' }) })
           .then((answer) => answer.json())",
    );
    assert!(moved["move"].is_u64(), "{moved}");
    let (status, puzzle) =
        ask(browser, &["api/puzzle?rules=standard&board=6x4&level=easy&seed=1".to_owned()]).remove(0);
    assert_eq!(status, 200, "{puzzle}");
}

#[test]
fn a_private_window_plays_a_game() {
    let folder = tempfile::tempdir().unwrap();
    for program in [Program::Chromium, Program::Firefox] {
        let Some(browser) = browser(program, true) else { continue };
        export(folder.path(), &["--size", "0"]);
        open(&browser, &Host::new(folder.path().to_owned()).address);
        browser.wait("document.querySelector('.pit.legal')?.click() || document.querySelector('#end').open");
        assert_eq!(browser.text("#error"), "");
    }
}

fn files_of_two_versions_never_come_together(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::lasting(folder.path().to_owned());
    let read = "1,0,0,1,0,1/1,0,0,1,1,0";
    let mut before = Value::Null;
    for (index, flags) in [&["--seeds", "0"][..], &["--seeds", "0", "--no-book"], &["--seeds", "0", "--size", "1MiB"]]
        .into_iter()
        .enumerate()
    {
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(export(folder.path(), flags).0, 0);
        let now = name(&version(folder.path()));
        if index == 0 {
            visit(browser, &host);
        } else {
            browser.run("location.reload()");
        }
        browser
            .wait(&format!("document.querySelector('script[src*=\"{now}\"]') && document.querySelector('.pit.legal')"));
        ask(browser, &["api/book?rules=standard&board=6x4".to_owned()]);
        let answer = ask(browser, &[question(read)]).remove(0);
        assert_eq!(answer.0, 200, "{}", answer.1);
        let loaded = browser.run("return performance.getEntriesByType('resource').map(({ name }) => name)");
        let loaded: Vec<&str> = loaded.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(loaded.len() > 3, "{loaded:?}");
        for url in loaded {
            assert!(url.contains(&now) || url.contains("/tables/"), "{now}: {url}");
        }
        // The worker of this version starts once no page of the last version is open. A busy browser closes a page some
        // time after it was left.
        let mut pause = Duration::ZERO;
        loop {
            browser.wait("navigator.serviceWorker.controller");
            let worker = browser.run("return navigator.serviceWorker.controller.scriptURL");
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
        host.conducts(Conduct::Down);
        come_back(browser, &host, "");
        let without = ask(browser, &[question(read)]).remove(0);
        assert_eq!((without.0, &without.1["score"]), (200, &answer.1["score"]));
        assert!(before.is_null() || before == answer.1["score"]);
        before = answer.1["score"].clone();
        host.conducts(Conduct::Sends);
        come_back(browser, &host, "");
    }
    let names = browser.run("return caches.keys()");
    assert_eq!(names.as_array().unwrap().len(), 2, "one cache of the page and one of tables: {names}");
}

fn what_was_damaged_on_the_way_heals(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--seeds", "0"]);
    let host = Host::lasting(folder.path().to_owned());
    visit(browser, &host);
    let all_tables = AllTables::new(directory().to_owned());
    let score = |text: &str| {
        let position: Position = text.parse().unwrap();
        json!(all_tables.probe(Rules::Standard, &position).unwrap().unwrap().score)
    };
    let file_of = |text: &str| {
        let position: Position = text.parse().unwrap();
        let beginning = format!("standard-6-{:02}-", position.seeds());
        let mut files = std::fs::read_dir(folder.path().join("tables")).unwrap().map(|entry| entry.unwrap().path());
        (files.find(|path| name(path).starts_with(&beginning)).unwrap(), position.mover().total() as usize)
    };
    // Damage in the scores, in the checksums and in the directory, then a network that wants a visitor to log in. Each
    // case uses a higher layer, since compared blocks are not read again.
    let texts =
        ["1,2,0,1,1,0/1,0,2,0,1,1", "1,2,0,1,1,0/1,0,2,1,1,1", "1,2,0,1,2,0/1,0,2,1,1,1", "1,2,0,1,2,1/1,0,2,1,1,1"];
    for (kind, text) in texts.into_iter().enumerate() {
        let (file, mover) = file_of(text);
        let sound = std::fs::read(&file).unwrap();
        let entry = Table::open(&file).unwrap().header().entries[mover - 1];
        match kind {
            3 => host.conducts(Conduct::Portal),
            kind => {
                let at = [entry.offset + 1, entry.offset + entry.checksums_at(), 128 + 72 + 9][kind];
                let mut damaged = sound.clone();
                damaged[at as usize] ^= 1;
                std::fs::write(&file, damaged).unwrap();
            }
        }
        let (status, answer) = ask(browser, &[question(text)]).remove(0);
        assert!(status == 200 && answer["note"].is_string(), "{text}: {answer}");
        std::fs::write(&file, sound).unwrap();
        host.conducts(Conduct::Sends);
        for again in 0..2 {
            let (status, answer) = ask(browser, &[question(text)]).remove(0);
            assert_eq!((status, &answer["score"]), (200, &score(text)), "{text}: {answer}");
            assert!(answer["note"].is_null(), "{text}: {answer}");
            if again == 0 {
                come_back(browser, &host, "");
            }
        }
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
    come_back(browser, &host, "");
    for text in texts {
        let (status, answer) = ask(browser, &[question(text)]).remove(0);
        assert_eq!((status, &answer["score"]), (200, &score(text)), "{text}: {answer}");
    }
    host.conducts(Conduct::Down);
    come_back(browser, &host, "");
    for text in texts {
        assert_eq!(ask(browser, &[question(text)]).remove(0).0, 200, "{text}");
    }
}
