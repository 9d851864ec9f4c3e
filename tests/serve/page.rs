//! The page in one browser, from the server to a finished game. `tests/browsers` has its other tests.

use kalah::game::Position;
use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, drawn, expected, holes, labels, server, settled, tables};
use serde_json::json;

#[test]
fn a_whole_game_against_the_perfect_player_is_played_with_the_mouse() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=perfect"));
    let tables = tables();
    let mut position: Position = "3x2".parse().unwrap();
    let over = "document.querySelector('#status').textContent.match(/over/)";
    let value = tables.probe(&position).unwrap().value;
    let end = loop {
        settled(&browser, "south");
        assert_eq!(drawn(&browser), holes(&position));
        assert_eq!(labels(&browser, "south"), expected(&position, "south"), "{position}");
        assert_eq!(labels(&browser, "north"), []);
        // The best move nearest the store, which the tables also choose, leads to the value of the start.
        let pit = tables.probe(&position).unwrap().best().last().unwrap();
        let best = browser.run("return [...document.querySelectorAll('.cell.south .label.best')].length");
        assert_eq!(best, tables.probe(&position).unwrap().best().count());
        browser.click(&format!(".cell.south .pit[data-pit='{pit}']"));
        let played = position.play(RULES, pit).unwrap();
        let (mut next, mut south) = (played.position, played.again);
        while !next.is_over() && !south {
            let pit = tables.probe(&next).unwrap().best().last().unwrap();
            let played = next.play(RULES, pit).unwrap();
            (next, south) = (played.position, !played.again);
        }
        if next.is_over() {
            break next.final_value().unwrap().abs();
        }
        let board = format!(
            "JSON.stringify([...document.querySelectorAll('.cell.south .count, .store.south .count')]\
                .map((count) => Number(count.textContent))) === '{}'",
            json!(holes(&next).as_array().unwrap()[..4])
        );
        browser.wait(&board);
        position = next;
    };
    browser.wait(over);
    assert_eq!(end, value.abs());
    let status = browser.text("#status");
    let seeds = [(12 + value) / 2, (12 - value) / 2];
    let most = format!("{} to {}", seeds[0].max(seeds[1]), seeds[0].min(seeds[1]));
    assert!(status.contains(&most) && status.contains(if value > 0 { "South wins" } else { "" }), "{status}");
    // No move lost seeds, and the graph is level.
    assert_eq!(browser.run("return document.querySelectorAll('.slip, .blunder').length"), 0);
    assert!(browser.run("return document.querySelectorAll('.dot.exact').length").as_u64() > Some(3));
}
