//! The page in a browser: its server, and the drawn board.

use std::ops::Deref;
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

/// The tables of [`directory`].
pub fn tables() -> Tables {
    Tables::open(directory(), RULES, 3, 12).unwrap()
}

/// The page of a server, in a browser.
pub struct Page {
    /// Its server.
    pub server: Server,
    browser: Browser,
}

impl Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Page {
    /// Opens the page at an address such as `/#board=3x2`, or an empty window. Its server has the tables of
    /// [`directory`]. Returns `None`, with a warning, if there is no browser.
    pub fn at(address: &str) -> Option<Page> {
        Page::with(STILL, address)
    }

    /// Opens Kalah(3,2) between two people, with all values.
    pub fn of_two_people() -> Option<Page> {
        Page::at("/#board=3x2&north=human").inspect(|page| page.settled("south"))
    }

    /// Opens the page in a browser with these flags.
    pub fn with(flags: &[&str], address: &str) -> Option<Page> {
        let settings = ["--no-book", "--time", "1", "--searches", "2", "--transpositions", "16MiB"];
        Page::of(flags, || Server::start(directory(), &settings), address)
    }

    /// Opens the page of a server in a browser with these flags.
    pub fn of(flags: &[&str], server: impl FnOnce() -> Server, address: &str) -> Option<Page> {
        let browser = Browser::open(flags)?;
        let page = Page { server: server(), browser };
        if !address.is_empty() {
            page.go(&page.server.url(address));
        }
        Some(page)
    }

    /// Opens another address of the page, which is loaded anew.
    #[track_caller]
    pub fn open(&self, address: &str) {
        self.leave();
        self.go(&self.server.url(address));
    }

    /// Opens another address of the page, and waits until an expression is true.
    #[track_caller]
    pub fn open_until(&self, address: &str, expression: &str) {
        self.open(address);
        self.wait(expression);
    }

    /// Opens an address of the page, where nothing is stored but these settings, if any.
    #[track_caller]
    pub fn open_with(&self, settings: &Value, address: &str) {
        // This file of the server stores nothing itself.
        self.open("/style.css");
        self.run("localStorage.clear()");
        if !settings.is_null() {
            self.run(&format!("localStorage.setItem('kalah', {})", json!(settings.to_string())));
        }
        self.open(address);
    }

    /// Returns the drawn board, South's row and store first: the printed counts, which are those of the drawn seeds.
    #[track_caller]
    pub fn drawn(&self) -> Value {
        let holes = self.run(
            "const side = (name) => $$(`.cell.${name} .pit`).sort((a, b) => a.dataset.pit - b.dataset.pit)
               .concat($(`.store.${name}`))
               .map((hole) => [hole.querySelector('.count').textContent, hole.querySelectorAll('.seed').length])
               .map(([count, seeds]) => [Number(count), seeds]);
             return [...side('south'), ...side('north')]",
        );
        let holes = holes.as_array().unwrap();
        assert!(holes.iter().all(|hole| hole[0] == hole[1]), "the drawn seeds differ from the counts: {holes:?}");
        holes.iter().map(|hole| hole[0].clone()).collect()
    }

    /// Chooses an entry of the menu.
    #[track_caller]
    pub fn choose(&self, selector: &str) {
        self.click("#menu summary");
        self.click(selector);
    }

    /// Waits until the page shows all results for a position with this side to move.
    #[track_caller]
    pub fn settled(&self, side: &str) {
        self.wait(&format!("$('#board.{side}-moves') && $('#status').textContent.match(/exact/)"));
    }

    /// Waits until South can move in this number of pits.
    #[track_caller]
    pub fn playable(&self, pits: usize) {
        self.wait(&format!("$$('.cell.south .pit.legal').length === {pits}"));
    }

    /// Waits until the list has `count` moves.
    #[track_caller]
    pub fn moves(&self, count: usize) {
        self.wait(&format!("$$('#moves button').length === {count}"));
    }

    /// Labels of a side by the numbers of its pits: value and outcome.
    #[track_caller]
    pub fn labels(&self, side: &str) -> Vec<(usize, String)> {
        let found = self.value(&format!(
            "$$('.cell.{side}').map((cell) => [Number(cell.querySelector('.pit').dataset.pit), \
               [...cell.querySelector('.label').children].map((part) => part.textContent).join(' ')])"
        ));
        let mut labels: Vec<(usize, String)> = serde_json::from_value(found).unwrap();
        labels.retain(|(_, label)| !label.is_empty());
        labels.sort();
        labels
    }
}

/// Expected board of a position with South to move.
pub fn holes(position: &Position) -> Value {
    let row = |row: &Row, store: u32| row.seeds().iter().copied().chain([store]).collect::<Vec<u32>>();
    json!([row(position.mover(), position.mover_store()), row(position.other(), position.other_store())].concat())
}

/// A value as the page shows it.
pub fn shown(value: i64) -> String {
    let (sign, outcome) = [("−", "loss"), ("", "draw"), ("+", "win")][(value.signum() + 1) as usize];
    format!("{sign}{} {outcome}", value.abs())
}

/// Right labels of a position whose mover is `side`, from the tables: values for South, who is at the bottom.
pub fn expected(position: &Position, side: &str) -> Vec<(usize, String)> {
    let moves = tables().move_scores(position).unwrap();
    let of_south = if side == "north" { -1 } else { 1 };
    let label = |(pit, score): (Pit, u32)| (pit.number(), shown(of_south * position.value(score)));
    moves.into_iter().map(label).collect()
}
