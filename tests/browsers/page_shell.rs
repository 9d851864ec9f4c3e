//! The frame of the page: how it loads, its panel, its settings.

use serde_json::json;

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::Page;
use kalah_tests::browser::keys::{ESCAPE, RIGHT};

/// Adds up in `shift` how far parts of the page move without a cause, as Chromium measures it.
const SHIFT: &str = "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
      if (!entry.hadRecentInput) window.shift += entry.value;
    })).observe({ type: 'layout-shift', buffered: true })";

/// Maximum sum of these shifts.
const STEADY: f64 = 0.02;

/// Records in `playable` when South's pits can first be clicked, and in `requests` the requests to the server until
/// then.
const PLAYABLE: &str = "new MutationObserver(() => {
      if (window.playable || !document.querySelector('.cell.south .pit.legal')) return;
      window.playable = performance.now();
      window.requests = performance.getEntriesByType('resource').filter((entry) => entry.responseEnd > 0)\
          .map((entry) => new URL(entry.name).pathname).sort();
    }).observe(document, { subtree: true, childList: true, attributes: true })";

#[track_caller]
fn assert_steady(browser: &Browser, what: &str) {
    browser.run("return new Promise((done) => setTimeout(done, 600))");
    let shift = browser.value("window.shift").as_f64().unwrap();
    assert!(shift < STEADY, "{what}: {shift}");
}

#[test]
fn nothing_moves_while_the_page_loads_or_in_a_turn() {
    let Some(page) = Page::with(&[], "") else { return };
    page.before(SHIFT);
    for (width, height) in [(1280, 800), (768, 1024), (390, 844)] {
        page.screen(width, height);
        for link in ["/", "/#board=6x2&north=greedy&values=off", "/#board=3x2&north=human&moves=1,2"] {
            page.open_until(link, "$('.pit.legal')");
            assert_steady(&page, &format!("{link} at {width}x{height}"));
        }
        page.go(&page.server.url("/#board=3x2&north=perfect&values=on"));
        page.settled("south");
        page.click_until(".cell.south .pit[data-pit='1']", "$$('#moves button').length >= 2");
        page.settled("south");
        assert_steady(&page, &format!("a turn at {width}x{height}"));
    }
    page.latency(3000);
    page.open_until("/#board=6x2&north=human&values=off", "$('.pit.legal')");
    assert_steady(&page, "a slow network");
}

#[test]
fn the_page_is_playable_after_what_its_html_names() {
    let Some(page) = Page::at("") else { return };
    page.before(PLAYABLE);
    page.open_until("/", "window.playable");
    let expected = ["api", "board.css", "moves.css", "page.js", "panel.css", "shell.css", "style.css"];
    page.is("window.requests", json!(expected.map(|name| format!("/{name}"))));
    let html = std::fs::read_to_string("web/page/index.html").unwrap();
    for name in expected {
        assert!(html.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
#[ignore = "prints figures for docs/measurements.md"]
fn figures_of_loading() {
    for milliseconds in [0, 0, 0, 300, 300, 300] {
        let Some(page) = Page::at("") else { return };
        page.before(PLAYABLE);
        page.latency(milliseconds);
        page.open_until("/", "window.playable");
        println!("latency {milliseconds} ms: playable after {} ms", page.value("Math.round(window.playable)"));
    }
}

#[test]
fn the_panel_has_tabs_for_mouse_and_keyboard_and_is_a_sheet_on_a_phone() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1") else { return };
    page.settled("north");
    page.click("#tab-explorer");
    page.is("[shown('#pane-explorer'), shown('#moves')]", json!([true, false]));
    page.keys_until(RIGHT, "shown('#report-rows')");
    page.is("document.activeElement.id", "tab-report");
    page.keys_until(RIGHT, "shown('#moves')");
    page.screen(390, 844);
    page.wait("!shown('#side')");
    page.click_until("#panel", "shown('#moves')");
    page.keys_until(ESCAPE, "!shown('#side')");
    // The bar is at the bottom of the screen.
    page.is("box('.tools').bottom", 844);
}

#[test]
fn a_link_can_hide_the_values_and_the_switch_is_remembered() {
    let Some(page) = Page::at("") else { return };
    page.open_with(&json!({ "values": true }), "/#board=3x2&north=human&values=off");
    page.playable(3);
    page.is("$('#values').checked", false);
    // Nor does a reload show them, until somebody asks for them.
    for _ in 0..2 {
        page.is("location.hash.includes('values=off')", true);
        page.reload();
        page.playable(3);
        page.is("$$('.label:not(:empty)').length", 0);
    }
    page.click_until("#values", "!location.hash.includes('values=off')");
    page.open("/#board=3x2&north=human");
    page.settled("south");
    page.click("#values");
    page.reload();
    page.playable(3);
    page.is("$('#values').checked", false);
}

#[test]
fn single_keys_can_be_turned_off_and_tabs_keep_the_settings_of_each_other() {
    let Some(page) = Page::at("") else { return };
    page.open_with(&json!({ "values": true }), "/#board=3x2&north=human");
    page.settled("south");
    // As another tab does.
    page.run("localStorage.setItem('kalah', JSON.stringify({ values: true, time: 7 }))");
    page.choose("#keys");
    page.is("JSON.parse(localStorage.getItem('kalah'))", json!({ "values": true, "time": 7, "keys": false }));
    page.keys(ESCAPE);
    page.keys("1u");
    page.run("return new Promise((done) => setTimeout(done, 300))");
    page.moves(0);
    page.run("$('#sounds').click()");
    page.is("JSON.parse(localStorage.getItem('kalah')).sounds", false);
}

#[test]
fn sounds_and_the_language_are_those_that_are_chosen() {
    let Some(page) = Page::at("") else { return };
    page.before(
        "window.knocks = 0; const make = AudioContext.prototype.createOscillator;
         AudioContext.prototype.createOscillator = function () { window.knocks += 1; return make.call(this) }",
    );
    for sounds in [false, true] {
        page.open_with(&json!({ "values": true, "sounds": sounds }), "/#board=3x2&north=human");
        page.settled("south");
        page.keys("1");
        page.settled("north");
        page.is("window.knocks > 0", sounds);
    }
    page.open_with(&json!({ "values": true, "language": "de" }), "/#board=3x2&north=human");
    page.wait("$('#status').textContent.includes('Süd ist am Zug: Süd gewinnt mit 4, exakt')");
    page.is("document.documentElement.lang", "de");
}

#[test]
fn images_for_phones_have_their_sizes() {
    let Some(page) = Page::at("/") else { return };
    let found = page.run(
        "const names = $$('link[rel=apple-touch-icon]').map((element) => element.getAttribute('href'));
         return Promise.all([...names, 'icon-192.png', 'icon-512.png'].map(async (name) => {
           const { width, height } = await createImageBitmap(await (await fetch(name)).blob());
           return [name, width, height];
         }))",
    );
    assert_eq!(found, json!([("icon-180.png", 180, 180), ("icon-192.png", 192, 192), ("icon-512.png", 512, 512)]));
}
