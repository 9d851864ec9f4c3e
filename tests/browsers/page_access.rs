//! The page for everyone: faults that axe-core finds, announcements, the keyboard, touch, the focus, sizes.

use serde_json::json;

use kalah_tests::browser::board::{Page, STILL};
use kalah_tests::browser::keys::{ENTER, ESCAPE, LEFT};

/// axe-core, which checks pages by the rules of WCAG. See tests/browsers/axe.md.
const AXE: &[u8] = include_bytes!("axe.min.js.gz");

/// Fails if axe-core finds a fault in the page as it is shown. The browser unpacks its script.
#[track_caller]
fn assert_no_findings(page: &Page, what: &str) {
    if page.value("window.axe === undefined") == true {
        let script = page.run(&format!(
            "const packed = new Blob([new Uint8Array({})]).stream();
             return new Response(packed.pipeThrough(new DecompressionStream('gzip'))).text()",
            json!(AXE)
        ));
        page.run(script.as_str().unwrap());
    }
    let found = page.run(
        "return axe.run().then(({ violations }) =>
           violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])]))",
    );
    assert_eq!(found, json!([]), "{what}");
}

#[test]
fn axe_core_finds_nothing() {
    let Some(page) = Page::at("") else { return };
    for scheme in ["light", "dark"] {
        page.media("prefers-color-scheme", scheme);
        let check = |what: &str| assert_no_findings(&page, &format!("{what}, {scheme}"));
        page.open("/#board=3x2&north=human&moves=1,2&at=0&also=3&pie=swapped:1&note=:A%20good%20start");
        page.moves(3);
        page.wait("$('.slip, .blunder') && shown('#comment')");
        check("game");
        for (tab, part) in [("explorer", "#explorer-none"), ("report", "#report-list button")] {
            page.click_until(&format!("#tab-{tab}"), &format!("shown('{part}')"));
            check(tab);
        }
        page.click("#menu summary");
        check("menu");
        page.keys(ESCAPE);
        for dialog in ["new", "edit", "rules", "text", "puzzle"] {
            if ["edit", "text"].contains(&dialog) {
                page.click("#menu summary");
            }
            page.click_until(&format!("#{dialog}"), "$('dialog[open]')");
            check(dialog);
            page.keys_until(ESCAPE, "!$('dialog[open]')");
        }
        page.keys_until("?", "$('#keys-dialog').open");
        check("keys");
        page.open_with(&json!(null), "/");
        page.wait("$('#welcome').open && $('.pit.legal')");
        check("a first visit");
        page.open_with(&json!(null), "/#board=<3,5,2,0,0,1,2,0,2>&north=human&values=off");
        page.wait("$('.pit.legal')");
        page.keys_until("3", "shown('#end')");
        check("the end of a game");
        page.screen(390, 844);
        check("phone");
        page.screen(1280, 800);
    }
}

#[test]
fn the_played_move_is_announced_and_the_focus_stays() {
    let Some(page) = Page::of_two_people() else { return };
    page.keys_until("2", "$('#said').textContent.match(/South sows pit 2: 2 seeds\\.[^]*South moves again/)");
    page.moves(1);
    // A button of the list keeps the focus when more moves follow.
    page.run("$('#moves button').focus(); window.kept = document.activeElement");
    page.keys("1");
    page.moves(2);
    page.settled("north");
    page.is("document.activeElement === window.kept && window.kept.isConnected", true);
    // The graph is one stop of the Tab key. Its arrow keys go through the game.
    page.run("$('.graph').focus()");
    page.keys_until(LEFT, "$('.graph').getAttribute('aria-valuenow') === '1'");
    page.is("document.activeElement.classList.contains('graph')", true);
}

#[test]
fn pits_above_nine_are_sown_by_two_digits() {
    let Some(page) = Page::at("/#board=12x1&north=human") else { return };
    page.playable(12);
    page.keys_until("12", "location.hash.includes('moves=12')");
    // One digit is enough after a pause or Enter.
    page.wait("$$('.pit.legal').length === 11");
    page.keys_until(&["1", ENTER].concat(), "location.hash.includes('moves=12,1')");
}

#[test]
fn on_a_touch_screen_all_targets_are_large() {
    let Some(page) = Page::at("") else { return };
    page.touch();
    for (width, height) in [(390, 844), (844, 390)] {
        page.screen(width, height);
        page.open_until("/#board=6x2&north=human&moves=1", "$$('.cell.north .pit.legal').length === 6");
        let small = page.run(
            "return $$('button, select, summary, .switch').filter((target) => target.checkVisibility())
               .map((target) => [target.outerHTML.slice(0, 100), target.getBoundingClientRect()])
               .filter(([, { width, height }]) => width < 44 || height < 44)",
        );
        assert_eq!(small, json!([]), "{width}x{height}");
    }
}

#[test]
fn forced_colours_distinguish_best_and_legal_moves() {
    let Some(page) = Page::at("") else { return };
    page.media("forced-colors", "active");
    page.open("/#board=3x2&north=human");
    page.settled("south");
    let borders = page.run(
        "return ['.label.best', '.label:not(.best):not(:empty)', '.pit.legal', '.pit:not(.legal)'].map((one) => {
           const { borderTopWidth, borderTopStyle } = getComputedStyle($(one));
           return [borderTopWidth, borderTopStyle].join(' ');
         })",
    );
    assert!(borders[0] != borders[1] && borders[2] != borders[3], "{borders}");
}

#[test]
fn marks_of_legal_last_and_best_moves_differ_in_form_and_by_contrast() {
    let Some(page) = Page::at("") else { return };
    for scheme in ["light", "dark"] {
        page.media("prefers-color-scheme", scheme);
        page.open("/#board=3x2&north=human&moves=1");
        page.settled("north");
        let ratios = page.run(
            "const style = getComputedStyle($('#board'));
             const light = (name) => {
               const [r, g, b] = style.getPropertyValue(`--mark-${name}`).trim().match(/[0-9a-f]{2}/g)
                 .map((part) => parseInt(part, 16) / 255)
                 .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
               return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
             };
             const [legal, last, best] = ['legal', 'last', 'best'].map(light);
             return [legal / last, last / best, legal / best]",
        );
        assert!(ratios.as_array().unwrap().iter().all(|ratio| ratio.as_f64() >= Some(3.0)), "{scheme}: {ratios}");
        // A ring, a mark within the hollow, a star.
        let forms = page.run(
            "const style = (selector, part) => getComputedStyle($(selector), part);
             return [style('.pit.legal').borderTopStyle, style('.mark-from', '::before').borderTopStyle,
               $('.pit.best .star').textContent, style('.pit:not(.best) .star').display]",
        );
        assert_eq!(forms, json!(["solid", "dashed", "★", "none"]));
    }
}

#[test]
fn a_page_magnified_four_times_can_be_used() {
    let Some(page) = Page::at("") else { return };
    page.screen(320, 256);
    page.open_until("/#board=6x4&north=human", "$$('.cell.south .label b').length === 6");
    page.is("document.documentElement.scrollWidth <= innerWidth", true);
    // Scrolled to, it is in full view, and nothing covers it.
    let is_seen = |selector: &&str| {
        page.run(&format!("$(\"{selector}\").scrollIntoView({{ block: 'center' }})"));
        let seen = page.run(&format!(
            "const {{ left, right, top, bottom }} = box(\"{selector}\");
             const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
             return $(\"{selector}\").contains(hit) && left >= 0 && right <= innerWidth"
        ));
        assert_eq!(seen, true, "{selector}");
    };
    ["#new", ".cell.south .pit[data-pit='3']", "#undo", "#menu summary"].iter().for_each(is_seen);
    // In a dialog, too.
    page.click("#puzzle");
    ["#puzzle-level", "[data-day]", "#puzzle-state", "#puzzle-dialog .main"].iter().for_each(is_seen);
    page.keys_until(ESCAPE, "!$('dialog[open]')");
    page.click(".cell.south .pit[data-pit='3']");
    page.moves(1);
    page.click_until("#panel", "shown('#moves button')");
    page.click_until("#panel-close", "!shown('#side')");
}

#[test]
fn text_of_twice_the_size_fits() {
    let Some(page) = Page::with(&[STILL[0], "--blink-settings=defaultFontSize=32"], "") else { return };
    for (width, height) in [(1280, 800), (390, 844)] {
        page.screen(width, height);
        page.open_until("/#board=6x4&north=human", "$$('.cell.south .label b').length === 6");
        page.is("getComputedStyle(document.documentElement).fontSize", "32px");
        page.is("document.documentElement.scrollWidth <= innerWidth", true);
        // No count covers a hollow.
        page.wait(
            "$$('#board .cell').every((cell) => {
               const [pit, count] = ['.pit', '.count'].map((one) => cell.querySelector(one).getBoundingClientRect());
               return count.top >= pit.bottom - 1 || count.bottom <= pit.top + 1 || count.left >= pit.right - 1 ||
                 count.right <= pit.left + 1;
             })",
        );
    }
}

#[test]
fn boards_of_all_sizes_lie_inside_the_screen() {
    let Some(page) = Page::at("") else { return };
    for pits in [1, 6, 10, 15, 16] {
        page.open(&format!("/#board={pits}x2&north=human"));
        page.playable(pits);
        for (width, height) in [(320, 640), (390, 844), (844, 390), (1280, 800), (1920, 1080)] {
            page.screen(width, height);
            page.wait(&format!("innerWidth === {width}"));
            page.wait(
                "document.documentElement.scrollWidth <= innerWidth && $$('.pit, .store').every((hole) => {
                   const [frame, { left, right, width, height }] = [box('#board'), hole.getBoundingClientRect()];
                   return left >= Math.max(0, frame.left) && right <= Math.min(innerWidth, frame.right) &&
                     (hole.matches('.store') || (width >= 44 && height >= 44));
                 })",
            );
        }
        // One pit is not several pits.
        page.is("$('#about').textContent.includes('1 pit a side')", pits == 1);
    }
}

#[test]
fn screens_of_any_form_show_the_board_and_what_is_needed() {
    let Some(page) = Page::at("") else { return };
    let below = |selector: &str| {
        page.value(&format!(
            "$$('{selector}').filter((element) => element.checkVisibility() && \
               element.getBoundingClientRect().bottom > innerHeight).map((element) => element.id)"
        ))
    };
    let open = |width, height, link: &str| {
        page.screen(width, height);
        page.open(link);
        page.playable(6);
    };
    open(844, 390, "/#board=6x4&north=human");
    assert_eq!(below("#board .pit, #undo, #redo, #new"), json!([]));
    // The page is at most 1500 pixels wide, in the middle.
    open(1920, 1080, "/#board=6x4&north=human");
    page.is("box('#board').width > 1080 && box('main').width <= 1500", true);
    page.is("Math.abs(box('main').left + box('main').right - document.documentElement.clientWidth) <= 1", true);
    // On a touch screen without values, all buttons are visible, even that of the rules, which other screens have
    // elsewhere.
    page.touch();
    open(844, 390, "/#board=6x4&north=human&values=off");
    assert_eq!(below("#board .pit, .tools button, .tools summary"), json!([]));
    page.is("shown('#rules')", true);
}

#[test]
fn cards_lie_inside_the_screen() {
    for flags in [STILL, &[STILL[0], "--blink-settings=defaultFontSize=32"]] {
        let Some(page) = Page::with(flags, "") else { return };
        for (width, height) in [(844, 390), (740, 360), (640, 400), (390, 844)] {
            page.screen(width, height);
            page.open_until("/", "shown('#welcome')");
            let inside = page.run(
                "return $$('#welcome, #welcome button').every((element) => {
                   element.scrollIntoView({ block: 'nearest' });
                   const { left, right, top, bottom } = element.getBoundingClientRect();
                   const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
                   return left >= 0 && right <= innerWidth && $('#welcome').contains(hit) &&
                     (element.id !== 'welcome' || (top >= 0 && bottom <= innerHeight));
                 })",
            );
            assert_eq!(inside, true, "{width}x{height} {flags:?}");
        }
    }
}

#[test]
fn nothing_covers_the_open_panel_and_the_panel_covers_no_board() {
    let Some(page) = Page::at("/#board=3x2&north=human&values=on&moves=1,2,1") else { return };
    page.wait("$('.label b')");
    for (width, height) in [(390, 844), (844, 390), (740, 360), (768, 1024), (1280, 800), (2560, 1440)] {
        page.screen(width, height);
        page.run("$('.side').scrollIntoView(); $('#panel').click()");
        page.wait("$('.side').getAnimations().length === 0");
        let covered = page.run(
            "const { left, right, top, bottom } = box('.side');
             const points = [];
             for (let x = left + 20; x < Math.min(right, innerWidth) - 20; x += 20)
               for (let y = Math.max(0, top) + 20; y < Math.min(bottom, innerHeight) - 90; y += 20)
                 points.push(document.elementFromPoint(x, y));
             const over = points.filter((element) => !$('.side').contains(element) && !element.closest('header'));
             $('#panel').click();
             return [points.length > 50, ...new Set(over.map((element) => element.id || element.className))]",
        );
        assert_eq!(covered, json!([true]), "{width}x{height}");
    }
    let below = "box('#board').top >= 0 && box('#side').top >= box('#board').bottom - 4 && box('#side').height > 250";
    page.screen(390, 844);
    page.open_until("/#6x4&north=human&moves=3,6,2", "$('.label b')");
    page.click_until("#panel", &format!("shown('#side') && {below}"));
    page.click_until("#panel-close", "!shown('#side')");
    page.screen(820, 1180);
    page.wait(&format!("shown('#side') && {below}"));
    page.is("shown('#panel')", false);
}

#[test]
fn colours_need_no_new_function_of_the_browser() {
    for file in std::fs::read_dir("web/page").unwrap() {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("light-dark("), "{}", file.display());
    }
}
