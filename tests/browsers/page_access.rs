//! The page for everyone: faults that axe-core finds, announcements, the keyboard, touch, the focus.

use serde_json::{Value, json};

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{STILL, moves, server, settled};

/// axe-core, which checks pages by the rules of WCAG. See tests/browsers/axe.md.
const AXE: &[u8] = include_bytes!("axe.min.js.gz");

/// Script of axe-core, which the browser unpacks.
fn axe(browser: &Browser) -> String {
    let script = format!(
        "const packed = new Blob([new Uint8Array({})]).stream();
         return new Response(packed.pipeThrough(new DecompressionStream('gzip'))).text()",
        json!(AXE)
    );
    browser.run(&script).as_str().unwrap().to_owned()
}

/// Faults that axe-core finds in the page as it is shown.
fn findings(browser: &Browser) -> Value {
    browser.run(
        "return axe.run().then(({ violations }) =>
           violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])]))",
    )
}

#[test]
fn axe_core_finds_nothing() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for scheme in ["light", "dark"] {
        browser.media("prefers-color-scheme", scheme);
        browser.go("about:blank");
        browser.go(&server.url("/#board=3x2&north=human&moves=1,2&at=0&also=3&pie=swapped:1&note=:A%20good%20start"));
        browser.wait(
            "document.querySelectorAll('#moves button').length === 3 && document.querySelector('.slip, .blunder')",
        );
        browser.wait("document.querySelector('#comment').checkVisibility()");
        browser.run(&axe(&browser));
        assert_eq!(findings(&browser), json!([]), "{scheme}");
        for (tab, shown) in [("explorer", "#explorer-none"), ("report", "#report-list button")] {
            browser.click(&format!("#tab-{tab}"));
            browser.wait(&format!("document.querySelector('{shown}')?.checkVisibility()"));
            assert_eq!(findings(&browser), json!([]), "{tab}, {scheme}");
        }
        browser.click("#menu summary");
        assert_eq!(findings(&browser), json!([]), "menu, {scheme}");
        browser.keys("\u{e00c}");
        for dialog in ["new", "edit", "rules", "text", "puzzle"] {
            if ["edit", "text"].contains(&dialog) {
                browser.click("#menu summary");
            }
            browser.click(&format!("#{dialog}"));
            browser.wait("document.querySelector('dialog[open]')");
            assert_eq!(findings(&browser), json!([]), "{dialog}, {scheme}");
            browser.keys("\u{e00c}");
            browser.wait("!document.querySelector('dialog[open]')");
        }
        browser.keys("?");
        browser.wait("document.querySelector('#keys-dialog').open");
        assert_eq!(findings(&browser), json!([]), "keys, {scheme}");
        // A first visit, and the end of a game.
        browser.go("about:blank");
        browser.go(&server.url("/style.css"));
        browser.run("localStorage.clear()");
        browser.go(&server.url("/"));
        browser.wait("document.querySelector('#welcome').open && document.querySelector('.pit.legal')");
        browser.run(&axe(&browser));
        assert_eq!(findings(&browser), json!([]), "welcome, {scheme}");
        browser.run("localStorage.clear()");
        browser.go("about:blank");
        browser.go(&server.url("/#board=<3,5,2,0,0,1,2,0,2>&north=human&values=off"));
        browser.wait("document.querySelector('.pit.legal')");
        browser.keys("3");
        browser.wait("document.querySelector('#end').checkVisibility()");
        browser.run(&axe(&browser));
        assert_eq!(findings(&browser), json!([]), "end, {scheme}");
        browser.screen(390, 844);
        assert_eq!(findings(&browser), json!([]), "phone, {scheme}");
        browser.screen(1280, 800);
    }
}

#[test]
fn what_was_played_is_announced_and_the_focus_stays() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.keys("2");
    browser.wait("document.querySelector('#said').textContent.includes('South sows pit 2: 2 seeds.')");
    browser.wait("document.querySelector('#said').textContent.includes('South moves again')");
    moves(&browser, 1);
    // A button of the list keeps the focus when more moves follow.
    browser.run("document.querySelector('#moves button').focus(); window.kept = document.activeElement");
    browser.keys("1");
    moves(&browser, 2);
    settled(&browser, "north");
    assert_eq!(browser.run("return document.activeElement === window.kept && window.kept.isConnected"), true);
    // The graph is one stop of the Tab key. Its arrow keys go through the game.
    browser.run("document.querySelector('.graph').focus()");
    browser.keys("\u{e012}");
    browser.wait("document.querySelector('.graph').getAttribute('aria-valuenow') === '1'");
    assert_eq!(browser.run("return document.activeElement.classList.contains('graph')"), true);
}

#[test]
fn pits_above_nine_are_sown_by_two_digits() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=12x1&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 12");
    browser.keys("12");
    browser.wait("location.hash.includes('moves=12')");
    // One digit is enough after a pause or Enter.
    browser.wait("document.querySelectorAll('.pit.legal').length === 11");
    browser.keys("1\u{e007}");
    browser.wait("location.hash.includes('moves=12,1')");
}

#[test]
fn on_a_touch_screen_all_targets_are_large() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.touch();
    for (width, height) in [(390, 844), (844, 390)] {
        browser.screen(width, height);
        browser.go("about:blank");
        browser.go(&server.url("/#board=6x2&north=human&moves=1"));
        browser.wait("document.querySelectorAll('.cell.north .pit.legal').length === 6");
        let small = browser.run(
            "return [...document.querySelectorAll('button, select, summary, .switch')].filter((target) => {
               const { width, height } = target.getBoundingClientRect();
               return target.checkVisibility() && (width < 44 || height < 44);
             }).map((target) => [target.outerHTML.slice(0, 100), target.getBoundingClientRect().width, \
                 target.getBoundingClientRect().height])",
        );
        assert_eq!(small, json!([]), "{width}x{height}");
    }
}

#[test]
fn forced_colours_distinguish_best_and_legal_moves() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.media("forced-colors", "active");
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    let style = "const border = (selector) => { const style = getComputedStyle(document.querySelector(selector));
        return [style.borderTopWidth, style.borderTopStyle].join(' ') };
        return [border('.label.best'), border('.label:not(.best):not(:empty)'), border('.pit.legal'), \
            border('.pit:not(.legal)')]";
    let borders = browser.run(style);
    assert_ne!(borders[0], borders[1]);
    assert_ne!(borders[2], borders[3]);
}

#[test]
fn text_grows_with_the_font_size_of_the_browser() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    assert_eq!(browser.run("return getComputedStyle(document.documentElement).fontSize"), "16px");
    let text = std::fs::read_to_string("web/page/style.css").unwrap();
    assert!(text.contains("font: 100%/"), "the font size of the page is that of the browser");
    assert_eq!(
        browser.run("return Boolean(document.querySelector('noscript').textContent.includes('JavaScript'))"),
        true
    );
}
