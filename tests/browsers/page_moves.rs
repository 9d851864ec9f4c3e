//! The page's list of moves: turns, variations, keys, the dragged graph, game texts, the last game, the pie rule.

use kalah::game::Position;
use kalah::table::Tables;
use serde_json::{Value, json};

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, choose, directory, moves, remember, server, settled};

/// A game with a main line, two variations, one of them within a variation, and comments.
const GAME: &str = "board=3x2&north=human&moves=1,2,1&also=1,3,2,1;1,3,1&at=1&note=1,3:why%20%20not%3F%0Aa%20line";

/// Expression of the moves in the list with their numbers, without marks and values.
const LIST: &str = "[...document.querySelectorAll('#moves .number, #moves button')].map((part) => \
    part.textContent.replace(/[?!]*( ([+−]\\d+|0))?$/, '')).filter(Boolean).join(' ')";

/// Expected list of [`GAME`].
const LISTED: &str = "1. S 1 N 2 N 1 1… N 3 2. S 2 2. S 1 2… N 1";

const HERE: &str = "document.querySelector('#moves [aria-current]')?.textContent.slice(0, 3)";

fn is(expression: &str, value: &str) -> String {
    format!("{expression} === {}", json!(value))
}

fn reload(browser: &Browser) {
    browser.run("window.before = true; location.reload()");
    browser.wait("!window.before && document.querySelector('.pit')");
}

/// Clicks a move of the list, in a variation or not.
fn visit(browser: &Browser, number: usize) {
    browser.run(&format!("document.querySelectorAll('#moves button')[{number}].click()"));
}

fn shown(browser: &Browser, id: &str) -> bool {
    browser.run(&format!("return document.querySelector('#{id}').checkVisibility()")).as_bool().unwrap()
}

#[test]
fn the_main_line_variations_and_comments_survive_a_reload() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url(&format!("/#{GAME}")));
    browser.wait(&is(LIST, LISTED));
    // Seen from the end of a variation, the main line is the same.
    for number in 0..7 {
        visit(&browser, number);
        let here = browser.run(&format!("return {HERE}"));
        reload(&browser);
        browser.wait(&is(LIST, LISTED));
        browser.wait(&is(HERE, here.as_str().unwrap()));
    }
    visit(&browser, 3);
    browser.wait("document.querySelector('#comment').value === 'why  not?\\na line'");
    assert_eq!(browser.errors(), json!([]));
}

#[test]
fn the_address_without_a_game_resumes_the_last_one() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url(&format!("/#{GAME}")));
    browser.wait(&is(LIST, LISTED));
    visit(&browser, 4);
    browser.wait(&is(HERE, "S 2"));
    // A comment is kept while it is still being typed.
    browser.click(".comment summary");
    browser.run("document.querySelector('#comment').focus()");
    browser.keys("two  spaces\u{e007}2 lines");
    browser.go("about:blank");
    browser.go(&server.url("/"));
    browser.wait(&is(LIST, LISTED));
    browser.wait(&is(HERE, "S 2"));
    browser.wait("document.querySelector('#comment').value === 'two  spaces\\n2 lines'");
}

#[test]
fn variations_are_promoted_and_deleted() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url(&format!("/#{GAME}")));
    browser.wait(&is(LIST, LISTED));
    // On the main line there is nothing to promote.
    assert_eq!(["promote", "remove"].map(|id| shown(&browser, id)), [false, true]);
    visit(&browser, 5);
    browser.wait("document.querySelector('#promote').checkVisibility()");
    browser.click("#promote");
    browser.wait(&is(LIST, "1. S 1 N 2 N 1 1… N 3 2. S 1 2. S 2 N 1"));
    assert_eq!(["promote", "restore"].map(|id| shown(&browser, id)), [true, false]);
    browser.click("#promote");
    let main = "1. S 1 N 3 1… N 2 N 1 2. S 1 2. S 2 N 1";
    browser.wait(&is(LIST, main));
    assert!(!shown(&browser, "promote"));
    reload(&browser);
    browser.wait(&is(LIST, main));
    // The shown move is deleted with all that follow it, and comes back.
    visit(&browser, 1);
    browser.wait(&is(HERE, "N 3"));
    browser.click("#remove");
    browser.wait(&is(LIST, "1. S 1 N 2 N 1"));
    browser.wait(&is(HERE, "S 1"));
    browser.click("#restore");
    browser.wait(&is(LIST, main));
    assert!(!shown(&browser, "restore"));
    browser.click("#remove");
    browser.wait(&is(LIST, "1. S 1 N 2 N 1"));
    reload(&browser);
    browser.wait(&is(LIST, "1. S 1 N 2 N 1"));
    // The browser's Back restores it too.
    browser.run("history.back()");
    browser.wait(&is(LIST, main));
}

#[test]
fn keys_go_through_the_game() {
    let [left, right, home, end] = ["\u{e012}", "\u{e014}", "\u{e011}", "\u{e010}"];
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2,1&at=1"));
    moves(&browser, 3);
    for (keys, here) in [(right, "N 2"), (end, "N 1"), (left, "N 2"), (home, ""), (right, "S 1")] {
        browser.keys(keys);
        browser.wait(&format!("({HERE} ?? '') === {}", json!(here)));
    }
    // Buttons and letters mean the same, against a program too.
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x2&north=greedy&moves=1,2,1&at=2"));
    moves(&browser, 3);
    let at = |here: &str| browser.wait(&format!("({HERE} ?? '') === {}", json!(here)));
    browser.click("#undo");
    at("S 1");
    browser.click("#redo");
    at("N 2");
    browser.keys("u");
    at("S 1");
    browser.keys("r");
    at("N 2");
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2,1&at=1"));
    moves(&browser, 3);
    // After a click on a pit, too.
    browser.click(".pit.legal");
    moves(&browser, 4);
    browser.keys(home);
    browser.wait(&format!("{HERE} === undefined"));
    browser.keys(end);
    browser.wait("document.querySelector('#redo').disabled");
}

#[test]
fn the_graph_is_dragged_through_the_game() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2,1&at=0"));
    browser.wait("document.querySelectorAll('.dot').length === 4");
    let mut seen = Vec::new();
    browser.drag(".graph", 0.15, 0.98, || {
        let now = browser.run("return document.querySelector('.graph').getAttribute('aria-valuenow')");
        seen.push(now.as_str().unwrap().to_owned());
    });
    seen.dedup();
    assert_eq!(seen, ["0", "1", "2", "3"]);
    browser.wait("document.querySelector('#redo').disabled && !location.hash.includes('at=')");
    browser.drag(".graph", 0.9, 0.5, || {});
    browser.wait("location.hash.includes('at=')");
}

#[test]
fn turns_are_numbered_and_bad_moves_are_marked() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let mut position: Position = "3x2".parse().unwrap();
    let (mut expected, mut played, mut again, mut turns) = (String::new(), Vec::new(), false, 0);
    while !position.is_over() && played.len() < 9 {
        let scores = tables.move_scores(&position).unwrap();
        let &(pit, score) = scores.first().unwrap();
        let best = scores.iter().map(|&(_, score)| score).max().unwrap();
        let lost = best - score;
        let mark = match lost {
            0 => "",
            _ if position.value(best).signum() > position.value(score).signum() => "??",
            4.. => "?",
            _ => "?!",
        };
        if !again {
            if turns % 2 == 0 {
                expected += &format!("{}. ", turns / 2 + 1);
            }
            turns += 1;
        }
        expected += &format!("{} {pit}{mark} ", if turns % 2 == 1 { "S" } else { "N" });
        played.push(pit.to_string());
        let made = position.play(RULES, pit).unwrap();
        (position, again) = (made.position, made.again);
    }
    remember(&browser, &server.url("/style.css"), &json!({ "values": true }));
    browser.go(&server.url(&format!("/#board=3x2&north=human&moves={}", played.join(","))));
    let list = "[...document.querySelectorAll('#moves .number, #moves button')].map((part) => \
        part.textContent.replace(/ ([+−]\\d+|0)$/, '')).filter(Boolean).join(' ')";
    browser.wait(&is(list, expected.trim_end()));
}

#[test]
fn variations_and_long_comments_go_through_a_game_text() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    // The comment stands between the turns.
    let listed = LISTED.replacen("N 2", "1… N 2", 1);
    let comment = "A long comment with two  spaces. ".repeat(400);
    browser.go(&server.url(&format!("/#{GAME}&note=1:{}", comment.replace(' ', "%20"))));
    browser.wait(&is(LIST, &listed));
    choose(&browser, "#text");
    browser.wait("document.querySelector('#text-text').value.length > 10000");
    let text = browser.run("return document.querySelector('#text-text').value");
    let text = text.as_str().unwrap();
    assert!(text.replace('\n', " ").contains("(1... 3 {why not? a line} 2. 2 (2. 1) 2... 1)"), "{text}");
    // Other commands skip them.
    let game = kalah::record::read_game(text, kalah::game::Rules::default()).unwrap();
    assert_eq!(game.moves().len(), 3);
    browser.keys("\u{e00c}");
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x1&north=human"));
    settled(&browser, "south");
    choose(&browser, "#text");
    // A fault is reported with its line in the text as it is shown.
    let bad = format!("{} 9", text.trim_end().trim_end_matches('*'));
    browser.run(&format!("document.querySelector('#text-text').value = {}", json!(bad)));
    browser.click("#text-dialog .main");
    browser
        .wait(&format!("document.querySelector('#text-error').textContent.includes('line {}')", bad.lines().count()));
    browser.run(&format!("document.querySelector('#text-text').value = {}", json!(text)));
    browser.click("#text-dialog .main");
    browser.wait(&is(LIST, &listed));
    let comments = "[...document.querySelectorAll('#moves .text')].map((item) => item.textContent)";
    let found: Value = browser.run(&format!("return {comments}"));
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found, json!([comment, "why not? a line"]));
}

#[test]
fn an_exchange_is_shown_in_the_moves() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&south=greedy&moves=1&pie=open"));
    browser.wait("document.querySelector('#swap').checkVisibility()");
    browser.click("#swap");
    browser.wait("document.querySelectorAll('#moves button').length >= 2 && location.hash.includes('north=greedy')");
    let exchange = "document.querySelector('#moves .exchange')?.previousElementSibling.textContent.includes('S 1')";
    browser.wait(exchange);
    reload(&browser);
    browser.wait(exchange);
}
