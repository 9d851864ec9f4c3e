use std::time::Duration;

use kalah_core::game::Rules;
use kalah_solve::book::Books;
use kalah_tables::table::Shelf;

use super::KgpError;
use super::event::{Event, Reports};
use super::requests::Requests;
use super::sender::Sender;
use crate::play::{Player, PlayerName, Setting};

/// The rules of the protocol's servers.
pub const RULES: Rules = Rules::Standard;

/// Positions after which a player is replaced by a new one, to bound its memory: it keeps what it proved of each.
const PLAYER_POSITIONS: usize = 1 << 12;

/// How to think.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Thinking<'b> {
    /// The time for a move where the server sends no clock; less than the server's own limit.
    pub time: Duration,
    /// What is left unused of the server's clock, if it sends one.
    pub margin: Duration,
    /// Positions that are thought about at once, at least 1; others wait with their first move sent.
    pub searches: usize,
    /// The most bytes of the transposition table of one search.
    pub memory: u64,
    /// The books to play from, if any.
    pub books: Option<&'b Books>,
}

impl Default for Thinking<'_> {
    /// 4 seconds for a move, half a second of the clock unused, one search at a time with 256 MiB, no books.
    fn default() -> Self {
        let (time, margin) = (Duration::from_secs(4), Duration::from_millis(500));
        Thinking { time, margin, searches: 1, memory: 256 << 20, books: None }
    }
}

/// One thread that thinks: it sends the best move known at once, and a better one when it is found.
pub(super) fn think(
    requests: &Requests,
    sender: &Sender<'_>,
    thinking: &Thinking<'_>,
    shelf: &Shelf,
    reports: &Reports,
) -> Result<(), KgpError> {
    // Kept between moves for what it has proved; of the last board.
    let mut last: Option<(usize, Box<dyn Player + '_>)> = None;
    let mut asked = 0;
    while let Some(request) = requests.take() {
        let pits = request.position.pits();
        asked += 1;
        if asked > PLAYER_POSITIONS || last.as_ref().is_none_or(|(of, _)| *of != pits) {
            // Its memory is given back before more is asked for.
            (last, asked) = (None, 0);
        }
        let (_, player) = last.get_or_insert_with(|| {
            let (tables, bounds) = (shelf.tables(RULES, pits), shelf.bounds(RULES, pits));
            let book = thinking.books.and_then(|books| books.get(RULES, pits));
            let setting = Setting::new(RULES).tables(tables).bounds(bounds).book(book).memory(thinking.memory);
            (pits, PlayerName::Perfect.player(&setting))
        });
        let cancel = request.cancel.until(Some(request.deadline));
        let mut sent = Ok(());
        let choice = player.choose(&request.position, &cancel, &mut |choice| {
            if sent.is_ok() {
                sent = sender.say_move(&request, choice.pit);
            }
        })?;
        sent?;
        if !request.cancel.is_cancelled() {
            sender.say_move(&request, choice.pit)?;
            sender.tell(&request, "yield", Vec::new())?;
            reports.tell(Event::Moved { position: &request.position, pit: choice.pit });
        }
        requests.done(request.id);
    }
    Ok(())
}
