//! The page in a real browser: games, positions and links, used as people use them.

use kalah::game::{Pit, Position, Rules};
use serde_json::json;

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, choose, drawn, expected, holes, labels, server, settled, tables};

#[test]
fn moves_are_taken_back_and_played_again_with_the_keyboard() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    let start: Position = "3x2".parse().unwrap();
    let moves = tables().move_scores(&start).unwrap();
    let best = moves.iter().map(|&(_, score)| score).max().unwrap();
    let &(bad, score) = moves.iter().find(|&&(_, score)| score < best).expect("some move loses something");
    browser.keys(&bad.to_string());
    browser.wait("document.querySelectorAll('#moves li').length === 1");
    // The mistake is marked with its cost.
    browser.wait(&format!("document.querySelector('#moves button').title.startsWith('lost {} seed')", best - score));
    browser.wait("document.querySelector('.dot.slip, .dot.blunder')");
    let after = drawn(&browser);
    assert_ne!(after, holes(&start));
    browser.keys("u");
    browser.wait("document.querySelector('#undo').disabled");
    assert_eq!(drawn(&browser), holes(&start));
    browser.keys("r");
    browser.wait("document.querySelector('#redo').disabled");
    assert_eq!(drawn(&browser), after);
    browser.click("#undo");
    // From a pit that the Tab key reached, arrows go along the row: to the first pit, which is then sown.
    browser.run("document.querySelector('.cell.south .pit').focus()");
    browser.keys("\u{e004}\u{e012}");
    assert_eq!(browser.run("return document.activeElement.dataset.pit"), "1");
    let label = browser.run("return document.activeElement.getAttribute('aria-label')");
    assert!(label.as_str().unwrap().starts_with("South pit 1, 2 seeds: "), "{label}");
    browser.keys("\u{e007}");
    browser.wait("location.hash.includes('moves=1')");
    assert_eq!(browser.errors(), json!([]));
}

#[test]
fn seeds_are_seen_to_move_and_stop_when_the_move_is_taken_back() {
    let (Some(browser), server) = (Browser::open(1280, 800, &[]), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.run(
        "window.flown = 0; new MutationObserver((all) => all.forEach((one) => one.addedNodes.forEach((node) => {
         if (node.className === 'flying') window.flown += 1 })))\
             .observe(document.querySelector('#board'), { childList: true })",
    );
    browser.click(".cell.south .pit[data-pit='1']");
    browser.wait("document.querySelector('#board.north-moves')");
    assert_eq!(browser.run("return window.flown"), 2);
    let position: Position = "3x2".parse().unwrap();
    let next = position.play(RULES, Pit::from_number(1).unwrap()).unwrap().position;
    assert_eq!(drawn(&browser), holes(&next.turned()));
}

#[test]
fn the_dialog_of_a_new_game_explains_the_chosen_rules() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    browser.click("#new");
    let explanation = |rules: Rules| {
        let again = "If the last seed falls into your store, you move again. ";
        let text = format!("{}{}", if rules.moves_again() { again } else { "" }, rules.summary());
        text[..1].to_uppercase() + &text[1..]
    };
    assert_eq!(browser.text("#new-rules-text"), explanation(Rules::default()));
    for rules in Rules::ALL {
        browser.run(&format!(
            "const select = document.querySelector('#new-rules');
             select.value = '{rules}';
             select.dispatchEvent(new Event('change'));"
        ));
        assert_eq!(browser.text("#new-rules-text"), explanation(rules));
    }
}

#[test]
fn a_position_is_set_up_and_its_link_shows_it_to_others() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    choose(&browser, "#edit");
    browser.run(
        "for (const [label, seeds] of [['South pit 1', 0], ['South pit 2', 0], ['South pit 3', 1], \
            ['North pit 2', 3], ['North\\'s store', 4]]) {
           const field = document.querySelector(`input[aria-label=\"${label}\"]`);
           field.value = seeds;
           field.dispatchEvent(new Event('input', { bubbles: true }));
         }
         document.querySelector('#edit-first').value = 'north';",
    );
    browser.click("#edit-dialog .main");
    settled(&browser, "north");
    // North is to move, so the literal has North first.
    let position: Position = "<3,4,0,2,3,2,0,0,1>".parse().unwrap();
    assert_eq!(drawn(&browser), holes(&position.turned()));
    assert_eq!(labels(&browser, "north"), expected(&position, "north"));
    let pit = tables().probe(&position).unwrap().best().next().unwrap();
    browser.keys(&pit.to_string());
    browser
        .wait("document.querySelectorAll('#moves li').length === 1 && document.querySelector('#undo:not(:disabled)')");
    let (shown, link) = (drawn(&browser), browser.run("return location.href"));
    browser.go("about:blank");
    browser.go(link.as_str().unwrap());
    browser.wait("document.querySelectorAll('#moves li').length === 1");
    assert_eq!(drawn(&browser), shown);
    // For the graph, the position before it was evaluated too.
    browser.wait("document.querySelectorAll('.dot.exact').length === 2");
    browser.keys("u");
    settled(&browser, "north");
    assert_eq!(labels(&browser, "north"), expected(&position, "north"));
}

#[test]
fn what_is_not_proved_is_marked() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=6x6&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .label b').length === 6");
    let marked = browser.run("return [...document.querySelectorAll('.cell.south .label b')].map((b) => b.textContent)");
    let marked: Vec<&str> = marked.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(marked.iter().all(|text| ["≈", "≥", "≤"].iter().any(|mark| text.starts_with(mark))), "{marked:?}");
    assert!(!browser.text("#status").contains("exact"));
}

#[test]
fn refusals_are_shown() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=nonsense"));
    browser.wait("document.querySelector('#error').textContent.includes(\"'nonsense' is not a position\")");
}

#[test]
fn on_a_phone_the_board_fits_the_screen() {
    let (Some(browser), server) = (Browser::open(500, 844, STILL), server()) else { return };
    browser.go(&server.url("/#board=6x4&north=human"));
    browser.wait("document.querySelectorAll('.cell.south .label b').length === 6");
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.run(overflow), 0);
    browser.screen(390, 844);
    browser.wait("innerWidth === 390");
    browser.wait("document.querySelector('#board').getBoundingClientRect().right <= innerWidth");
    assert_eq!(browser.run(overflow), 0);
}

#[test]
fn an_empty_pit_says_so_and_asks_the_server_nothing() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#0,2,2/2,2,2&north=human"));
    settled(&browser, "south");
    browser.run("performance.clearResourceTimings()");
    for way in ["click", "key"] {
        if way == "click" {
            browser.click(".cell.south .pit[data-pit='1']");
        } else {
            browser.keys("1");
        }
        browser.wait("document.querySelector('.shout')?.textContent === 'Empty'");
        browser.wait("!document.querySelector('.shout')");
    }
    assert_eq!(browser.text("#said"), "Empty");
    assert_eq!(browser.text("#error"), "");
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
}
