//! The page for study: opening explorer, best play, reports, longer searches.

use kalah::book::Book;
use kalah::game::{Bounds, Pit, Position};
use serde_json::{Value, json};

use kalah_tests::browser::board::{Page, RULES, STILL, directory, shown, tables};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::Server;

#[test]
fn the_explorer_shows_what_the_book_has() {
    let server = || Server::start(directory(), &["--time", "0.2", "--transpositions", "16MiB"]);
    let Some(page) = Page::of(STILL, server, "/#board=6x4&north=human") else { return };
    let book = Book::shipped(RULES, 6).unwrap();
    let (mut position, mut south): (Position, bool) = ("6x4".parse().unwrap(), true);
    page.click("#tab-explorer");
    for moved in 0..2 {
        let recalled = book.recall(&position, None).unwrap();
        let row = |(pit, bounds): &(Pit, Bounds)| {
            assert_eq!(bounds.lower, bounds.upper, "the book has all moves of {position}");
            let value = position.value(bounds.lower) * if south { 1 } else { -1 };
            json!([pit.to_string(), shown(value)])
        };
        let expected: Vec<Value> = recalled.moves.iter().map(row).collect();
        page.moves(moved);
        page.wait(&format!("$$('#explorer-rows tr').length === {}", expected.len()));
        page.wait("$('#explorer-note').textContent.startsWith('From the book') && shown('#explorer')");
        let rows = "$$('#explorer-rows tr').map((row) => [...row.children].map((cell) => cell.textContent))";
        page.is(rows, json!(expected));
        let best: Vec<String> = recalled.best().map(|pit| pit.to_string()).collect();
        let marked = "$$('#explorer-rows .best').map((cell) => cell.parentElement.querySelector('button').textContent)";
        page.is(marked, json!(best));
        // A click plays the best move. Screen readers read the side, too.
        let side = if page.value("$('#board.south-moves') === null") == true { "North" } else { "South" };
        page.run(&format!("$('#explorer-rows button[aria-label=\"{side} pit {}\"]').click()", best[0]));
        page.moves(moved + 1);
        let made = position.play(RULES, recalled.best().next().unwrap()).unwrap();
        (position, south) = (made.position, south == made.again);
    }
    // If values are hidden, the explorer hides them too.
    page.click_until("#values", "!shown('#explorer')");
    assert!(page.text("#explorer-none").starts_with("Turn the values on"));
}

#[test]
fn a_click_plays_the_line_of_best_play_and_loses_no_move() {
    let Some(page) = Page::at("/#board=3x2&north=human&moves=1&at=0") else { return };
    page.settled("south");
    let line = tables().probe(&"3x2".parse().unwrap()).unwrap().line.to_string();
    let digits: Vec<String> = line.chars().filter(char::is_ascii_digit).map(String::from).collect();
    page.is("texts('#line button').join('')", digits.concat());
    page.run("$$('#line button')[2].click()");
    page.wait(&format!("location.hash.includes('moves={}')", digits[..3].join(",")));
    // The earlier move, and the three of the line.
    page.moves(4);
    // Best play keeps the value.
    page.wait("$$('.dot.exact').length === 4");
    page.is("$('#bar').getAttribute('aria-label').startsWith('Value: South wins by 4')", true);
}

#[test]
fn a_report_judges_turns_as_reviews_do() {
    let Some(page) = Page::at("") else { return };
    let (mut position, mut turns, mut again): (Position, Vec<Vec<String>>, _) = ("3x2".parse().unwrap(), vec![], false);
    while !position.is_over() && turns.iter().flatten().count() < 9 {
        let pit = position.moves().next().unwrap();
        match turns.last_mut().filter(|_| again) {
            Some(turn) => turn.push(pit.to_string()),
            None => turns.push(vec![pit.to_string()]),
        }
        let made = position.play(RULES, pit).unwrap();
        (position, again) = (made.position, made.again);
    }
    page.open(&format!("/#board=3x2&north=human&moves={}", turns.concat().join(",")));
    page.moves(turns.concat().len());
    page.click_until("#tab-report", "$('#report-progress').hidden");
    let line = turns.iter().map(|turn| turn.concat()).collect::<Vec<_>>().join(" ");
    let review = format!("review 3x2 {line} --rules {RULES} --json");
    let review = with_tables(directory(), &review).run().success().json();
    for (column, side) in ["south", "north"].iter().enumerate() {
        let is_own =
            |turn: &&Value| turn["player"].as_str().unwrap().eq_ignore_ascii_case(side) && turn["choice"] == true;
        let own: Vec<&Value> = review["turns"].as_array().unwrap().iter().filter(is_own).collect();
        let judged = |name: &str| own.iter().filter(|turn| turn["judgement"] == name).count();
        let [best, inaccuracies, mistakes, blunders] = ["best", "inaccuracy", "mistake", "blunder"].map(judged);
        let lost: i64 = own.iter().map(|turn| turn["seeds_lost"].as_i64().unwrap()).sum();
        let expected = [own.len(), best, inaccuracies, mistakes, blunders, 0, lost as usize].map(|one| one.to_string());
        let rows = "$$('#report-rows tr').slice(0, 7)";
        page.is(&format!("{rows}.map((row) => row.querySelectorAll('td')[{column}].textContent)"), json!(expected));
    }
    // A click on a mistake in the list goes to it.
    page.click_until("#report-list button", "location.hash.includes('at=')");
}

#[test]
fn a_report_leads_to_each_mistake_without_values_and_judges_better_moves() {
    let Some(page) = Page::at("") else { return };
    let (_, answer) = page.server.get("/api/position?board=3x2");
    let best = answer["best"].as_array().unwrap();
    let mut moves = answer["moves"].as_array().unwrap().iter().map(|one| &one["move"]);
    let worse = moves.find(|number| !best.contains(number)).unwrap();
    page.open(&format!("/#board=3x2&north=human&moves={worse}"));
    page.click_until("#tab-report", "shown('#mistakes')");
    page.click_until("#mistakes", "$('#task').textContent.endsWith('Find a better move.')");
    page.is("$$('.label:not(:empty)').length", 0);
    page.keys_until(&worse.to_string(), "$('#task.wrong')?.textContent.startsWith('Wrong: this lost ')");
    page.click_until("#again", "$('#task').textContent.endsWith('Find a better move.')");
    page.keys_until(&best[0].to_string(), "$('#task.right')");
    // The game keeps both moves.
    page.is("$$('#moves button').length", 2);
}

#[test]
fn a_search_shows_how_far_it_is_and_goes_on_for_longer() {
    let Some(page) = Page::at("/#board=6x6&north=human") else { return };
    let depth = |place: &str| format!("Number($('{place}').textContent.match(/depth (\\d+)/)?.[1] ?? 0)");
    page.wait("shown('#longer') && !$('#machine-text').textContent");
    // The result is announced.
    page.wait("$('#said').textContent.length > 0");
    // A busy machine may miss a text when it is shown, so each is kept.
    page.run(
        "window.texts = []; const keep = () => window.texts.push($('#machine-text').textContent);
         const changes = { childList: true, characterData: true, subtree: true };
         new MutationObserver(keep).observe($('#machine-text'), changes)",
    );
    // One search at a time, that deepens; the button is there again at its end. A result with proved bounds shows no
    // depth.
    let before = page.value(&depth("#status")).as_u64().unwrap();
    page.click_until("#longer", "window.texts.some((text) => /^Searching .* positions, depth /.test(text))");
    page.is("shown('#longer')", false);
    page.run("$('#longer').click()");
    page.wait(&format!("{} > {before}", depth("#machine-text")));
    assert_eq!(page.errors(), json!([]));
}

#[test]
fn the_loading_of_an_engine_is_shown() {
    let Some(page) = Page::of_two_people() else { return };
    for (detail, shown) in [
        ("{ done: 4e5, all: 8e5 }", "Loading the engine, 0.4 of 0.8 MB"),
        ("{ done: 4e5, all: 0 }", "Loading the engine, 0.4 MB"),
        ("undefined", ""),
    ] {
        page.run(&format!("dispatchEvent(new CustomEvent('engine', {{ detail: {detail} }}))"));
        assert_eq!(page.text("#machine-text"), shown);
    }
}
