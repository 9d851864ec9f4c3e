//! Puzzles of the page: solved to the end, counted, chosen from a calendar.

use kalah::build::build;
use kalah::game::Position;
use kalah::table::Tables;
use serde_json::json;

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL};
use kalah_tests::serving::Server;

/// A server with tables of the puzzles, which have few seeds.
fn server() -> (Server, tempfile::TempDir) {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), RULES, 6, 12).unwrap();
    (Server::start(tables.path(), &["--no-book", "--time", "1"]), tables)
}

/// Waits until South is to move in a puzzle.
fn begun(browser: &Browser) {
    browser.wait(
        "document.querySelector('#task').textContent.startsWith('Puzzle (easy)') && \
        document.querySelector('.cell.south .pit.legal') && !document.querySelector('#moves button')",
    );
}

/// The shown position, with South to move.
fn position(browser: &Browser) -> Position {
    let script = "const counts = (selector) => [...document.querySelectorAll(selector)].map((hole) =>
         Number(hole.querySelector('.count').textContent));
       const row = (side) => [1, 2, 3, 4, 5, 6].flatMap((pit) => counts(`.pit[data-side=${side}][data-pit='${pit}']`));
       return '<6,' + [...counts('.store.south'), ...counts('.store.north'), ...row('south'), ...row('north')] + '>'";
    browser.run(script).as_str().unwrap().parse().unwrap()
}

/// Plays best moves of South until the puzzle is solved.
fn solve(browser: &Browser, tables: &Tables) {
    let turn = "document.querySelector('#board.south-moves .pit.legal')";
    let solved = "document.querySelector('#task').textContent.startsWith('Right. Best play')";
    for moved in 1.. {
        browser.wait(&format!("{turn} || {solved}"));
        if browser.run(&format!("return {solved}")) == json!(true) {
            break;
        }
        let best = tables.probe(&position(browser)).unwrap().best().next().unwrap();
        let count = browser.run("return document.querySelectorAll('#moves button').length");
        browser.keys(&best.to_string());
        browser.wait(&format!("document.querySelectorAll('#moves button').length > {count}"));
        browser.wait("document.querySelector('#task').textContent.startsWith('Right')");
        assert!(moved < 60, "the puzzle has no end");
    }
}

/// Stored results.
fn stored(browser: &Browser, field: &str) -> serde_json::Value {
    browser.run(&format!("return JSON.parse(localStorage.getItem('kalah')).puzzles?.{field}"))
}

#[test]
fn puzzles_are_solved_to_the_end_and_counted() {
    let Some(browser) = Browser::open(1280, 800, STILL) else { return };
    let (server, directory) = server();
    let tables = Tables::open(directory.path(), RULES, 6, 12).unwrap();
    let reload = || {
        browser.run("window.before = true; location.reload()");
        browser.wait("!window.before && document.querySelector('.pit')");
    };
    browser.go(&server.url("/#board=6x1&north=human"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.click("#puzzle");
    browser.click("#puzzle-dialog .main");
    for solved in 1..3 {
        begun(&browser);
        let first = position(&browser);
        let [best] = tables.probe(&first).unwrap().best().collect::<Vec<_>>()[..] else {
            panic!("{first} has one best move")
        };
        // The puzzle is back after the page is loaded again, without values.
        reload();
        begun(&browser);
        assert_eq!(browser.run("return document.querySelector('#values').checked"), false);
        browser.keys(&best.to_string());
        browser.wait("document.querySelector('#task').textContent.startsWith('Right')");
        // Nor does a reload lose the moves so far.
        reload();
        solve(&browser, &tables);
        let right = format!("document.querySelector('#task').textContent.endsWith('Solved in a row: {solved}.')");
        browser.wait(&right);
        reload();
        browser.wait(&right);
        assert_eq!(stored(&browser, "row"), solved);
        assert_eq!(stored(&browser, "days"), 1);
        if solved == 1 {
            browser.click("#another");
        } else {
            // Another first move is wrong, and nobody replies to it.
            browser.keys("\u{e011}");
            browser.wait("document.querySelectorAll('.cell.south .pit.legal').length > 1");
            browser.click(&format!(".cell.south .pit.legal:not([data-pit='{best}'])"));
            browser.wait("document.querySelector('#task').textContent.startsWith('Wrong move')");
            // The puzzle was solved before.
            assert_eq!(stored(&browser, "row"), 2);
        }
    }
}

#[test]
fn a_wrong_move_or_a_hint_ends_the_row() {
    let Some(browser) = Browser::open(1280, 800, STILL) else { return };
    let (server, directory) = server();
    let tables = Tables::open(directory.path(), RULES, 6, 12).unwrap();
    browser.go(&server.url("/style.css"));
    browser.run("localStorage.setItem('kalah', JSON.stringify({ puzzles: { row: 5 } }))");
    browser.go(&server.url("/#board=6x1&north=human"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.click("#puzzle");
    browser.click("#puzzle-dialog [value=other]");
    begun(&browser);
    assert_eq!(stored(&browser, "row"), 5);
    browser.keys("h");
    browser.wait("document.querySelector('.pit.hint')");
    browser.wait("document.querySelector('#task').textContent.includes('With help')");
    assert_eq!(stored(&browser, "row"), 0);
    solve(&browser, &tables);
    assert_eq!(stored(&browser, "row"), 0);
}

#[test]
fn the_calendar_has_puzzles_of_past_days() {
    let Some(browser) = Browser::open(1280, 800, STILL) else { return };
    let (server, directory) = server();
    let tables = Tables::open(directory.path(), RULES, 6, 12).unwrap();
    browser.go(&server.url("/#board=6x1&north=human"));
    browser.wait("document.querySelector('.pit.legal')");
    browser.click("#puzzle");
    // The last four weeks.
    assert_eq!(browser.run("return document.querySelectorAll('[data-day]').length"), 28);
    let day = browser.run("return document.querySelectorAll('[data-day]')[9].dataset.day");
    let day = day.as_str().unwrap();
    browser.click(&format!("[data-day='{day}']"));
    browser.wait(&format!("location.hash.includes('puzzle=easy:{day}')"));
    begun(&browser);
    let first = position(&browser);
    let best = tables.probe(&first).unwrap().best().next().unwrap();
    browser.click(&format!(".cell.south .pit.legal:not([data-pit='{best}'])"));
    // In red and in words, with the reply that refutes it. Nobody plays on; a button leads back.
    browser.wait(
        "document.querySelector('#task.wrong')?.textContent.match(/^Wrong move\\. (North pit \\d refutes it|$)/)",
    );
    assert_eq!(browser.run("return document.querySelectorAll('.pit.legal').length"), 0);
    browser.click("#again");
    browser.wait("document.querySelector('#board.south-moves .pit.legal') && !document.querySelector('#task.wrong')");
    browser.keys("r");
    browser.wait("document.querySelector('#task.wrong')");
    browser.click("#puzzle");
    browser.wait(&format!("document.querySelector('[data-day=\"{day}\"].missed')"));
    browser.keys("\u{e00c}");
    browser.keys("u");
    browser.wait("document.querySelector('#board.south-moves .pit.legal')");
    solve(&browser, &tables);
    browser.click("#puzzle");
    browser.wait(&format!("document.querySelector('[data-day=\"{day}\"].later')"));
    // A past day does not count for the days in a row.
    assert_eq!(stored(&browser, "days"), 0);
    // Each level has its own.
    browser.run(
        "const level = document.querySelector('#puzzle-level'); level.value = 'hard'; \
         level.dispatchEvent(new Event('change'))",
    );
    assert_eq!(browser.run("return document.querySelector('.days .later')"), json!(null));
}
