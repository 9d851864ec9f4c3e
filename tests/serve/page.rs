//! The page in one browser, from the server to a finished game. `tests/browsers` has its other tests.

use kalah::game::Position;
use kalah_tests::browser::board::{Page, RULES, expected, holes, tables};

#[test]
fn a_whole_game_against_the_perfect_player_is_played_with_the_mouse() {
    let Some(page) = Page::at("/#board=3x2&north=perfect") else { return };
    let (tables, mut position): (_, Position) = (tables(), "3x2".parse().unwrap());
    let value = tables.probe(&position).unwrap().value;
    // The best move nearest the store, which the player also chooses, leads to the value of the start.
    let best = |position: &Position| tables.probe(position).unwrap().best().last().unwrap();
    let end = loop {
        page.settled("south");
        assert_eq!(page.drawn(), holes(&position));
        assert_eq!(page.labels("south"), expected(&position, "south"), "{position}");
        assert_eq!(page.labels("north"), []);
        page.is("$$('.cell.south .label.best').length", tables.probe(&position).unwrap().best().count());
        page.click(&format!(".cell.south .pit[data-pit='{}']", best(&position)));
        let played = position.play(RULES, best(&position)).unwrap();
        let (mut next, mut south) = (played.position, played.again);
        while !next.is_over() && !south {
            let played = next.play(RULES, best(&next)).unwrap();
            (next, south) = (played.position, !played.again);
        }
        if next.is_over() {
            break next.final_value().unwrap().abs();
        }
        let row = next.mover().seeds().iter().chain([&next.mover_store()]).map(u32::to_string).collect::<Vec<_>>();
        page.wait(&format!("texts('.cell.south .count, .store.south .count').join() === '{}'", row.join(",")));
        position = next;
    };
    page.wait("$('#status').textContent.match(/over/)");
    assert_eq!(end, value.abs());
    let status = page.text("#status");
    let most = format!("{} to {}", (12 + value.abs()) / 2, (12 - value.abs()) / 2);
    assert!(status.contains(&most) && (value <= 0 || status.contains("South wins")), "{status}");
    // No move lost seeds, and the graph is level.
    page.is("$$('.slip, .blunder').length", 0);
    assert!(page.value("$$('.dot.exact').length").as_u64() > Some(3));
}
