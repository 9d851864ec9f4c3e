//! The look of the page: its frame, the board, first visits, settings.

use serde_json::{Value, json};

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, choose, drawn, moves, remember, server, settled};

/// Adds up in `shift` how far parts of the page move without a cause, as Chromium measures it.
const SHIFT: &str = "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
      if (!entry.hadRecentInput) window.shift += entry.value;
    })).observe({ type: 'layout-shift', buffered: true })";

/// Maximum sum of these shifts.
const STEADY: f64 = 0.02;

/// Expression that is true if an element is visible.
fn shown(selector: &str) -> String {
    format!("document.querySelector({}).checkVisibility({{ checkVisibilityCSS: true }})", json!(selector))
}

#[track_caller]
fn steady(browser: &Browser, what: &str) {
    browser.run("return new Promise((done) => setTimeout(done, 600))");
    let shift = browser.run("return window.shift").as_f64().unwrap();
    assert!(shift < STEADY, "{what}: {shift}");
}

#[test]
fn nothing_moves_while_the_page_loads_or_in_a_turn() {
    let (Some(browser), server) = (Browser::open(1280, 800, &[]), server()) else { return };
    browser.before(SHIFT);
    for (width, height) in [(1280, 800), (768, 1024), (390, 844)] {
        browser.screen(width, height);
        for link in ["/", "/#board=6x2&north=greedy&values=off", "/#board=3x2&north=human&moves=1,2"] {
            browser.go("about:blank");
            browser.go(&server.url(link));
            browser.wait("document.querySelector('.pit.legal')");
            steady(&browser, &format!("{link} at {width}x{height}"));
        }
        browser.go(&server.url("/#board=3x2&north=perfect&values=on"));
        settled(&browser, "south");
        browser.click(".cell.south .pit[data-pit='1']");
        browser.wait("document.querySelectorAll('#moves button').length >= 2");
        settled(&browser, "south");
        steady(&browser, &format!("a turn at {width}x{height}"));
    }
}

#[test]
fn nothing_moves_while_a_slow_page_loads() {
    let (Some(browser), server) = (Browser::open(390, 844, STILL), server()) else { return };
    browser.before(SHIFT);
    browser.latency(3000);
    browser.go(&server.url("/#board=6x2&north=human&values=off"));
    browser.wait("document.querySelector('.pit.legal')");
    steady(&browser, "a slow network");
}

#[test]
fn the_board_turns_to_the_person_who_plays_north() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    let lower = "return ['south', 'north'].map((side) => 
        [`.cell.${side}`, `#${side}-strip`].map((one) => document.querySelector(one).getBoundingClientRect().top))
        .reduce((south, north) => south.map((top, index) => top > north[index]))";
    browser.go(&server.url("/#board=3x2&south=greedy&north=human"));
    browser
        .wait("document.querySelector('#board.north-moves .pit.legal') && document.querySelector('.cell.lower.north')");
    assert_eq!(browser.run(lower), json!([false, false]));
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    assert_eq!(browser.run(lower), json!([true, true]));
    let label = "return document.querySelector('.cell.south [data-pit=\"1\"]').parentElement.textContent";
    let before = browser.run(label);
    browser.keys("f");
    browser.wait("document.querySelector('.cell.lower.north')");
    assert_eq!(browser.run(lower), json!([false, false]));
    // Values are those of the player at the bottom.
    assert_ne!(browser.run(label), before);
    assert_eq!(browser.text("#values-for"), "Values for North");
    browser.keys("?");
    browser.wait(&shown("#keys-dialog"));
}

#[test]
fn the_last_seed_of_a_move_is_shown_before_it_and_an_arc_after_it() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    assert_eq!(browser.run("return document.querySelector('.arc, .aim')"), Value::Null);
    // Pit 2 has two seeds, the last of which falls into the store.
    browser.run("document.querySelector('.cell.south [data-pit=\"2\"]').focus()");
    let over = |selector: &str, hole: &str| {
        format!(
            "(() => {{ const [mark, hole] = ['{selector}', '{hole}'].map((one) => \
               document.querySelector(one).getBoundingClientRect());
             const [x, y] = [(mark.left + mark.right) / 2, (mark.top + mark.bottom) / 2];
             return x > hole.left && x < hole.right && y > hole.top && y < hole.bottom }})()"
        )
    };
    browser.wait("document.querySelector('.aim')");
    assert_eq!(browser.run(&format!("return {}", over(".aim", ".store.south"))), true);
    assert_eq!(browser.text(".aim"), "↻");
    browser.run("document.activeElement.blur()");
    assert_eq!(browser.run("return document.querySelector('.aim')"), Value::Null);
    browser.keys("2");
    moves(&browser, 1);
    browser.wait("document.querySelector('.arc path') && document.querySelector('.shout')");
    assert_eq!(browser.text(".shout"), "Move again!");
    browser.keys("u");
    browser.wait("!document.querySelector('.arc')");
}

#[test]
fn marks_of_legal_last_and_best_moves_differ_in_form_and_by_contrast() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for scheme in ["light", "dark"] {
        browser.media("prefers-color-scheme", scheme);
        browser.go("about:blank");
        browser.go(&server.url("/#board=3x2&north=human&moves=1"));
        settled(&browser, "north");
        let ratios = browser.run(
            "const style = getComputedStyle(document.querySelector('#board'));
             const light = (name) => {
               const [r, g, b] = style.getPropertyValue(`--mark-${name}`).trim().match(/[0-9a-f]{2}/g)
                 .map((part) => parseInt(part, 16) / 255)
                 .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
               return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
             };
             const [legal, last, best] = ['legal', 'last', 'best'].map(light);
             return [legal / last, last / best, legal / best]",
        );
        for ratio in ratios.as_array().unwrap() {
            assert!(ratio.as_f64().unwrap() >= 3.0, "{scheme}: {ratios}");
        }
        // A ring, a mark within the hollow, a star.
        let forms = browser.run(
            "const style = (selector, part) => getComputedStyle(document.querySelector(selector), part);
             return [style('.pit.legal').borderTopStyle, style('.mark-from', '::before').borderTopStyle,
               document.querySelector('.pit.best .star').textContent,
               style('.pit:not(.best) .star').display]",
        );
        assert_eq!(forms, json!(["solid", "dashed", "★", "none"]));
    }
}

#[test]
fn the_panel_has_tabs_for_mouse_and_keyboard_and_is_a_sheet_on_a_phone() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1"));
    settled(&browser, "north");
    browser.click("#tab-explorer");
    assert_eq!(
        browser.run(&format!("return [{}, {}]", shown("#pane-explorer"), shown("#moves"))),
        json!([true, false])
    );
    browser.keys("\u{e014}");
    browser.wait(&shown("#report-rows"));
    assert_eq!(browser.run("return document.activeElement.id"), "tab-report");
    browser.keys("\u{e014}");
    browser.wait(&shown("#moves"));
    browser.screen(390, 844);
    browser.wait(&format!("!{}", shown("#side")));
    browser.click("#panel");
    browser.wait(&shown("#moves"));
    browser.keys("\u{e00c}");
    browser.wait(&format!("!{}", shown("#side")));
    // The bar is at the bottom of the screen.
    assert_eq!(browser.run("return document.querySelector('.tools').getBoundingClientRect().bottom"), 844);
}

#[test]
fn an_open_panel_never_covers_the_board_of_a_phone_or_a_tablet() {
    let (Some(browser), server) = (Browser::open(390, 844, STILL), server()) else { return };
    browser.go(&server.url("/#6x4&north=human&moves=3,6,2"));
    browser.wait("document.querySelector('.label b')");
    let below = "(() => { const [side, board] = ['#side', '#board'].map((one) => \
                   document.querySelector(one).getBoundingClientRect());
                 return board.top >= 0 && side.top >= board.bottom - 4 && side.height > 250 })()";
    browser.screen(390, 844);
    browser.click("#panel");
    browser.wait(&format!("{} && {below}", shown("#side")));
    browser.click("#panel-close");
    browser.wait(&format!("!{}", shown("#side")));
    browser.screen(820, 1180);
    browser.wait(&format!("{} && {below}", shown("#side")));
    assert_eq!(browser.run(&format!("return {}", shown("#panel"))), false);
}

#[test]
fn a_first_visit_offers_three_cards_and_the_next_one_none() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    let again = || {
        browser.run("localStorage.clear()");
        browser.go("about:blank");
        browser.go(&server.url("/"));
        browser.wait("document.querySelector('.pit.legal')");
    };
    browser.go(&server.url("/"));
    browser.wait(&shown("#welcome"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.click("#welcome-play");
    // Five levels, each with a face.
    assert_eq!(browser.run("return document.querySelectorAll('#new-levels .face svg').length"), 5);
    browser.click("#new-levels input[value='heuristic']");
    browser.click("#new-dialog .main");
    browser.wait("document.querySelector('#north').value === 'heuristic' && location.hash.includes('north=heuristic')");
    browser.go("about:blank");
    browser.go(&server.url("/"));
    browser.wait("document.querySelector('.pit.legal')");
    assert_eq!(browser.run(&format!("return {}", shown("#welcome"))), false);
    again();
    browser.click("#welcome-analyse");
    browser.wait("document.querySelector('#values').checked && document.querySelector('.label b')");
    again();
    browser.click("#welcome-learn");
    for pit in [2, 3, 2] {
        browser.wait(&format!("document.querySelector('.pit.hint')?.dataset.pit === '{pit}'"));
        browser.click(".pit.hint");
        browser.wait("document.querySelectorAll('#moves button').length === 1 && !document.querySelector('.pit.hint')");
        if browser.run(&format!("return {}", shown("#coach-next"))) == true {
            browser.click("#coach-next");
        }
    }
    assert!(browser.text("#coach-text").contains("more seeds at the end wins"));
    browser.click("#coach-end");
    browser.wait("document.querySelector('#coach').hidden && document.querySelector('#north').value !== 'human'");
}

#[test]
fn a_page_magnified_four_times_can_be_used() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.screen(320, 256);
    browser.go(&server.url("/#board=6x4&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .label b').length === 6");
    assert_eq!(browser.run("return document.documentElement.scrollWidth <= innerWidth"), true);
    // Scrolled to, it is in full view, and nothing covers it.
    let is_seen = |selector: &str| {
        let seen = browser.run(&format!(
            "const element = document.querySelector(\"{selector}\");
             element.scrollIntoView({{ block: 'center' }});
             const box = element.getBoundingClientRect();
             const hit = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
             return element.contains(hit) && box.left >= 0 && box.right <= innerWidth"
        ));
        assert_eq!(seen, true, "{selector}");
    };
    for selector in ["#new", ".cell.south .pit[data-pit='3']", "#undo", "#menu summary"] {
        is_seen(selector);
    }
    // In a dialog, too.
    browser.click("#puzzle");
    for selector in ["#puzzle-level", "[data-day]", "#puzzle-state", "#puzzle-dialog .main"] {
        is_seen(selector);
    }
    browser.keys("\u{e00c}");
    browser.wait("!document.querySelector('dialog[open]')");
    browser.click(".cell.south .pit[data-pit='3']");
    moves(&browser, 1);
    browser.click("#panel");
    browser.wait(&shown("#moves button"));
    browser.click("#panel-close");
    browser.wait(&format!("!{}", shown("#side")));
}

#[test]
fn a_game_ends_with_a_card_for_a_review_or_a_rematch() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=<3,5,2,0,0,1,2,0,2>&north=human&values=off"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.keys("3");
    browser.wait(&shown("#end"));
    assert_eq!(browser.run("return document.activeElement.id"), "rematch");
    browser.keys("\u{e00c}");
    browser.wait("!document.querySelector('#end').open");
    browser.keys("u");
    browser.wait("document.querySelector('.pit.legal')");
    browser.keys("3");
    browser.wait(&shown("#end"));
    assert_eq!(browser.text("#end-score"), "6 – 6");
    assert_eq!(
        browser.run("return ['south', 'north'].map((side) => document.querySelector(`#${side}-score`).textContent)"),
        json!(["6", "6"])
    );
    browser.click("#review");
    browser.wait(&format!("!document.querySelector('#end').open && {}", shown("#report-rows tr")));
    browser.keys("u");
    browser.wait("document.querySelector('.pit.legal')");
    browser.keys("3");
    browser.wait(&shown("#end"));
    browser.click("#rematch");
    browser.wait("document.querySelectorAll('#moves button').length === 0 && !document.querySelector('#end').open");
    assert_eq!(drawn(&browser), json!([0, 0, 1, 5, 2, 0, 2, 2]));
}

#[test]
fn single_keys_can_be_turned_off_and_tabs_keep_the_settings_of_each_other() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    remember(&browser, &server.url("/style.css"), &json!({ "values": true }));
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    // As another tab does.
    browser.run("localStorage.setItem('kalah', JSON.stringify({ values: true, time: 7 }))");
    choose(&browser, "#keys");
    let stored = browser.run("return JSON.parse(localStorage.getItem('kalah'))");
    assert_eq!(stored, json!({ "values": true, "time": 7, "keys": false }));
    browser.keys("\u{e00c}");
    browser.keys("1u");
    browser.run("return new Promise((done) => setTimeout(done, 300))");
    moves(&browser, 0);
    browser.run("document.querySelector('#sounds').click(); return 1");
    assert_eq!(browser.run("return JSON.parse(localStorage.getItem('kalah')).sounds"), false);
}

#[test]
fn images_for_phones_have_their_sizes() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/"));
    let found = browser.run(
        "const names = [...document.querySelectorAll('link[rel=apple-touch-icon]')]
           .map((element) => element.getAttribute('href')).concat('icon-192.png', 'icon-512.png');
         return Promise.all(names.map(async (name) => {
           const { width, height } = await createImageBitmap(await (await fetch(name)).blob());
           return [name, width, height];
         }))",
    );
    assert_eq!(found, json!([("icon-180.png", 180, 180), ("icon-192.png", 192, 192), ("icon-512.png", 512, 512)]));
}

#[test]
fn a_short_link_is_enough_for_a_start() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#3x2&north=human"));
    settled(&browser, "south");
    assert_eq!(drawn(&browser), json!([2, 2, 2, 0, 2, 2, 2, 0]));
    // The address stays short, and shortens longer links.
    browser.keys("1");
    browser.wait("location.hash === '#3x2&north=human&moves=1'");
    browser.go("about:blank");
    browser
        .go(&server
            .url(&format!("/#rules={RULES}&board=<3,0,0,2,2,2,2,2,2>&first=south&south=human&moves=1&north=human")));
    browser.wait("location.hash === '#3x2&north=human&moves=1'");
    // Other boards stand there as rows, or whole.
    for (link, short) in
        [("board=<3,0,0,2,1,0,2,2,2>", "2,1,0/2,2,2"), ("board=<3,1,0,2,1,0,2,2,2>", "%3C3,1,0,2,1,0,2,2,2%3E")]
    {
        browser.go("about:blank");
        browser.go(&server.url(&format!("/#{link}&north=human")));
        browser.wait(&format!("location.hash === '#{short}&north=human'"));
        let drawn_first = drawn(&browser);
        browser.go("about:blank");
        browser.go(&server.url(&format!("/#{short}&north=human")));
        settled(&browser, "south");
        assert_eq!(drawn(&browser), drawn_first, "{short}");
    }
}

#[test]
fn text_of_twice_the_size_fits() {
    let flags = [STILL[0], "--blink-settings=defaultFontSize=32"];
    let (Some(browser), server) = (Browser::open(1280, 800, &flags), server()) else { return };
    for (width, height) in [(1280, 800), (390, 844)] {
        browser.screen(width, height);
        browser.go("about:blank");
        browser.go(&server.url("/#board=6x4&north=human"));
        browser.wait("document.querySelectorAll('.cell.south .label b').length === 6");
        assert_eq!(browser.run("return getComputedStyle(document.documentElement).fontSize"), "32px");
        assert_eq!(browser.run("return document.documentElement.scrollWidth <= innerWidth"), true);
        // No count covers a hollow.
        browser.wait(
            "[...document.querySelectorAll('#board .cell')].every((cell) => {
               const [pit, count] = ['.pit', '.count'].map((one) => cell.querySelector(one).getBoundingClientRect());
               return count.top >= pit.bottom - 1 || count.bottom <= pit.top + 1 || count.left >= pit.right - 1 ||
                 count.right <= pit.left + 1;
             })",
        );
    }
}
