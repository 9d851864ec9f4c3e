//! Files that a page without a server loads: how few, when, and what happens if one fails.

use std::time::{Duration, Instant};

use kalah::game::Rules;
use serde_json::json;

use crate::sites::{Site, ask, in_browsers, open, version};
use kalah_tests::browser::Browser;
use kalah_tests::host::{Fault, Host};

in_browsers! {
    both:
    a_page_is_playable_before_the_engine_has_loaded,
    a_first_visit_fetches_every_file_once;
    chromium:
    the_first_move_needs_no_module,
    a_game_against_a_player_without_tables_does_not_load_the_engine,
    exact_values_need_few_bytes,
    a_book_or_network_that_fails_is_left_out,
}

fn a_page_is_playable_before_the_engine_has_loaded(browser: &Browser) {
    let site = Site::new("");
    site.host.conduct().always = Some(Fault::Withholds("kalah_wasm.wasm.bin"));
    open(browser, &site.host);
    // Answers that need no engine are those that it gives later; the others wait for it.
    let first = "(async () => {
        const move = (player) => ask('api/move',
          { method: 'POST', body: JSON.stringify({ board: '6x4', rules: 'standard', player }) });
        const { seconds, ...greedy } = await move('greedy');
        const { seconds: time, ...deep } = await move('alphabeta:2');
        return [await ask('api'), greedy, deep,
          await ask('api/line?board=6x4&moves=3,1'), await ask('api/line?rules=s-kalaha&board=12x3&moves=12')];
      })()";
    // A wrong request waits for the engine, which explains it.
    browser.run(
        "window.late = ['position?board=6x4', 'line?board=6x4&moves=7', 'line?board=6x4&x=1']
           .map((path) => ask(`api/${path}`))",
    );
    let before = browser.value(first);
    assert_eq!((&before[1]["player"], &before[4]["rules"]), (&json!("greedy"), &json!("s-kalaha")), "{before}");
    // Where a search follows, an estimate comes first.
    let estimate = browser.value("ask('api/position?board=6x4&rules=standard&time=0.1', { priority: 'high' })");
    assert_eq!((&estimate["source"], &estimate["known"]), (&json!("depth"), &json!("estimate")), "{estimate}");
    assert_eq!(estimate["moves"].as_array().map(Vec::len), Some(6));
    // A person and a program play.
    browser.run("$('.pit.legal').click()");
    browser.wait("location.hash.includes('moves=')");
    let late = "Promise.race([...window.late, new Promise((done) => setTimeout(done, 50, 'late'))])";
    assert_eq!(browser.value(late), "late");
    site.host.conduct().always = None;
    let late = browser.value(
        "Promise.all(window.late).then(([one, ...others]) =>
           [one.known, one.value, others.map(({ error }) => error.code)])",
    );
    assert_eq!(late, json!(["exact", 10, ["request", "request"]]));
    assert_eq!(browser.value(first), before);
}

fn the_first_move_needs_no_module(browser: &Browser) {
    let site = Site::new("--size 0");
    site.host.conduct().always = Some(Fault::Withholds("/kalah_"));
    for rules in Rules::ALL {
        browser.go(&format!("{}/?{rules}#6x4&rules={rules}&north=human", site.host.address));
        browser.wait("$('.pit.legal')");
        browser.run("$('.pit.legal').click()");
        browser.wait("location.hash.includes('moves=')");
    }
}

/// Returns true if a file of the engine is among these.
fn has_engine(names: &[String]) -> bool {
    names.iter().any(|name| name.ends_with("kalah_wasm.wasm.bin"))
}

fn a_game_against_a_player_without_tables_does_not_load_the_engine(browser: &Browser) {
    let site = Site::new("--size 0");
    let begin = Instant::now();
    browser.go(&format!("{}/#3x1&north=greedy&values=off", site.host.address));
    browser.wait("$('.pit.legal')");
    // The pointer on a move shows its last seed.
    browser.run("$('.pit.legal').dispatchEvent(new PointerEvent('pointerenter'))");
    browser.wait("$('.aim')");
    browser.wait("$('.pit.legal')?.click() || $('#end').open");
    // Later, it loads in the background.
    let names = site.host.names();
    assert!(!has_engine(&names) || begin.elapsed() > Duration::from_secs(15), "{names:?}");
    let bytes = site.bytes(&names);
    assert!(has_engine(&names) || bytes < 120_000, "{bytes} bytes before the engine");
    browser.click_until("#review", "$('#report-rows td')");
    assert!(has_engine(&site.host.names()));
}

fn a_first_visit_fetches_every_file_once(browser: &Browser) {
    let site = Site::new("--size 0");
    open(browser, &site.host);
    browser.wait("navigator.serviceWorker.controller");
    let mut fetched = site.host.names();
    // Chromium fetches the icon for the page, and for its tab.
    fetched.retain(|name| !name.ends_with("icon.svg") && name != "favicon.ico");
    let all = fetched.len();
    fetched.sort();
    fetched.dedup();
    assert_eq!(all, fetched.len(), "{fetched:?} {:?}", site.host.names());
    assert!(has_engine(&fetched), "{fetched:?}");
}

/// At 400 kbit/s, a host that compresses nothing sends these in 12 seconds.
fn exact_values_need_few_bytes(browser: &Browser) {
    let site = Site::new("--size 0");
    browser.go(&format!("{}/#6x4&rules=standard&values=on", site.host.address));
    browser.wait("$('.dot.exact')");
    // The service worker keeps the other files for visits without a network. No value waits for a network of weights.
    let names = site.host.names();
    let needed = names.iter().take_while(|name| !name.starts_with("offline-"));
    let needed: Vec<&String> = needed.filter(|name| !name.ends_with(".network.bin")).collect();
    let bytes = site.bytes(needed.iter().copied());
    assert!(bytes < 540_000, "{bytes} bytes: {needed:?}");
    // Of books and networks, only those of the board.
    assert!(!needed.iter().any(|name| name.contains("-6.") && !name.contains("standard-6.")), "{needed:?}");
}

fn a_book_or_network_that_fails_is_left_out(browser: &Browser) {
    let site = Site::new("--size 0");
    let known = || {
        // Another host, of which the browser keeps nothing.
        open(browser, &Host::new(site.path(), ""));
        let (status, answer) = ask(browser, "api/position?rules=standard&time=5&board=1,2,0,1,2,1/1,0,2,1,1,1");
        assert_eq!((status, &answer["known"]), (200, &json!("exact")), "{answer}");
        (answer["value"].clone(), answer["note"].as_str().map(str::to_owned))
    };
    let (value, note) = known();
    assert_eq!(note, None);
    for name in ["standard-6.book.bin", "standard-6.network.bin"] {
        let file = version(site.path()).join(name);
        let sound = std::fs::read(&file).unwrap();
        let mut damaged = sound.clone();
        damaged[sound.len() / 2] ^= 1;
        let (name, half) = (name.trim_end_matches(".bin"), &sound[..sound.len() / 2]);
        for (bytes, words) in [
            (Some(&damaged[..]), name),
            (Some(half), name),
            (Some(b"<!doctype html><p>Not found"), name),
            (Some(b""), name),
            (None, "404"),
        ] {
            match bytes {
                Some(bytes) => std::fs::write(&file, bytes).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            let (same, note) = known();
            assert_eq!(same, value, "{name}");
            // No answer waits for a network.
            assert!(note.map_or(name.contains("network"), |note| note.contains(words)), "{name}");
        }
        std::fs::write(&file, sound).unwrap();
    }
}
