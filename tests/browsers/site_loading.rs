//! Files that a page without a server loads: how few, when, and what happens if one fails.

use std::time::{Duration, Instant};

use kalah::game::Rules;
use serde_json::json;

use crate::sites::{Conduct, Host, ask, export, in_browsers, open, version};
use kalah_tests::browser::Browser;

in_browsers! {
    a_page_is_playable_before_the_engine_has_loaded,
    the_first_move_needs_no_module,
    a_game_against_a_player_without_tables_does_not_load_the_engine,
    a_first_visit_fetches_every_file_once,
    exact_values_need_few_bytes,
    a_book_or_network_that_fails_is_left_out,
}

fn a_page_is_playable_before_the_engine_has_loaded(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &[]);
    let host = Host::new(folder.path().to_owned());
    host.conducts(Conduct::Withholds("kalah_wasm.wasm.bin"));
    open(browser, &host.address);
    // Answers that need no engine are those that it gives later; the others wait for it.
    let first = "(async () => {
        const json = async (path, options) => (await fetch(path, options)).json();
        const move = (player) => json('api/move',
          { method: 'POST', body: JSON.stringify({ board: '6x4', rules: 'standard', player }) });
        const { seconds, ...greedy } = await move('greedy');
        const { seconds: time, ...deep } = await move('alphabeta:2');
        return [await json('api'), greedy, deep,
          await json('api/line?board=6x4&moves=3,1'), await json('api/line?rules=s-kalaha&board=12x3&moves=12')];
      })()";
    // A wrong request waits for the engine, which explains it.
    let requests = ["api/position?board=6x4", "api/line?board=6x4&moves=7", "api/line?board=6x4&x=1"];
    for (index, path) in requests.iter().enumerate() {
        let begin =
            format!("(window.late ??= [])[{index}] = fetch('{path}').then((answer) => answer.json()); return 1");
        browser.run(&begin);
    }
    let before = browser.run(&format!("return {first}"));
    assert_eq!((&before[1]["player"], &before[4]["rules"]), (&json!("greedy"), &json!("s-kalaha")), "{before}");
    // Where a search follows, an estimate comes first.
    let estimate = browser.run(
        "return fetch('api/position?board=6x4&rules=standard&time=0.1', { priority: 'high' }).then((answer) => \
           answer.json())",
    );
    assert_eq!((&estimate["source"], &estimate["known"]), (&json!("depth"), &json!("estimate")), "{estimate}");
    assert_eq!(estimate["moves"].as_array().map(Vec::len), Some(6));
    // A person and a program play.
    browser.run("document.querySelector('.pit.legal').click()");
    browser.wait("location.hash.includes('moves=')");
    let is_late =
        "Promise.race([...window.late, new Promise((done) => setTimeout(done, 50, true))]).then((it) => it === true)";
    assert_eq!(browser.run(&format!("return {is_late}")), json!(true));
    host.conducts(Conduct::Sends);
    let late = browser.run(
        "return Promise.all(window.late).then(([one, ...others]) => [one.known, one.value, others.map((other) => \
           other.error.code)])",
    );
    assert_eq!(late, json!(["exact", 10, ["request", "request"]]));
    assert_eq!(browser.run(&format!("return {first}")), before);
}

fn the_first_move_needs_no_module(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::new(folder.path().to_owned());
    host.conducts(Conduct::Withholds("/kalah_"));
    for rules in Rules::ALL {
        browser.go(&format!("{}/?{rules}#6x4&rules={rules}&north=human", host.address));
        browser.wait("document.querySelector('.pit.legal')");
        browser.run("document.querySelector('.pit.legal').click()");
        browser.wait("location.hash.includes('moves=')");
    }
}

fn a_game_against_a_player_without_tables_does_not_load_the_engine(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::new(folder.path().to_owned());
    let is_loaded = || host.requests().iter().any(|path| path.ends_with("kalah_wasm.wasm.bin"));
    let begin = Instant::now();
    browser.go(&format!("{}/#3x1&north=greedy&values=off", host.address));
    browser.wait("document.querySelector('.pit.legal')");
    // The pointer on a move shows its last seed.
    browser.run("document.querySelector('.pit.legal').dispatchEvent(new PointerEvent('pointerenter')); return 1");
    browser.wait("document.querySelector('.aim')");
    browser.wait("document.querySelector('.pit.legal')?.click() || document.querySelector('#end').open");
    // Later, it loads in the background.
    if begin.elapsed() < Duration::from_secs(15) {
        assert!(!is_loaded(), "{:?}", host.requests());
    }
    let bytes: usize =
        host.requests().iter().map(|path| std::fs::read(folder.path().join(path)).unwrap_or_default().len()).sum();
    assert!(is_loaded() || bytes < 120_000, "{bytes} bytes before the engine");
    browser.click("#review");
    browser.wait("document.querySelector('#report-rows td')");
    assert!(is_loaded());
}

fn a_first_visit_fetches_every_file_once(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::new(folder.path().to_owned());
    open(browser, &host.address);
    browser.wait("navigator.serviceWorker.controller");
    let mut fetched = host.requests();
    // Chromium fetches the icon for the page, and for its tab.
    fetched.retain(|path| !path.ends_with("icon.svg") && path != "favicon.ico");
    let all = fetched.len();
    fetched.sort();
    fetched.dedup();
    assert_eq!(all, fetched.len(), "{fetched:?} {:?}", host.requests());
    assert!(fetched.iter().any(|path| path.ends_with("kalah_wasm.wasm.bin")), "{fetched:?}");
}

/// At 400 kbit/s, a host that compresses nothing sends these in 12 seconds.
fn exact_values_need_few_bytes(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::new(folder.path().to_owned());
    browser.go(&format!("{}/#6x4&rules=standard&values=on", host.address));
    browser.wait("document.querySelector('.dot.exact')");
    // The service worker keeps the other files for visits without a network. No value waits for a network of weights.
    let requests = host.requests();
    let needed = requests.iter().take_while(|path| !path.starts_with("offline-"));
    let is_needed = |path: &&String| *path != "favicon.ico" && !path.ends_with(".network.bin");
    let needed: Vec<&String> = needed.filter(is_needed).collect();
    let size = |path: &&String| std::fs::read(folder.path().join(path)).unwrap().len();
    let bytes: usize = needed.iter().map(size).sum();
    assert!(bytes < 540_000, "{bytes} bytes: {needed:?}");
    // Of books and networks, only those of the board.
    let is_other = |path: &&&String| path.contains("-6.") && !path.contains("standard-6.");
    assert_eq!(needed.iter().filter(is_other).count(), 0, "{needed:?}");
}

fn a_book_or_network_that_fails_is_left_out(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let path = "api/position?rules=standard&time=5&board=1,2,0,1,2,1/1,0,2,1,1,1".to_owned();
    let known = |path: &String| {
        open(browser, &Host::new(folder.path().to_owned()).address);
        let (status, answer) = ask(browser, std::slice::from_ref(path)).remove(0);
        assert_eq!((status, &answer["known"]), (200, &json!("exact")), "{answer}");
        (answer["value"].clone(), answer["note"].as_str().map(str::to_owned))
    };
    let (value, note) = known(&path);
    assert_eq!(note, None);
    for name in ["standard-6.book.bin", "standard-6.network.bin"] {
        let file = version(folder.path()).join(name);
        let sound = std::fs::read(&file).unwrap();
        let mut damaged = sound.clone();
        damaged[sound.len() / 2] ^= 1;
        for bytes in [&damaged[..], &sound[..sound.len() / 2], b"<!doctype html><p>Not found", b""] {
            std::fs::write(&file, bytes).unwrap();
            let (same, note) = known(&path);
            assert_eq!(same, value, "{name}");
            // No answer waits for a network.
            assert!(note.map_or(name.contains("network"), |note| note.contains(name.trim_end_matches(".bin"))));
        }
        std::fs::remove_file(&file).unwrap();
        let (same, note) = known(&path);
        assert!(same == value && note.map_or(name.contains("network"), |note| note.contains("404")), "{name}");
        std::fs::write(&file, sound).unwrap();
    }
}
