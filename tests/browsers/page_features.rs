//! The page beyond playing: the last move, variations, hints, reports, levels, languages.

use kalah::game::{Pit, Position, Rules};
use kalah::table::Tables;
use serde_json::{Value, json};

use kalah_tests::browser::Browser;
use kalah_tests::browser::board::{RULES, STILL, choose, directory, drawn, moves, remember, server, settled};
use kalah_tests::program::{self, Ran, Run};

/// Records in `playable` when South's pits can first be clicked, and in `requests` the requests to the server until
/// then.
const PLAYABLE: &str = "new MutationObserver(() => {
      if (window.playable || !document.querySelector('.cell.south .pit.legal')) return;
      window.playable = performance.now();
      window.requests = performance.getEntriesByType('resource').filter((entry) => entry.responseEnd > 0)\
          .map((entry) => new URL(entry.name).pathname).sort();
    }).observe(document, { subtree: true, childList: true, attributes: true })";

/// Pits of a side with a mark of the last move.
fn marked(browser: &Browser, mark: &str) -> Value {
    browser.run(&format!(
        "return [...document.querySelectorAll('.mark-{mark}')].map((hole) =>
           hole.dataset.pit ? `${{hole.dataset.side}} ${{hole.dataset.pit}}` \
               : hole.className.match(/store \\w+/)[0]).sort()"
    ))
}

#[test]
fn the_last_move_its_captures_and_an_extra_turn_are_marked() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    // Pit 1 has one seed, whose capture takes the 3 opposite.
    browser.go(&server.url("/#board=1,0,2/1,3,1&north=human"));
    settled(&browser, "south");
    assert_eq!(marked(&browser, "from"), json!([]));
    browser.keys("1");
    settled(&browser, "north");
    assert_eq!(marked(&browser, "from"), json!(["south 1"]));
    assert_eq!(marked(&browser, "captured"), json!(["north 2", "south 2"]));
    assert!(browser.text("#last").contains("South captures 4 seeds."), "{}", browser.text("#last"));
    // At each place of the game, the marks are those of the move that led there.
    browser.keys("u");
    settled(&browser, "south");
    assert_eq!(marked(&browser, "from"), json!([]));
    browser.go(&server.url("/#board=1,0,1/1,3,1&north=human&moves=3"));
    browser.wait("document.querySelector('.mark-last')");
    settled(&browser, "south");
    assert_eq!(marked(&browser, "last"), json!(["store south"]));
    assert!(browser.text("#last").contains("South moves again"));
    // The label of a pit has the same in words.
    assert!(
        browser
            .run("return document.querySelector('.cell.south [data-pit=\"3\"]').getAttribute('aria-label')")
            .as_str()
            .unwrap()
            .ends_with("sown last")
    );
}

#[test]
fn at_the_end_all_seeds_lie_in_the_stores() {
    for flags in [STILL, &[]] {
        let (Some(browser), server) = (Browser::open(1280, 800, flags), server()) else { return };
        browser.go(&server.url("/#board=<3,5,2,0,0,1,2,0,2>&north=human"));
        settled(&browser, "south");
        browser.keys("3");
        browser.wait("document.querySelector('#status').textContent.match(/over/)");
        browser.wait("!document.querySelector('.flying')");
        assert_eq!(drawn(&browser), json!([0, 0, 0, 6, 0, 0, 0, 6]));
        assert!(browser.text("#status").contains("a draw, 6 to 6"), "{}", browser.text("#status"));
    }
}

#[test]
fn another_move_is_a_variation_and_back_and_forward_go_through_them() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1,2"));
    moves(&browser, 2);
    browser.click("#moves button");
    settled(&browser, "north");
    browser.keys("3");
    moves(&browser, 3);
    browser.wait("document.querySelectorAll('#moves .variation button').length === 1");
    let here = "document.querySelector('#moves [aria-current]').textContent.slice(0, 3)";
    browser.wait(&format!("{here} === 'N 3'"));
    browser.run("history.back()");
    browser.wait(&format!("{here} === 'S 1'"));
    browser.run("history.forward()");
    browser.wait(&format!("{here} === 'N 3'"));
    moves(&browser, 3);
    // The link contains all variations.
    browser.run("window.before = true; location.reload()");
    browser.wait("!window.before && document.querySelector('.pit.legal')");
    // The address has all of them again after the reload.
    assert!(browser.run("return location.hash").as_str().unwrap().contains("also="));
    moves(&browser, 3);
    // Back leaves a new game.
    browser.click("#new");
    browser.click("#new-dialog .main");
    moves(&browser, 0);
    browser.run("history.back()");
    moves(&browser, 3);
}

#[test]
fn a_click_plays_the_line_of_best_play_and_loses_no_move() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=1&at=0"));
    settled(&browser, "south");
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let line = tables.probe(&"3x2".parse::<Position>().unwrap()).unwrap().line.to_string();
    let digits: Vec<char> = line.chars().filter(char::is_ascii_digit).collect();
    let shown = browser
        .run("return [...document.querySelectorAll('#line button')].map((button) => button.textContent).join('')");
    assert_eq!(shown, digits.iter().collect::<String>());
    browser.run("document.querySelectorAll('#line button')[2].click()");
    let played = digits[..3].iter().map(char::to_string).collect::<Vec<_>>().join(",");
    browser.wait(&format!("location.hash.includes('moves={played}')"));
    // The earlier move, and the three of the line.
    moves(&browser, 4);
    // Best play keeps the value.
    browser.wait("document.querySelectorAll('.dot.exact').length === 4");
    let bar = browser.run("return document.querySelector('#bar').getAttribute('aria-label')");
    assert!(bar.as_str().unwrap().starts_with("Value: South wins by 4"), "{bar}");
}

#[test]
fn a_report_judges_turns_as_reviews_do() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    let start: Position = "3x2".parse().unwrap();
    let (mut position, mut turns, mut again): (_, Vec<Vec<Pit>>, _) = (start, Vec::new(), false);
    while !position.is_over() && turns.iter().flatten().count() < 9 {
        let pit = position.moves().next().unwrap();
        match turns.last_mut().filter(|_| again) {
            Some(turn) => turn.push(pit),
            None => turns.push(vec![pit]),
        }
        let made = position.play(RULES, pit).unwrap();
        (position, again) = (made.position, made.again);
    }
    let played: Vec<String> = turns.iter().flatten().map(Pit::to_string).collect();
    browser.go(&server.url(&format!("/#board=3x2&north=human&moves={}", played.join(","))));
    moves(&browser, played.len());
    browser.click("#tab-report");
    browser.wait("document.querySelector('#report-progress').hidden");
    let rows = browser.run(
        "return [...document.querySelectorAll('#report-rows tr')].map((row) => \
            [...row.querySelectorAll('td')].map((cell) => cell.textContent))",
    );
    let line: Vec<String> = turns.iter().map(|turn| turn.iter().map(Pit::to_string).collect()).collect();
    let mut review = program::command();
    review.args(["review", "3x2"]).args(&line).args(["--rules", RULES.name(), "--json"]);
    let review = review.env("KALAH_TABLES", directory()).run().success().json();
    for (column, side) in ["south", "north"].iter().enumerate() {
        let turns = review["turns"].as_array().unwrap().iter();
        let own: Vec<&Value> = turns
            .filter(|turn| turn["player"].as_str().unwrap().eq_ignore_ascii_case(side) && turn["choice"] == true)
            .collect();
        let judged = |name: &str| own.iter().filter(|turn| turn["judgement"] == name).count().to_string();
        let lost: i64 = own.iter().map(|turn| turn["seeds_lost"].as_i64().unwrap()).sum();
        let found: Vec<&str> = (0..7).map(|row| rows[row][column].as_str().unwrap()).collect();
        let expected = ["best", "inaccuracy", "mistake", "blunder"].map(judged);
        assert_eq!(found[0], own.len().to_string(), "{review}");
        assert_eq!(found[1..5], expected, "{review}");
        assert_eq!((found[5], found[6]), ("0", &*lost.to_string()), "{review}");
    }
    // A click on a mistake in the list goes to it.
    browser.click("#report-list button");
    browser.wait("location.hash.includes('at=')");
}

#[test]
fn a_first_visit_is_a_game_for_beginners_and_choices_are_remembered() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 6");
    assert_eq!(browser.run("return document.querySelector('#values').checked"), false);
    assert!(browser.text("#about").contains("Standard"));
    assert!(browser.text("#north option:checked").starts_with("Very easy"));
    assert_eq!(browser.run("return document.querySelectorAll('.label:not(:empty)').length"), 0);
    // The side to move, and the next action.
    assert_eq!(browser.text("#status"), "Your turn (South).");
    assert!(browser.text("#last").starts_with("Choose one of your pits"), "{}", browser.text("#last"));
    assert_eq!(browser.run("return document.querySelector('#pause').checkVisibility()"), false);
    // The cards are closed; a hint marks the best moves without showing values.
    browser.keys("\u{e00c}");
    browser.wait("!document.querySelector('#welcome').open");
    browser.keys("h");
    browser.wait("document.querySelectorAll('.pit.hint').length > 0");
    assert_eq!(browser.run("return document.querySelectorAll('.label:not(:empty)').length"), 0);
    browser.click("#new");
    browser.run(
        "for (const [id, value] of [['new-rules', 'empty-capture'], ['new-pits', 3], ['new-seeds', 2], \
            ['new-opponent', 'greedy'], ['new-you', 'north']]) {
           const field = document.getElementById(id);
           field.value = value;
           field.dispatchEvent(new Event('change', { bubbles: true }));
         }",
    );
    browser.click("#new-dialog .main");
    browser.wait("document.querySelectorAll('#moves button').length >= 1 && location.hash.includes('south=greedy')");
    browser.go("about:blank");
    browser.go(&server.url("/"));
    browser.wait(
        "location.hash.includes('south=greedy') && \
        document.querySelector('#about').textContent.includes('Empty capture')",
    );
}

#[test]
fn the_rules_are_explained() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    for rules in Rules::ALL {
        browser.go("about:blank");
        browser.go(&server.url(&format!("/#board=3x2&north=human&rules={rules}")));
        browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 3");
        browser.click("#rules");
        assert!(browser.text("#rules-text").contains(rules.summary()));
        assert!(browser.text("#rules-text").starts_with(char::is_uppercase));
    }
}

#[test]
fn the_sides_are_exchanged_by_the_pie_rule_after_the_first_turn() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    // South's first move loses. A perfect North would keep its side; a person may choose.
    browser.go(&server.url("/#board=3x2&north=human&south=greedy&moves=1&pie=open"));
    browser.wait("document.querySelector('#swap').checkVisibility()");
    assert!(browser.text("#pie").contains("North may now swap sides"));
    browser.click("#swap");
    // After the swap the program has North, and moves.
    browser.wait("document.querySelectorAll('#moves button').length >= 2 && location.hash.includes('north=greedy')");
    assert_eq!(browser.run("return document.querySelector('#swap').checkVisibility()"), false);
}

#[test]
fn a_finished_game_offers_the_next_one() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=<3,5,2,0,0,1,2,0,2>&north=human"));
    settled(&browser, "south");
    assert_eq!(browser.run("return document.querySelector('#new').classList.contains('main')"), false);
    browser.keys("3");
    browser.wait("document.querySelector('#new').classList.contains('main')");
}

#[test]
fn seeds_are_heard_where_that_is_chosen() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.before(
        "window.knocks = 0; const make = AudioContext.prototype.createOscillator;
         AudioContext.prototype.createOscillator = function () { window.knocks += 1; return make.call(this) }",
    );
    for sounds in [false, true] {
        remember(&browser, &server.url("/style.css"), &json!({ "values": true, "sounds": sounds }));
        browser.go(&server.url("/#board=3x2&north=human"));
        settled(&browser, "south");
        browser.keys("1");
        settled(&browser, "north");
        assert_eq!(browser.run("return window.knocks > 0"), sounds);
    }
}

#[test]
fn the_page_speaks_german_where_that_is_chosen() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    remember(&browser, &server.url("/style.css"), &json!({ "values": true, "language": "de" }));
    browser.go(&server.url("/#board=3x2&north=human"));
    browser.wait("document.querySelector('#status').textContent.includes('Süd ist am Zug: Süd gewinnt mit 4, exakt')");
    assert_eq!(browser.run("return document.documentElement.lang"), "de");
}

#[test]
fn a_link_can_hide_the_values() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    remember(&browser, &server.url("/style.css"), &json!({ "values": true }));
    browser.go(&server.url("/#board=3x2&north=human&values=off"));
    browser.wait("document.querySelectorAll('.cell.south .pit.legal').length === 3");
    assert_eq!(browser.run("return document.querySelector('#values').checked"), false);
    // Nor does a reload show them, until somebody asks for them.
    for _ in 0..2 {
        assert!(browser.run("return location.hash").as_str().unwrap().contains("values=off"));
        browser.run("window.before = true; location.reload()");
        browser.wait("!window.before && document.querySelectorAll('.cell.south .pit.legal').length === 3");
        assert_eq!(browser.run("return document.querySelectorAll('.label:not(:empty)').length"), 0);
    }
    browser.click("#values");
    browser.wait("!location.hash.includes('values=off')");
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x2&north=human"));
    settled(&browser, "south");
}

#[test]
fn a_game_is_taken_out_as_text_and_put_in_again() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.go(&server.url("/#board=3x2&north=human&moves=2,3,1"));
    moves(&browser, 3);
    choose(&browser, "#text");
    browser.wait("document.querySelector('#text-text').value.includes('[Start \"3x2\"]')");
    let text = browser.run("return document.querySelector('#text-text').value");
    // The dialog shows the fault with its line, and stays open.
    browser.run("document.querySelector('#text-text').value = '[Start \"3x2\"]\\n\\n1. 9'");
    browser.click("#text-dialog .main");
    browser.wait("document.querySelector('#text-error').textContent.includes('line 3')");
    browser.keys("\u{e00c}");
    browser.go("about:blank");
    browser.go(&server.url("/#board=3x1&north=human"));
    settled(&browser, "south");
    choose(&browser, "#text");
    browser.wait("document.querySelector('#text-text').value.includes('3x1')");
    browser.run(&format!("document.querySelector('#text-text').value = {text}"));
    browser.click("#text-dialog .main");
    moves(&browser, 3);
    browser.wait("location.hash.includes('moves=2,3,1')");
}

#[test]
fn the_page_is_playable_after_what_its_html_names() {
    let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
    browser.before(PLAYABLE);
    browser.go(&server.url("/"));
    browser.wait("window.playable");
    let css = ["board", "moves", "panel", "shell", "style"].map(|name| format!("/{name}.css"));
    let mut expected = vec!["/api".to_owned(), "/page.js".to_owned()];
    expected.extend(css);
    expected.sort();
    let expected = json!(expected);
    assert_eq!(browser.run("return window.requests"), expected);
    let html = std::fs::read_to_string("web/page/index.html").unwrap();
    for path in expected.as_array().unwrap() {
        let path = path.as_str().unwrap().trim_start_matches('/');
        assert!(html.contains(&format!("\"{path}\"")), "{path}");
    }
}

#[test]
#[ignore = "prints figures for docs/measurements.md"]
fn figures_of_loading() {
    for milliseconds in [0, 300] {
        for _ in 0..3 {
            let (Some(browser), server) = (Browser::open(1280, 800, STILL), server()) else { return };
            browser.before(PLAYABLE);
            browser.latency(milliseconds);
            browser.go(&server.url("/"));
            browser.wait("window.playable");
            println!(
                "latency {milliseconds} ms: playable after {} ms",
                browser.run("return Math.round(window.playable)")
            );
        }
    }
}
