//! The page's list of moves: turns, variations, comments, keys, the dragged graph, game texts, the last game.

use kalah::game::Rules;
use serde_json::json;

use kalah_tests::browser::board::Page;
use kalah_tests::browser::keys::{END, ENTER, ESCAPE, HOME, LEFT, RIGHT};

/// A game with a main line, two variations, one of them within a variation, and comments.
const GAME: &str = "board=3x2&north=human&moves=1,2,1&also=1,3,2,1;1,3,1&at=1&note=1,3:why%20%20not%3F%0Aa%20line";

/// Expected list of [`GAME`].
const LISTED: &str = "1. S 1 N 2 N 1 1… N 3 2. S 2 2. S 1 2… N 1";

/// Waits until the list has these moves with their numbers, apart from marks and values.
#[track_caller]
fn listed(page: &Page, expected: &str) {
    let list = "texts('#moves .number, #moves button').map((text) => text.replace(/[?!]*( ([+−]\\d+|0))?$/, ''))";
    page.wait(&format!("{list}.filter(Boolean).join(' ') === {}", json!(expected)));
}

/// Waits until this move of the list is the shown one; none is at the start.
#[track_caller]
fn at(page: &Page, expected: &str) {
    let here = "($('#moves [aria-current]')?.textContent.slice(0, 3) ?? '')";
    page.wait(&format!("{here} === {}", json!(expected)));
}

/// Opens [`GAME`], with more in its address.
fn game(more: &str) -> Option<Page> {
    Page::at(&format!("/#{GAME}{more}"))
}

/// Clicks a move of the list, in a variation or not.
fn visit(page: &Page, number: usize) {
    page.run(&format!("$$('#moves button')[{number}].click()"));
}

#[test]
fn the_last_game_is_resumed_without_an_address_and_by_a_reload() {
    let Some(page) = game("") else { return };
    listed(&page, LISTED);
    visit(&page, 4);
    at(&page, "S 2");
    // A comment is kept while it is still being typed.
    page.click(".comment summary");
    page.run("$('#comment').focus()");
    page.keys(&["two  spaces", ENTER, "2 lines"].concat());
    page.open("/");
    listed(&page, LISTED);
    at(&page, "S 2");
    page.wait("$('#comment').value === 'two  spaces\\n2 lines'");
    visit(&page, 3);
    page.wait("$('#comment').value === 'why  not?\\na line' && location.hash.includes('two++spaces')");
    page.reload();
    listed(&page, LISTED);
    at(&page, "N 3");
    assert_eq!(page.errors(), json!([]));
}

#[test]
fn variations_are_promoted_and_deleted() {
    let Some(page) = game("") else { return };
    let shown = |ids: [&str; 2], expected: [bool; 2]| {
        assert_eq!(ids.map(|id| page.value(&format!("shown('#{id}')"))), expected, "{ids:?}");
    };
    listed(&page, LISTED);
    // On the main line there is nothing to promote.
    shown(["promote", "remove"], [false, true]);
    visit(&page, 5);
    page.wait("shown('#promote')");
    page.click("#promote");
    let (main, rest) = ("1. S 1 N 2 N 1 1… N 3 2. S 1 2. S 2 N 1", "1. S 1 N 2 N 1");
    listed(&page, main);
    shown(["promote", "restore"], [true, false]);
    page.reload();
    listed(&page, main);
    // The shown move is deleted with all that follow it, and comes back.
    visit(&page, 3);
    at(&page, "N 3");
    page.click("#remove");
    listed(&page, rest);
    at(&page, "S 1");
    page.click("#restore");
    listed(&page, main);
    page.is("shown('#restore')", false);
    page.click("#remove");
    listed(&page, rest);
    page.reload();
    listed(&page, rest);
    // The browser's Back restores it too.
    page.run("history.back()");
    listed(&page, main);
}

#[test]
fn another_move_is_a_variation_and_back_and_forward_go_through_them() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1,2") else { return };
    page.moves(2);
    page.click("#moves button");
    page.settled("north");
    page.keys("3");
    page.moves(3);
    page.wait("$$('#moves .variation button').length === 1");
    at(&page, "N 3");
    page.run("history.back()");
    at(&page, "S 1");
    page.run("history.forward()");
    at(&page, "N 3");
    page.moves(3);
    // The link contains all variations, and has them again after the page is loaded again.
    page.reload();
    page.is("location.hash.includes('also=')", true);
    page.moves(3);
    // Back leaves a new game.
    page.click("#new");
    page.click("#new-dialog .main");
    page.moves(0);
    page.run("history.back()");
    page.moves(3);
}

#[test]
fn keys_and_buttons_go_through_the_game() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1,2,1&at=1") else { return };
    page.moves(3);
    for (keys, here) in [(RIGHT, "N 2"), (END, "N 1"), (LEFT, "N 2"), (HOME, ""), (RIGHT, "S 1")] {
        page.keys(keys);
        at(&page, here);
    }
    // After a click on a pit, too.
    page.click(".pit.legal");
    page.moves(4);
    page.keys(HOME);
    at(&page, "");
    page.keys_until(END, "$('#redo').disabled");
    // Buttons and letters mean the same, against a program too.
    page.open("/#board=3x2&north=greedy&moves=1,2,1&at=2");
    page.moves(3);
    page.click("#undo");
    at(&page, "S 1");
    page.click("#redo");
    at(&page, "N 2");
    page.keys("u");
    at(&page, "S 1");
    page.keys("r");
    at(&page, "N 2");
}

#[test]
fn the_graph_is_dragged_through_the_game() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1,2,1&at=0") else { return };
    page.wait("$$('.dot').length === 4");
    let mut seen = Vec::new();
    page.drag(".graph", 0.15, 0.98, || seen.push(page.value("$('.graph').getAttribute('aria-valuenow')")));
    seen.dedup();
    assert_eq!(seen, ["0", "1", "2", "3"]);
    page.wait("$('#redo').disabled && !location.hash.includes('at=')");
    page.drag(".graph", 0.9, 0.5, || {});
    page.wait("location.hash.includes('at=')");
}

#[test]
fn variations_and_long_comments_go_through_a_game_text() {
    // The comment stands between the turns.
    let expected = LISTED.replacen("N 2", "1… N 2", 1);
    let comment = "A long comment with two  spaces. ".repeat(400);
    let Some(page) = game(&format!("&note=1:{}", comment.replace(' ', "%20"))) else { return };
    listed(&page, &expected);
    page.choose("#text");
    page.wait("$('#text-text').value.length > 10000");
    let text = page.value("$('#text-text').value");
    let text = text.as_str().unwrap();
    assert!(text.replace('\n', " ").contains("(1... 3 {why not? a line} 2. 2 (2. 1) 2... 1)"), "{text}");
    // Other commands skip them.
    assert_eq!(kalah::record::read_game(text, Rules::default()).unwrap().moves().len(), 3);
    page.keys(ESCAPE);
    page.open("/#board=3x1&north=human");
    page.settled("south");
    page.choose("#text");
    // A fault is reported with its line in the text as it is shown, and the dialog stays open.
    let bad = format!("{} 9", text.trim_end().trim_end_matches('*'));
    page.fill("#text-text", bad.as_str());
    page.click("#text-dialog .main");
    page.wait(&format!("$('#text-error').textContent.includes('line {}')", bad.lines().count()));
    page.fill("#text-text", format!("[Event \"Club\"]\n{text}"));
    page.click("#text-dialog .main");
    listed(&page, &expected);
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    page.is("texts('#moves .text')", json!([comment, "why not? a line"]));
    page.is("$$('#moves .commented').length", 2);
    // A header of the text is kept.
    page.choose("#text");
    page.wait("$('#text-text').value.includes('[Event \"Club\"]')");
}

#[test]
fn comments_are_kept_in_links() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1,2&at=1") else { return };
    page.settled("north");
    page.click(".comment summary");
    page.run("$('#comment').focus()");
    // Digits are part of the text here, and sow no pit.
    page.keys("See 1 & 2");
    page.run("$('#comment').blur()");
    page.wait("location.hash.includes('note=') && $('#moves .commented')");
    page.moves(2);
    page.keys_until("r", "$('#comment').value === ''");
    page.reload();
    page.wait("$('#moves .commented')");
    page.keys_until("u", "$('#comment').value === 'See 1 & 2' && shown('#comment')");
}
