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
    let depth =
        |place: &str| format!("Number(document.querySelector('{place}').textContent.match(/depth (\\d+)/)?.[1] ?? 0)");
    let read = |place: &str| browser.run(&format!("return {}", depth(place))).as_u64().unwrap();
    let first = read("#machine-text");
    browser.wait(
        "document.querySelector('#longer').checkVisibility() && !document.querySelector('#machine-text').textContent",
    );
    // The result is announced.
    browser.wait("document.querySelector('#said').textContent.length > 0");
    // One search at a time, that deepens; the button is there again at its end.
    // A result with proved bounds shows no depth.
    let before = read("#status").max(first);
    browser.run("performance.clearResourceTimings()");
    browser.click("#longer");
    browser.wait(searching);
    assert_eq!(browser.run("return document.querySelector('#longer').checkVisibility()"), false);
    browser.run("document.querySelector('#longer').click()");
    browser.wait(&format!("{} > {before}", depth("#machine-text")));
    assert_eq!(browser.errors(), json!([]));
}

#[test]
fn a_board_is_cleared() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    let sum = "return [...document.querySelectorAll('#edit-board .seeds')].reduce((sum, field) => \
        sum + Number(field.value), 0)";
    choose(&browser, "#edit");
    assert_eq!(browser.run(sum), 12);
    browser.click("#edit-clear");
    assert_eq!(browser.run(sum), 0);
    assert_eq!(browser.run("return document.querySelector('#edit-text').value"), "<3,0,0,0,0,0,0,0,0>");
}

#[test]
fn a_report_leads_to_each_mistake_without_values_and_judges_better_moves() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    let (_, answer) = server.get("/api/position?board=3x2");
    let best = &answer["best"][0];
    let moves = answer["moves"].as_array().unwrap().iter();
    let worse =
        moves.map(|one| &one["move"]).find(|number| !answer["best"].as_array().unwrap().contains(number)).unwrap();
    browser.go(&server.url(&format!("/#board=3x2&north=human&moves={worse}")));
    browser.click("#tab-report");
    browser.wait("document.querySelector('#mistakes').checkVisibility()");
    browser.click("#mistakes");
    browser.wait("document.querySelector('#task').textContent.endsWith('Find a better move.')");
    assert_eq!(browser.run("return document.querySelectorAll('.label:not(:empty)').length"), 0);
    browser.keys(&worse.to_string());
    browser.wait("document.querySelector('#task.wrong')?.textContent.startsWith('Wrong: this lost ')");
    browser.click("#again");
    browser.wait("document.querySelector('#task').textContent.endsWith('Find a better move.')");
    browser.keys(&best.to_string());
    browser.wait("document.querySelector('#task.right')");
    // The game keeps both moves.
    assert_eq!(browser.run("return document.querySelectorAll('#moves button').length"), 2);
}

#[test]
fn the_loading_of_an_engine_is_shown() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
    for (detail, shown) in [
        ("{ done: 4e5, all: 8e5 }", "Loading the engine, 0.4 of 0.8 MB"),
        ("{ done: 4e5, all: 0 }", "Loading the engine, 0.4 MB"),
        ("undefined", ""),
    ] {
        browser.run(&format!("dispatchEvent(new CustomEvent('engine', {{ detail: {detail} }})); return 1"));
        assert_eq!(browser.text("#machine-text"), shown);
    }
}
