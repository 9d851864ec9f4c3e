//! Games on the page: moves and their marks, other players, first visits, settings, the end of a game.

use serde_json::{Value, json};

use kalah_tests::browser::board::{Page, STILL};
use kalah_tests::browser::keys::ESCAPE;

/// Answers to requests when the server is away, when a proxy finds it away, and when all searches are in use.
/// With them, the state that the page shows.
const FAULTS: [(&str, &str); 3] = [
    ("Promise.reject(new TypeError('Failed to fetch'))", "offline"),
    (
        "Promise.resolve(new Response('<html><h1>502 Bad Gateway</h1></html>',
           { status: 502, headers: { 'content-type': 'text/html' } }))",
        "offline",
    ),
    (
        "Promise.resolve(new Response('{\"error\":{\"code\":\"busy\",\"message\":\"all searches are taken\"}}',
           { status: 503, headers: { 'retry-after': '1' } }))",
        "busy",
    ),
];

#[test]
fn the_last_move_its_captures_and_an_extra_turn_are_marked() {
    // Pit 1 has one seed, whose capture takes the 3 opposite.
    let Some(page) = Page::at("/#board=1,0,2/1,3,1&north=human") else { return };
    let marked = |mark: &str, expected: Value| {
        let hole =
            "hole.dataset.pit ? `${hole.dataset.side} ${hole.dataset.pit}` : hole.className.match(/store \\w+/)[0]";
        page.is(&format!("$$('.mark-{mark}').map((hole) => {hole}).sort()"), expected);
    };
    page.settled("south");
    marked("from", json!([]));
    page.keys("1");
    page.settled("north");
    marked("from", json!(["south 1"]));
    marked("captured", json!(["north 2", "south 2"]));
    page.is("$('#last').textContent.includes('South captures 4 seeds.')", true);
    // At each place of the game, the marks are those of the move that led there.
    page.keys("u");
    page.settled("south");
    marked("from", json!([]));
    page.go(&page.server.url("/#board=1,0,1/1,3,1&north=human&moves=3"));
    page.wait("$('.mark-last')");
    page.settled("south");
    marked("last", json!(["store south"]));
    page.is("$('#last').textContent.includes('South moves again')", true);
    // The label of a pit has the same in words.
    page.is("$('.cell.south [data-pit=\"3\"]').getAttribute('aria-label').endsWith('sown last')", true);
}

#[test]
fn the_last_seed_of_a_move_is_shown_before_it_and_an_arc_after_it() {
    let Some(page) = Page::of_two_people() else { return };
    page.is("$('.arc, .aim')", Value::Null);
    // Pit 2 has two seeds, the last of which falls into the store.
    page.run("$('.cell.south [data-pit=\"2\"]').focus()");
    page.wait("$('.aim')");
    let inside = page.run(
        "const [mark, store] = [box('.aim'), box('.store.south')];
         const [x, y] = [(mark.left + mark.right) / 2, (mark.top + mark.bottom) / 2];
         return x > store.left && x < store.right && y > store.top && y < store.bottom",
    );
    assert_eq!(inside, true);
    assert_eq!(page.text(".aim"), "↻");
    page.run("document.activeElement.blur()");
    page.is("$('.aim')", Value::Null);
    page.keys("2");
    page.moves(1);
    page.wait("$('.arc path') && $('.shout')");
    assert_eq!(page.text(".shout"), "Move again!");
    page.keys_until("u", "!$('.arc')");
}

#[test]
fn at_the_end_all_seeds_lie_in_the_stores_and_the_next_game_is_offered() {
    for flags in [STILL, &[]] {
        let Some(page) = Page::with(flags, "/#board=<3,5,2,0,0,1,2,0,2>&north=human") else { return };
        page.settled("south");
        page.is("$('#new').classList.contains('main')", false);
        page.keys_until("3", "$('#status').textContent.match(/over/)");
        // The text comes before the last seeds move.
        page.wait("$('.store.south .count').textContent === '6' && !$('.flying')");
        assert_eq!(page.drawn(), json!([0, 0, 0, 6, 0, 0, 0, 6]));
        page.is("$('#status').textContent.includes('a draw, 6 to 6')", true);
        page.wait("$('#new').classList.contains('main')");
    }
}

#[test]
fn a_game_ends_with_a_card_for_a_review_or_a_rematch() {
    let Some(page) = Page::at("/#board=<3,5,2,0,0,1,2,0,2>&north=human&values=off") else { return };
    let end = || {
        page.wait("$('.pit.legal')");
        page.keys_until("3", "shown('#end')");
    };
    end();
    page.is("document.activeElement.id", "rematch");
    page.keys_until(ESCAPE, "!$('#end').open");
    page.keys("u");
    end();
    page.is("['#end-score', '#south-score', '#north-score'].flatMap(texts)", json!(["6 – 6", "6", "6"]));
    page.click_until("#review", "!$('#end').open && shown('#report-rows tr')");
    page.keys("u");
    end();
    page.click_until("#rematch", "$$('#moves button').length === 0 && !$('#end').open");
    assert_eq!(page.drawn(), json!([0, 0, 1, 5, 2, 0, 2, 2]));
}

#[test]
fn the_ladder_counts_games_and_offers_the_next_level() {
    let Some(page) = Page::at("/#board=<3,8,2,0,0,1,2,0,2>&north=alphabeta:1&values=off") else { return };
    page.wait("$('.pit.legal')");
    page.keys_until("3", "shown('#end')");
    assert_eq!(page.text("#end-record"), "Against Very easy: 1 won, 0 drawn, 0 lost.");
    assert_eq!(page.text("#next-level"), "Next: Easy");
    page.click_until("#next-level", "location.hash.includes('north=heuristic') && !$('#end').open");
    page.click("#new");
    page.is("$('#new-levels input[value=\"alphabeta:1\"]').parentElement.innerText.includes('1 – 0 – 0')", true);
}

#[test]
fn the_other_player_moves_when_the_server_is_back() {
    let Some(page) = Page::at("") else { return };
    for (answer, state) in FAULTS {
        page.open("/#board=3x2&north=perfect");
        page.settled("south");
        page.run(&format!("window.real ??= window.fetch; window.fetch = () => {answer}"));
        page.click(".cell.south .pit[data-pit='1']");
        page.moves(1);
        page.wait(&format!("shown('#machine.{state}')"));
        // The page shows no message of a parser.
        page.is("document.body.innerText.includes('Unexpected token')", false);
        page.run("window.fetch = window.real; dispatchEvent(new Event('online'))");
        page.wait("$$('#moves button').length >= 2 && !$('#machine.offline, #machine.busy')");
    }
}

#[test]
fn a_game_goes_on_from_the_turn_of_a_program() {
    let Some(page) = Page::at("/#board=3x2&first=north&north=perfect") else { return };
    page.settled("south");
    let played = page.value("$$('#moves button').length");
    while page.value("$('#undo').disabled") == false {
        page.keys("u");
    }
    // North does not move by itself, so that the user can look at the game. A button makes it move.
    page.wait("shown('#go')");
    page.click_until("#go", &format!("$$('#moves button').length >= {played}"));
    page.settled("south");
}

#[test]
fn a_move_is_kept_when_the_page_is_loaded_again_while_seeds_move() {
    let Some(page) = Page::with(&[], "/#board=3x2&north=human") else { return };
    page.settled("south");
    // In one script, so that the seeds cannot have arrived.
    page.run("$('.cell.south .pit[data-pit=\"1\"]').click(); location.reload()");
    page.moves(1);
    page.settled("north");
}

#[test]
fn programs_wait_behind_dialogs() {
    let Some(page) = Page::at("/#board=6x4&south=greedy&north=greedy") else { return };
    page.wait("$('#moves button')");
    page.click("#new");
    let count = || page.value("$$('#moves button').length").as_u64().unwrap();
    let before = count();
    page.run("return new Promise((done) => setTimeout(done, 1500))");
    let after = count();
    // One move may have been on its way.
    assert!(after <= before + 1, "{before} moves, then {after}");
    page.keys_until(ESCAPE, &format!("$$('#moves button').length > {}", before + 1));
}

#[test]
fn the_sides_are_exchanged_by_the_pie_rule_after_the_first_turn() {
    // South's first move loses. A perfect North would keep its side; a person may choose.
    let Some(page) = Page::at("/#board=3x2&north=human&south=greedy&moves=1&pie=open") else { return };
    page.wait("shown('#swap')");
    page.is("$('#pie').textContent.includes('North may now swap sides')", true);
    page.click("#swap");
    // After the swap the program has North, and moves.
    page.wait("$$('#moves button').length >= 2 && location.hash.includes('north=greedy')");
    page.is("shown('#swap')", false);
    let exchange = "$('#moves .exchange')?.previousElementSibling.textContent.includes('S 1')";
    page.wait(exchange);
    page.reload();
    page.wait(exchange);
}

#[test]
fn a_first_visit_is_a_game_for_beginners_and_choices_are_remembered() {
    let Some(page) = Page::at("/") else { return };
    page.playable(6);
    page.is("$('#values').checked", false);
    assert!(page.text("#about").contains("Standard"));
    assert!(page.text("#north option:checked").starts_with("Very easy"));
    page.is("$('.label:not(:empty)')", Value::Null);
    // The side to move, and the next action.
    assert_eq!(page.text("#status"), "Your turn (South).");
    assert!(page.text("#last").starts_with("Choose one of your pits"), "{}", page.text("#last"));
    page.is("shown('#pause')", false);
    // The cards are closed; a hint marks the best moves without showing values.
    page.keys_until(ESCAPE, "!$('#welcome').open");
    page.keys_until("h", "$('.pit.hint')");
    page.is("$('.label:not(:empty)')", Value::Null);
    page.click("#new");
    for (id, value) in
        [("rules", "empty-capture"), ("pits", "3"), ("seeds", "2"), ("opponent", "greedy"), ("you", "north")]
    {
        page.fill(&format!("#new-{id}"), value);
    }
    page.click_until("#new-dialog .main", "$('#moves button') && location.hash.includes('south=greedy')");
    page.open_until("/", "location.hash.includes('south=greedy') && $('#about').textContent.includes('Empty capture')");
}

#[test]
fn a_first_visit_offers_three_cards_and_the_next_one_none() {
    let Some(page) = Page::at("/") else { return };
    let begin = || page.wait("$('.pit.legal')");
    page.wait("shown('#welcome')");
    begin();
    page.click("#welcome-play");
    // Five levels, each with a face.
    page.is("$$('#new-levels .face svg').length", 5);
    page.click("#new-levels input[value='heuristic']");
    page.click("#new-dialog .main");
    page.wait("$('#north').value === 'heuristic' && location.hash.includes('north=heuristic')");
    page.open("/");
    begin();
    page.is("shown('#welcome')", false);
    page.open_with(&json!(null), "/");
    begin();
    page.click_until("#welcome-analyse", "$('#values').checked && $('.label b')");
    page.open_with(&json!(null), "/");
    begin();
    page.click("#welcome-learn");
    for pit in [2, 3, 2] {
        page.wait(&format!("$('.pit.hint')?.dataset.pit === '{pit}'"));
        page.click_until(".pit.hint", "$$('#moves button').length === 1 && !$('.pit.hint')");
        if page.value("shown('#coach-next')") == true {
            page.click("#coach-next");
        }
    }
    assert!(page.text("#coach-text").contains("more seeds at the end wins"));
    page.click_until("#coach-end", "$('#coach').hidden && $('#north').value !== 'human'");
}

#[test]
fn the_board_turns_to_the_person_who_plays_north_and_by_a_key() {
    let Some(page) = Page::at("/#board=3x2&south=greedy&north=human") else { return };
    // True where South's row and strip are below those of North.
    let lower = "['.cell.south', '#south-strip'].map((one) => box(one).top > box(one.replace('south', 'north')).top)";
    page.wait("$('#board.north-moves .pit.legal') && $('.cell.lower.north')");
    page.is(lower, json!([false, false]));
    page.open("/#board=3x2&north=human");
    page.settled("south");
    page.is(lower, json!([true, true]));
    let label = "$('.cell.south [data-pit=\"1\"]').parentElement.textContent";
    let before = page.value(label);
    page.keys_until("f", "$('.cell.lower.north')");
    page.is(lower, json!([false, false]));
    // Values are those of the player at the bottom.
    assert_ne!(page.value(label), before);
    assert_eq!(page.text("#values-for"), "Values for North");
    page.keys_until("?", "shown('#keys-dialog')");
}
