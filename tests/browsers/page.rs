//! The page in a real browser: games, positions and links, used as people use them.

use kalah::game::{Pit, Position, Rules};
use serde_json::json;

use kalah_tests::browser::board::{Page, RULES, expected, holes, tables};
use kalah_tests::browser::keys::{ENTER, ESCAPE, LEFT, TAB};

#[test]
fn moves_are_taken_back_and_played_again_with_the_keyboard() {
    let Some(page) = Page::of_two_people() else { return };
    let start: Position = "3x2".parse().unwrap();
    let moves = tables().move_scores(&start).unwrap();
    let best = moves.iter().map(|&(_, score)| score).max().unwrap();
    let &(bad, score) = moves.iter().find(|&&(_, score)| score < best).expect("some move loses something");
    page.keys_until(&bad.to_string(), "$$('#moves li').length === 1");
    // The mistake is marked with its cost.
    page.wait(&format!("$('#moves button').title.startsWith('lost {} seed')", best - score));
    page.wait("$('#moves button').textContent.match(/[?]/) && $('.dot.slip, .dot.blunder')");
    let after = page.drawn();
    assert_ne!(after, holes(&start));
    page.keys_until("u", "$('#undo').disabled");
    assert_eq!(page.drawn(), holes(&start));
    page.keys_until("r", "$('#redo').disabled");
    assert_eq!(page.drawn(), after);
    page.click("#undo");
    // From a pit that the Tab key reached, arrows go along the row: to the first pit, which is then sown.
    page.run("$('.cell.south .pit').focus()");
    page.keys(&[TAB, LEFT].concat());
    page.is("document.activeElement.dataset.pit", "1");
    page.is("document.activeElement.getAttribute('aria-label').startsWith('South pit 1, 2 seeds: ')", true);
    page.keys_until(ENTER, "location.hash.includes('moves=1')");
    assert_eq!(page.errors(), json!([]));
}

#[test]
fn seeds_are_seen_to_move() {
    let Some(page) = Page::with(&[], "/#board=3x2&north=human") else { return };
    page.settled("south");
    page.run(
        "window.flown = 0;
         new MutationObserver((all) => all.forEach((one) => one.addedNodes.forEach((node) => {
           if (node.className === 'flying') window.flown += 1;
         }))).observe($('#board'), { childList: true })",
    );
    page.click_until(".cell.south .pit[data-pit='1']", "$('#board.north-moves')");
    page.is("window.flown", 2);
    let position: Position = "3x2".parse().unwrap();
    let next = position.play(RULES, Pit::from_number(1).unwrap()).unwrap().position;
    assert_eq!(page.drawn(), holes(&next.turned()));
}

#[test]
fn each_rule_set_is_explained_when_it_is_chosen_and_when_it_is_asked_for() {
    let Some(page) = Page::of_two_people() else { return };
    let explanation = |rules: Rules| {
        let again = "If the last seed falls into your store, you move again. ";
        let text = format!("{}{}", if rules.moves_again() { again } else { "" }, rules.summary());
        text[..1].to_uppercase() + &text[1..]
    };
    page.click("#new");
    assert_eq!(page.text("#new-rules-text"), explanation(Rules::default()));
    for rules in Rules::ALL {
        page.fill("#new-rules", rules.name());
        assert_eq!(page.text("#new-rules-text"), explanation(rules));
    }
    for rules in Rules::ALL {
        page.open(&format!("/#board=3x2&north=human&rules={rules}"));
        page.playable(3);
        page.click("#rules");
        let text = page.text("#rules-text");
        assert!(text.contains(rules.summary()) && text.starts_with(char::is_uppercase), "{text}");
    }
}

#[test]
fn a_position_is_set_up_and_its_link_shows_it_to_others() {
    let Some(page) = Page::of_two_people() else { return };
    page.choose("#edit");
    let fields =
        [("South pit 1", 0), ("South pit 2", 0), ("South pit 3", 1), ("North pit 2", 3), ("North\\'s store", 4)];
    for (label, seeds) in fields {
        page.fill(&format!("input[aria-label='{label}']"), seeds);
    }
    page.fill("#edit-first", "north");
    page.click("#edit-dialog .main");
    page.settled("north");
    // North is to move, so the literal has North first.
    let position: Position = "<3,4,0,2,3,2,0,0,1>".parse().unwrap();
    assert_eq!(page.drawn(), holes(&position.turned()));
    assert_eq!(page.labels("north"), expected(&position, "north"));
    let pit = tables().probe(&position).unwrap().best().next().unwrap();
    page.keys_until(&pit.to_string(), "$$('#moves li').length === 1 && $('#undo:not(:disabled)')");
    let (shown, link) = (page.drawn(), page.value("location.href"));
    page.leave();
    page.go(link.as_str().unwrap());
    page.wait("$$('#moves li').length === 1");
    assert_eq!(page.drawn(), shown);
    // For the graph, the position before it was evaluated too.
    page.wait("$$('.dot.exact').length === 2");
    page.keys("u");
    page.settled("north");
    assert_eq!(page.labels("north"), expected(&position, "north"));
}

#[test]
fn a_position_is_set_up_from_any_form_of_text_or_from_an_empty_board() {
    let Some(page) = Page::of_two_people() else { return };
    for (text, seeds) in [
        ("4x3", json!([3, 3, 3, 3, 0, 3, 3, 3, 3, 0])),
        ("0,1,2/2,1,0", json!([0, 1, 2, 0, 2, 1, 0, 0])),
        ("<2,5,3,1,0,0,2>", json!([1, 0, 5, 0, 2, 3])),
    ] {
        page.choose("#edit");
        page.fill("#edit-text", text);
        page.click_until("#edit-dialog .main", "!$('dialog[open]')");
        page.wait(&format!("$$('#board .count').length === {}", seeds.as_array().unwrap().len()));
        assert_eq!(page.drawn(), seeds, "{text}");
    }
    let sum = "$$('#edit-board .seeds').reduce((sum, field) => sum + Number(field.value), 0)";
    page.choose("#edit");
    page.is(sum, 11);
    page.click("#edit-clear");
    page.is(sum, 0);
    page.is("$('#edit-text').value", "<2,0,0,0,0,0,0>");
}

#[test]
fn values_are_marked_as_long_as_they_are_not_proved() {
    let Some(page) = Page::at("/#board=6x6&north=human") else { return };
    page.wait("$$('.cell.south .label b').length === 6");
    let marked = page.value("texts('.cell.south .label b').filter((text) => !/^[≈≥≤]/.test(text))");
    assert_eq!(marked, json!([]));
    assert!(!page.text("#status").contains("exact"));
}

#[test]
fn an_empty_pit_says_so_and_asks_the_server_nothing() {
    let Some(page) = Page::at("/#0,2,2/2,2,2&north=human") else { return };
    page.settled("south");
    page.run("performance.clearResourceTimings()");
    for clicks in [true, false] {
        if clicks {
            page.click(".cell.south .pit[data-pit='1']");
        } else {
            page.keys("1");
        }
        page.wait("$('.shout')?.textContent === 'Empty'");
        page.wait("!$('.shout')");
    }
    assert_eq!([page.text("#said"), page.text("#error")], ["Empty", ""]);
    page.is("performance.getEntriesByType('resource').length", 0);
}

#[test]
fn enter_in_a_dialog_means_its_main_button() {
    let Some(page) = Page::of_two_people() else { return };
    page.click("#new");
    page.click("#new-more summary");
    page.fill("#new-seeds", 1);
    page.fill("#new-pits", 3);
    page.run("$('#new-seeds').focus()");
    page.keys_until(ENTER, "location.hash === '#3x1&north=human'");
    page.settled("south");
    page.choose("#edit");
    page.fill("#edit-board input", 5);
    page.run("$('#edit-board input').focus()");
    page.keys_until(ENTER, "Number($('.store.north .count').textContent) === 5");
}

#[test]
fn boards_that_would_be_refused_are_not_offered() {
    let Some(page) = Page::of_two_people() else { return };
    page.click("#new");
    page.fill("#new-pits", 16);
    page.fill("#new-seeds", 24);
    page.click("#new-dialog .main");
    page.is("$('#new-dialog').open", true);
    page.is("$('#new-seeds').validationMessage.includes('400')", true);
    page.keys(ESCAPE);
}

#[test]
fn a_bad_link_shows_what_is_wrong_and_a_game_begins() {
    let Some(page) = Page::at("") else { return };
    for (link, expected) in [
        ("board=nonsense", "'nonsense' is not a position"),
        ("board=3x2&rules=chess&north=human", "chess"),
        ("board=3x2&moves=1,1,1&north=human", "1"),
        ("board=3x2&south=wizard&north=human", "wizard"),
        ("board=3x2&south=alphabeta:none&north=human", "alphabeta:none"),
    ] {
        page.open(&format!("/#{link}"));
        page.wait(&format!("shown('#error') && $('#error').textContent.includes({})", json!(expected)));
        // A game that can be played.
        page.wait("$('.cell.south .pit.legal')");
        page.click_until(".cell.south .pit.legal", "$('#moves button')");
        page.is("$('#south').value", "human");
    }
    // A bad variation does not lose the game.
    page.open("/#board=3x2&north=human&moves=1,2&also=3;1,1,1;2");
    page.wait("$('#error').textContent.match(/1,1,1|not legal/)");
    page.moves(4);
    page.is("$('#moves [aria-current]').textContent.slice(0, 3)", "N 2");
}
