//! The page in a browser: its server, and the drawn board.

use std::path::Path;

use kalah_core::game::{Pit, Position, Row, Rules};
use kalah_core::table::Tables;
use serde_json::{Value, json};

use super::Browser;
use crate::serving::Server;
use crate::tables::built;

/// Rules of the tables.
pub const RULES: Rules = Rules::EmptyCapture;

/// Flags against the animation of seeds, for faster tests.
pub const STILL: &[&str] = &["--force-prefers-reduced-motion"];

/// All tables of Kalah(3,2), built once.
pub fn directory() -> &'static Path {
    built(&[(RULES, 3, 12)])
}

/// Starts a server with these tables.
pub fn server() -> Server {
    Server::start(directory(), &["--no-book", "--time", "1", "--searches", "2", "--transpositions", "16MiB"])
}

/// Returns the drawn board, South's row and store first: the printed counts and the drawn seeds.
#[track_caller]
pub fn drawn(browser: &Browser) -> Value {
    let script = "const side = (name) => [...document.querySelectorAll(`.cell.${name} .pit`)]
        .sort((a, b) => a.dataset.pit - b.dataset.pit).concat(document.querySelector(`.store.${name}`))
        .map((hole) => [Number(hole.querySelector('.count').textContent), hole.querySelectorAll('.seed').length]);
        return [...side('south'), ...side('north')]";
    let holes = browser.run(script);
    let holes = holes.as_array().unwrap();
    assert!(holes.iter().all(|hole| hole[0] == hole[1]), "the drawn seeds differ from the counts: {holes:?}");
    holes.iter().map(|hole| hole[0].clone()).collect()
}

/// Expected `drawn` of a position with South to move.
pub fn holes(position: &Position) -> Value {
    let row = |row: &Row, store: u32| row.seeds().iter().copied().chain([store]).collect::<Vec<u32>>();
    json!([row(position.mover(), position.mover_store()), row(position.other(), position.other_store())].concat())
}

/// Stores settings before the page is shown. `origin` is any address of the server.
pub fn remember(browser: &Browser, origin: &str, settings: &Value) {
    browser.go(origin);
    browser.run(&format!("localStorage.setItem('kalah', {})", json!(settings.to_string())));
    browser.go("about:blank");
}

/// Chooses an entry of the menu.
#[track_caller]
pub fn choose(browser: &Browser, selector: &str) {
    browser.click("#menu summary");
    browser.click(selector);
}

/// Waits until the page shows all results for a position with this side to move.
#[track_caller]
pub fn settled(browser: &Browser, side: &str) {
    let exact = "document.querySelector('#status').textContent.match(/exact/)";
    browser.wait(&format!("document.querySelector('#board.{side}-moves') && {exact}"));
}

/// Waits until the list has `count` moves.
#[track_caller]
pub fn moves(browser: &Browser, count: usize) {
    browser.wait(&format!("document.querySelectorAll('#moves button').length === {count}"));
}

/// The tables of [`directory`].
pub fn tables() -> Tables {
    Tables::open(directory(), RULES, 3, 12).unwrap()
}

/// Labels of a side by the numbers of its pits: value and outcome.
pub fn labels(browser: &Browser, side: &str) -> Vec<(usize, String)> {
    let script = format!(
        "return [...document.querySelectorAll('.cell.{side}')].map((cell) => \
            [Number(cell.querySelector('.pit').dataset.pit), \
         [...cell.querySelector('.label').children].map((part) => part.textContent).join(' ')])"
    );
    let found = browser.run(&script);
    let label = |label: &Value| (label[0].as_u64().unwrap() as usize, label[1].as_str().unwrap().to_owned());
    let mut labels: Vec<_> = found.as_array().unwrap().iter().map(label).collect();
    labels.retain(|(_, label)| !label.is_empty());
    labels.sort();
    labels
}

/// Right labels of a position whose mover is `side`, from the tables: values for South, who is at the bottom.
pub fn expected(position: &Position, side: &str) -> Vec<(usize, String)> {
    let moves = tables().move_scores(position).unwrap();
    let label = |(pit, score): (Pit, u32)| {
        let value = position.value(score) * if side == "north" { -1 } else { 1 };
        let (sign, outcome) = match value.signum() {
            1 => ("+", "win"),
            -1 => ("−", "loss"),
            _ => ("", "draw"),
        };
        (pit.number(), format!("{sign}{} {outcome}", value.abs()))
    };
    moves.into_iter().map(label).collect()
}
