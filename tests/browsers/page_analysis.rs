//! The page for study: opening explorer, comments, longer searches, positions.

use kalah::book::Book;
use kalah::game::Position;
use serde_json::{Value, json};

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, choose, directory, moves, server, settled};
use kalah_tests::serving::Server;

/// Rows of the explorer: the pit and its value.
fn explorer(browser: &Browser) -> Value {
    browser.run(
        "return document.querySelector('#explorer').checkVisibility() ? \
            [...document.querySelectorAll('#explorer-rows tr')].map((row) =>
           [...row.children].map((cell) => cell.textContent)) : []",
    )
}

#[test]
fn the_explorer_shows_what_the_book_has() {
    let Some(browser) = Browser::open(1280, 800, STILL) else { return };
    let server = Server::start(directory(), &["--time", "0.2", "--transpositions", "16MiB"]);
    let book = Book::shipped(RULES, 6).unwrap();
    let (mut position, mut south): (Position, bool) = ("6x4".parse().unwrap(), true);
    browser.go(&server.url("/#board=6x4&north=human"));
    browser.click("#tab-explorer");
    for moved in 0..2 {
        let recalled = book.recall(&position, None).unwrap();
        let expected: Vec<Value> = recalled
            .moves
            .iter()
            .map(|(pit, bounds)| {
                assert_eq!(bounds.lower, bounds.upper, "the book has all moves of {position}");
                let value = position.value(bounds.lower) * if south { 1 } else { -1 };
                let sign = ["−", "", "+"][(value.signum() + 1) as usize];
                let word = ["loss", "draw", "win"][(value.signum() + 1) as usize];
                json!([pit.to_string(), format!("{sign}{} {word}", value.abs())])
            })
            .collect();
        browser.wait(&format!(
            "document.querySelectorAll('#explorer-rows tr').length === {} && \
                document.querySelectorAll('#moves button').length === {moved}",
            expected.len()
        ));
        browser.wait("document.querySelector('#explorer-note').textContent.startsWith('From the book')");
        assert_eq!(explorer(&browser), json!(expected), "{position}");
        // A click plays the best move.
        let best = recalled.best().next().unwrap();
        let shown = browser.run(
            "return [...document.querySelectorAll('#explorer-rows .best')].map((cell) => \
            cell.parentElement.querySelector('button').textContent)",
        );
        assert_eq!(shown, json!(recalled.best().map(|pit| pit.to_string()).collect::<Vec<String>>()));
        // Screen readers read the side, too.
        let side = browser.run("return document.querySelector('#board.south-moves') ? 'South' : 'North'");
        let label = format!("{} pit {best}", side.as_str().unwrap());
        browser.run(&format!("document.querySelector('#explorer-rows button[aria-label=\"{label}\"]').click()"));
        moves(&browser, moved + 1);
        let made = position.play(RULES, best).unwrap();
        (position, south) = (made.position, south == made.again);
    }
    // If values are hidden, the explorer hides them too.
    browser.click("#values");
    browser.wait("!document.querySelector('#explorer').checkVisibility()");
    assert!(browser.text("#explorer-none").starts_with("Turn the values on"));
}

#[test]
fn comments_are_kept_in_links_and_texts() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2&at=1"));
    settled(&browser, "north");
    browser.click(".comment summary");
    browser.run("document.querySelector('#comment').focus()");
    // Digits are part of the text here, and sow no pit.
    browser.keys("See 1 & 2");
    browser.run("document.querySelector('#comment').blur()");
    browser.wait("location.hash.includes('note=') && document.querySelector('#moves .commented')");
    moves(&browser, 2);
    browser.keys("r");
    browser.wait("document.querySelector('#comment').value === ''");
    browser.run("window.before = true; location.reload()");
    browser.wait("!window.before && document.querySelector('#moves .commented')");
    browser.keys("u");
    browser.wait(
        "document.querySelector('#comment').value === 'See 1 & 2' && \
        document.querySelector('#comment').checkVisibility()",
    );
    choose(&browser, "#text");
    browser.wait("document.querySelector('#text-text').value.includes('1. 1 {See 1 & 2} 1... 2')");
    // Comments also come from a text, and a header of the text is kept.
    let text = "[Event \"Club\"]\n[Start \"3x2\"]\n\n{Well begun} 1 21 ; a } is here\n3";
    browser.run(&format!("document.querySelector('#text-text').value = {}", json!(text)));
    browser.click("#text-dialog .main");
    moves(&browser, 4);
    browser.wait("document.querySelectorAll('#moves .commented').length === 1");
    choose(&browser, "#text");
    browser.wait("document.querySelector('#text-text').value.includes('{Well begun} 1. 1 21 ; a } is here')");
    assert_eq!(browser.run("return document.querySelector('#text-text').value.includes('[Event \"Club\"]')"), true);
}

#[test]
fn a_search_shows_how_far_it_is_and_goes_on_for_longer() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=6x6&north=human"));
    let searching = "document.querySelector('#machine-text').textContent.match(/^Searching .* positions, depth /)";
    browser.wait(searching);
    browser.wait(
        "document.querySelector('#longer').checkVisibility() && !document.querySelector('#machine-text').textContent",
    );
    // The result is announced.
    browser.wait("document.querySelector('#said').textContent.length > 0");
    // One search at a time, that deepens; the button is there again at its end.
    let depth = "return Number(document.querySelector('#status').textContent.match(/depth (\\d+)/)?.[1] ?? 0)";
    let before = browser.run(depth).as_u64().unwrap();
    browser.run("performance.clearResourceTimings()");
    browser.click("#longer");
    browser.wait(searching);
    assert_eq!(browser.run("return document.querySelector('#longer').checkVisibility()"), false);
    browser.run("document.querySelector('#longer').click()");
    browser
        .wait(&format!("Number(document.querySelector('#status').textContent.match(/depth (\\d+)/)?.[1]) > {before}"));
    assert_eq!(browser.errors(), json!([]));
}

#[test]
fn a_board_is_cleared_and_scattered() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    let sum = "return [...document.querySelectorAll('#edit-board .seeds')].reduce((sum, field) => \
        sum + Number(field.value), 0)";
    choose(&browser, "#edit");
    assert_eq!(browser.run(sum), 12);
    browser.click("#edit-random");
    assert_eq!(browser.run(sum), 12);
    browser.click("#edit-clear");
    assert_eq!(browser.run(sum), 0);
    // On an empty board, the button places one seed for each pit.
    browser.click("#edit-random");
    assert_eq!(browser.run(sum), 6);
    let text = browser.run("return document.querySelector('#edit-text').value");
    let position: Position = text.as_str().unwrap().parse().unwrap();
    assert_eq!((position.seeds(), position.mover_store()), (6, 0));
}
