//! Former defects of the page, each with its test.

use serde_json::json;

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{STILL, choose, drawn, moves, server, settled};

const ENTER: &str = "\u{e007}";

/// Makes requests fail as if the server were away; `restore` undoes this.
const AWAY: &str =
    "window.real ??= window.fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))";
/// Does the same with the answer of a proxy whose server is away.
const PROXY: &str = "window.real ??= window.fetch; window.fetch = () => Promise.resolve(
    new Response('<html><h1>502 Bad Gateway</h1></html>', { status: 502, headers: { 'content-type': 'text/html' } }))";
/// Does the same with the answer of a server whose searches are all in use.
const BUSY: &str = "window.real ??= window.fetch; window.fetch = () => Promise.resolve(
    new Response('{\"error\":{\"code\":\"busy\",\"message\":\"all searches are taken\"}}', \
        { status: 503, headers: { 'retry-after': '1' } }))";
const BACK: &str = "window.fetch = window.real; window.dispatchEvent(new Event('online'))";

/// Expression that is true if an element is visible.
fn shown(selector: &str) -> String {
    format!("document.querySelector({})?.checkVisibility()", json!(selector))
}

#[test]
fn enter_in_a_dialog_means_its_main_button() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.click("#new");
    browser.click("#new-more summary");
    browser.run("const field = document.querySelector('#new-seeds'); field.value = 1; field.focus()");
    browser.run("document.querySelector('#new-pits').value = 3");
    browser.keys(ENTER);
    browser.wait("location.hash === '#3x1&north=human'");
    settled(&browser, "south");
    choose(&browser, "#edit");
    browser.run(
        "const field = document.querySelector('#edit-board input'); field.value = 5; \
         field.dispatchEvent(new Event('input', { bubbles: true })); field.focus()",
    );
    browser.keys(ENTER);
    browser.wait("Number(document.querySelector('.store.north .count').textContent) === 5");
}

#[test]
fn a_bad_link_shows_what_is_wrong_and_a_game_begins() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for (link, expected) in [
        ("board=nonsense", "'nonsense' is not a position"),
        ("board=3x2&rules=chess&north=human", "chess"),
        ("board=3x2&moves=1,1,1&north=human", "1"),
        ("board=3x2&south=wizard&north=human", "wizard"),
        ("board=3x2&south=alphabeta:none&north=human", "alphabeta:none"),
    ] {
        browser.go("about:blank");
        browser.go(&server.url(&format!("/#{link}")));
        browser.wait(&format!("document.querySelector('#error').textContent.includes({})", json!(expected)));
        assert_eq!(browser.run(&format!("return {}", shown("#error"))), true);
        // A game that can be played.
        browser.wait("document.querySelectorAll('.cell.south .pit.legal').length > 0");
        browser.click(".cell.south .pit.legal");
        browser.wait("document.querySelectorAll('#moves button').length >= 1");
        assert_eq!(browser.run("return document.querySelector('#south').value"), "human");
    }
}

#[test]
fn the_other_player_moves_when_the_server_is_back() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for (fault, state) in [(AWAY, "offline"), (PROXY, "offline"), (BUSY, "busy")] {
        browser.go("about:blank");
        browser.go(&server.url("/#board=3x2&north=perfect"));
        settled(&browser, "south");
        browser.run(fault);
        browser.click(".cell.south .pit[data-pit='1']");
        moves(&browser, 1);
        browser.wait(&shown(&format!("#machine.{state}")));
        // The page shows no message of a parser.
        let text = browser.run("return document.body.innerText");
        assert!(!text.as_str().unwrap().contains("Unexpected token"), "{text}");
        browser.run(BACK);
        browser.wait("document.querySelectorAll('#moves button').length >= 2");
        browser.wait("!document.querySelector('#machine.offline, #machine.busy')");
    }
}

#[test]
fn a_game_goes_on_from_the_turn_of_a_program() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&first=north&north=perfect"));
    settled(&browser, "south");
    let played = browser.run("return document.querySelectorAll('#moves button').length").as_u64().unwrap();
    while browser.run("return document.querySelector('#undo').disabled") == false {
        browser.keys("u");
    }
    // North does not move by itself, so that the user can look at the game. A button makes it move.
    browser.wait(&shown("#go"));
    browser.click("#go");
    browser.wait(&format!("document.querySelectorAll('#moves button').length >= {played}"));
    settled(&browser, "south");
}

#[test]
fn a_move_is_kept_when_the_page_is_loaded_again_while_seeds_move() {
    let (Some(browser), server) = (Browser::open(1280, 800, &[]), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    // In one script, so that the seeds cannot have arrived.
    browser.run("document.querySelector('.cell.south .pit[data-pit=\"1\"]').click(); location.reload()");
    moves(&browser, 1);
    settled(&browser, "north");
}

#[test]
fn programs_wait_behind_dialogs() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=6x4&south=greedy&north=greedy"));
    browser.wait("document.querySelectorAll('#moves button').length >= 1");
    browser.click("#new");
    let count = "return document.querySelectorAll('#moves button').length";
    let before = browser.run(count).as_u64().unwrap();
    browser.run("return new Promise((done) => setTimeout(done, 1500))");
    let after = browser.run(count).as_u64().unwrap();
    // One move may have been on its way.
    assert!(after <= before + 1, "{before} moves, then {after}");
    browser.keys("\u{e00c}");
    browser.wait(&format!("document.querySelectorAll('#moves button').length > {}", before + 1));
}

#[test]
fn the_values_switch_is_remembered() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.click("#values");
    browser.run("location.reload()");
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 3");
    assert_eq!(browser.run("return document.querySelector('#values').checked"), false);
}

#[test]
fn boards_of_all_sizes_lie_inside_the_screen() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for pits in [1, 6, 10, 15, 16] {
        browser.go("about:blank");
        browser.go(&server.url(&format!("/#board={pits}x2&north=human")));
        browser.wait(&format!("document.querySelectorAll('.cell.south .pit.legal').length === {pits}"));
        for (width, height) in [(320, 640), (390, 844), (844, 390), (1280, 800), (1920, 1080)] {
            browser.screen(width, height);
            browser.wait(&format!("innerWidth === {width}"));
            browser.wait(
                "(() => {
                   const frame = document.querySelector('#board').getBoundingClientRect();
                   return document.documentElement.scrollWidth <= innerWidth &&
                     [...document.querySelectorAll('.pit, .store')].every((hole) => {
                       const box = hole.getBoundingClientRect();
                       return box.left >= Math.max(0, frame.left) && box.right <= Math.min(innerWidth, frame.right) &&
                         (hole.matches('.store') || (box.width >= 44 && box.height >= 44));
                     });
                 })()",
            );
        }
    }
}

#[test]
fn on_a_phone_held_sideways_the_buttons_are_seen() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.screen(844, 390);
    browser.go(&server.url("/#board=6x4&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 6");
    let below = browser.run(
        "return [...document.querySelectorAll('#board .pit, #undo, #redo, #new')].filter((element) =>
         element.getBoundingClientRect().bottom > innerHeight).length",
    );
    assert_eq!(below, 0);
    // On a touch screen without values, all buttons are visible, even that of the rules, which other screens have
    // elsewhere.
    browser.touch();
    browser.go("about:blank");
    browser.go(&server.url("/#board=6x4&north=human&values=off"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 6");
    let below = browser.run(
        "return [...document.querySelectorAll('#board .pit, .tools button, .tools summary')].filter((element) =>
         element.checkVisibility() && element.getBoundingClientRect().bottom > innerHeight)\
             .map((element) => element.id)",
    );
    assert_eq!(below, json!([]));
    assert_eq!(browser.run("return document.querySelector('#rules').checkVisibility()"), true);
}

#[test]
fn on_a_large_screen_the_board_is_large() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.screen(1920, 1080);
    browser.go(&server.url("/#board=6x4&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 6");
    // The page is at most 1500 pixels wide, in the middle.
    let shown = browser.run(
        "const [board, main] = ['#board', 'main'].map((one) => document.querySelector(one).getBoundingClientRect());
         const { clientWidth } = document.documentElement;
         return [board.width > 1080, main.width <= 1500, Math.abs(main.left + main.right - clientWidth) <= 1]",
    );
    assert_eq!(shown, json!([true, true, true]));
}

#[test]
fn a_position_is_set_up_from_any_form_of_text() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    for (text, seeds) in [
        ("4x3", json!([3, 3, 3, 3, 0, 3, 3, 3, 3, 0])),
        ("0,1,2/2,1,0", json!([0, 1, 2, 0, 2, 1, 0, 0])),
        ("<2,5,3,1,0,0,2>", json!([1, 0, 5, 0, 2, 3])),
    ] {
        choose(&browser, "#edit");
        browser.run(&format!(
            "const field = document.querySelector('#edit-text'); field.value = '{text}';
             field.dispatchEvent(new Event('change', {{ bubbles: true }}))"
        ));
        browser.click("#edit-dialog .main");
        browser.wait("!document.querySelector('dialog[open]')");
        browser.wait(&format!(
            "document.querySelectorAll('#board .count').length === {}",
            seeds.as_array().unwrap().len()
        ));
        assert_eq!(drawn(&browser), seeds, "{text}");
    }
}

#[test]
fn boards_that_would_be_refused_are_not_offered() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.click("#new");
    browser.run(
        "for (const [id, value] of [['new-pits', 16], ['new-seeds', 24]]) {
           const field = document.getElementById(id);
           field.value = value;
           field.dispatchEvent(new Event('input', { bubbles: true }));
         }",
    );
    browser.click("#new-dialog .main");
    assert_eq!(browser.run("return document.querySelector('#new-dialog').open"), true);
    let message = browser.run("return document.querySelector('#new-seeds').validationMessage");
    assert!(message.as_str().unwrap().contains("400"), "{message}");
}

#[test]
fn one_pit_is_not_several_pits() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=1x4&north=human"));
    browser.wait("document.querySelector('#about').textContent.includes('1 pit a side')");
}

#[test]
fn colours_need_no_new_function_of_the_browser() {
    for file in std::fs::read_dir("web/page").unwrap() {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("light-dark("), "{}", file.display());
    }
}

#[test]
fn a_bad_variation_in_a_link_does_not_lose_the_game() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2&also=3;1,1,1;2"));
    browser.wait(
        "document.querySelector('#error').textContent.includes('1,1,1') || \
        document.querySelector('#error').textContent.includes('not legal')",
    );
    moves(&browser, 4);
    assert_eq!(browser.run("return document.querySelector('#moves [aria-current]').textContent.slice(0, 3)"), "N 2");
}

#[test]
fn cards_lie_inside_the_screen() {
    for flags in [&STILL[..1], &[STILL[0], "--blink-settings=defaultFontSize=32"]] {
        let (Some(browser), server) = (Browser::open(1280, 800, flags), server()) else { return };
        for (width, height) in [(844, 390), (740, 360), (640, 400), (390, 844)] {
            browser.screen(width, height);
            browser.go("about:blank");
            browser.go(&server.url("/"));
            browser.wait(&shown("#welcome"));
            let inside = "return [...document.querySelectorAll('#welcome, #welcome button')].every((element) => {
                element.scrollIntoView({ block: 'nearest' });
                const box = element.getBoundingClientRect();
                const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
                return box.left >= 0 && box.right <= innerWidth && document.querySelector('#welcome').contains(top) &&
                  (element.id !== 'welcome' || (box.top >= 0 && box.bottom <= innerHeight)) })";
            assert_eq!(browser.run(inside), true, "{width}x{height} {flags:?}");
        }
    }
}

#[test]
fn nothing_covers_the_open_panel() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&values=on&moves=1,2,1"));
    browser.wait("document.querySelector('.label b')");
    for (width, height) in [(390, 844), (844, 390), (740, 360), (768, 1024), (1280, 800), (2560, 1440)] {
        browser.screen(width, height);
        browser.run("document.querySelector('.side').scrollIntoView(); document.querySelector('#panel').click()");
        browser.wait("document.querySelector('.side').getAnimations().length === 0");
        let covered = "const side = document.querySelector('.side');
            const box = side.getBoundingClientRect();
            const points = [];
            for (let x = box.left + 20; x < Math.min(box.right, innerWidth) - 20; x += 20)
              for (let y = Math.max(0, box.top) + 20; y < Math.min(box.bottom, innerHeight) - 90; y += 20)
                points.push(document.elementFromPoint(x, y));
            const over = points.filter((element) => !side.contains(element) && !element.closest('header'));
            document.querySelector('#panel').click();
            return [points.length > 50, ...new Set(over.map((element) => element.id || element.className))]";
        assert_eq!(browser.run(covered), json!([true]), "{width}x{height}");
    }
}

#[test]
fn the_ladder_counts_games_and_offers_the_next_level() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=<3,8,2,0,0,1,2,0,2>&north=alphabeta:1&values=off"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.keys("3");
    browser.wait(&shown("#end"));
    assert_eq!(browser.text("#end-record"), "Against Very easy: 1 won, 0 drawn, 0 lost.");
    assert_eq!(browser.text("#next-level"), "Next: Easy");
    browser.click("#next-level");
    browser.wait("location.hash.includes('north=heuristic') && !document.querySelector('#end').open");
    browser.click("#new");
    let record = "return document.querySelector('#new-levels input[value=\"alphabeta:1\"]').parentElement.innerText";
    assert!(browser.run(record).as_str().unwrap().contains("1 – 0 – 0"));
}
