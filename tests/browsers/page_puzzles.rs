//! Puzzles of the page: solved to the end, counted, chosen from a calendar.

use kalah::game::Position;
use kalah::table::Tables;
use serde_json::{Value, json};

use kalah_tests::browser::board::{Page, RULES, STILL};
use kalah_tests::browser::keys::{ESCAPE, HOME};
use kalah_tests::serving::Server;
use kalah_tests::tables::built;

/// Opens the dialog of puzzles, with tables that the server has, since these puzzles have few seeds. The settings are
/// stored before.
fn puzzles(settings: &Value) -> Option<(Page, Tables)> {
    let tables = built(&[(RULES, 6, 12)]);
    let page = Page::of(STILL, || Server::start(tables, &["--no-book", "--time", "1"]), "")?;
    page.open_with(settings, "/#board=6x1&north=human");
    page.wait("$('.pit.legal')");
    page.click("#puzzle");
    Some((page, Tables::open(tables, RULES, 6, 12).unwrap()))
}

/// Waits until a text about the puzzle has this form.
#[track_caller]
fn told(page: &Page, form: &str) {
    page.wait(&format!("$('#task').textContent.match(/{form}/)"));
}

/// Waits until South is to move in a puzzle.
#[track_caller]
fn begun(page: &Page) {
    told(page, "^Puzzle \\(easy\\)");
    page.wait("$('.cell.south .pit.legal') && !$('#moves button')");
}

/// The shown position, with South to move.
fn position(page: &Page) -> Position {
    let holes = page.drawn();
    let (south, north) = holes.as_array().unwrap().split_at(7);
    let texts = [&[6.into(), south[6].clone(), north[6].clone()], &south[..6], &north[..6]].concat();
    format!("<{}>", texts.iter().map(Value::to_string).collect::<Vec<_>>().join(",")).parse().unwrap()
}

/// Plays best moves of South until the puzzle is solved.
fn solve(page: &Page, tables: &Tables) {
    let solved = "$('#task').textContent.startsWith('Right. Best play')";
    for moved in 1.. {
        page.wait(&format!("$('#board.south-moves .pit.legal') || {solved}"));
        if page.value(solved) == true {
            break;
        }
        let best = tables.probe(&position(page)).unwrap().best().next().unwrap();
        let count = page.value("$$('#moves button').length");
        page.keys_until(&best.to_string(), &format!("$$('#moves button').length > {count}"));
        told(page, "^Right");
        assert!(moved < 60, "the puzzle has no end");
    }
}

/// Fails if another result is stored.
#[track_caller]
fn stored(page: &Page, field: &str, expected: i32) {
    page.is(&format!("JSON.parse(localStorage.getItem('kalah')).puzzles?.{field}"), expected);
}

#[test]
fn puzzles_are_solved_to_the_end_and_counted() {
    let Some((page, tables)) = puzzles(&json!(null)) else { return };
    page.click("#puzzle-dialog .main");
    for solved in 1..3 {
        begun(&page);
        let first = position(&page);
        let [best] = tables.probe(&first).unwrap().best().collect::<Vec<_>>()[..] else {
            panic!("{first} has one best move")
        };
        // The puzzle is back after the page is loaded again, without values.
        page.reload();
        begun(&page);
        page.is("$('#values').checked", false);
        page.keys(&best.to_string());
        told(&page, "^Right");
        // Nor does a reload lose the moves so far.
        page.reload();
        solve(&page, &tables);
        let right = format!("Solved in a row: {solved}\\.$");
        told(&page, &right);
        page.reload();
        told(&page, &right);
        stored(&page, "row", solved);
        stored(&page, "days", 1);
        if solved == 1 {
            page.click("#another");
        } else {
            // Another first move is wrong, and nobody replies to it.
            page.keys_until(HOME, "$$('.cell.south .pit.legal').length > 1");
            page.click(&format!(".cell.south .pit.legal:not([data-pit='{best}'])"));
            told(&page, "^Wrong move");
            // The puzzle was solved before.
            stored(&page, "row", 2);
        }
    }
}

#[test]
fn a_wrong_move_or_a_hint_ends_the_row() {
    let Some((page, tables)) = puzzles(&json!({ "puzzles": { "row": 5 } })) else { return };
    page.click("#puzzle-dialog [value=other]");
    begun(&page);
    stored(&page, "row", 5);
    page.keys_until("h", "$('.pit.hint')");
    told(&page, "With help");
    stored(&page, "row", 0);
    solve(&page, &tables);
    stored(&page, "row", 0);
}

#[test]
fn the_calendar_has_puzzles_of_past_days() {
    let Some((page, tables)) = puzzles(&json!(null)) else { return };
    // The last four weeks.
    page.is("$$('[data-day]').length", 28);
    let day = page.value("$$('[data-day]')[9].dataset.day");
    let day = day.as_str().unwrap();
    page.click_until(&format!("[data-day='{day}']"), &format!("location.hash.includes('puzzle=easy:{day}')"));
    begun(&page);
    let best = tables.probe(&position(&page)).unwrap().best().next().unwrap();
    page.click(&format!(".cell.south .pit.legal:not([data-pit='{best}'])"));
    // In red and in words, with the reply that refutes it. Nobody plays on; a button leads back.
    page.wait("$('#task.wrong')?.textContent.match(/^Wrong move\\. (North pit \\d refutes it|$)/)");
    page.is("$$('.pit.legal').length", 0);
    page.click_until("#again", "$('#board.south-moves .pit.legal') && !$('#task.wrong')");
    page.keys_until("r", "$('#task.wrong')");
    page.click_until("#puzzle", &format!("$('[data-day=\"{day}\"].missed')"));
    page.keys(ESCAPE);
    page.keys_until("u", "$('#board.south-moves .pit.legal')");
    solve(&page, &tables);
    page.click_until("#puzzle", &format!("$('[data-day=\"{day}\"].later')"));
    // A past day does not count for the days in a row.
    stored(&page, "days", 0);
    // Each level has its own.
    page.fill("#puzzle-level", "hard");
    page.is("$('.days .later')", Value::Null);
}
