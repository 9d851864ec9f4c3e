use std::time::{Duration, Instant};

use kalah_core::game::Rules;
use kalah_solve::book::Books;
use kalah_tables::table::Shelf;

use super::KgpError;
use super::event::{KgpEvent, Reports};
use super::requests::Requests;
use super::sender::Sender;
use crate::play::{Player, PlayerName, Setting};

/// Rules of the protocol's servers.
pub const RULES: Rules = Rules::Standard;

/// Number of positions after which a player is replaced by a new one. This bounds its memory, since it keeps
/// the proved bounds of each position.
const PLAYER_POSITIONS: usize = 1 << 12;

/// Settings of searches.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Thinking<'b> {
    /// The time for a move if the server sends no clock; less than the server's own limit.
    pub time: Duration,
    /// Part of the server's clock that is left unused, if it sends one.
    pub margin: Duration,
    /// Number of simultaneous searches, at least 1. Other positions wait after a first move was sent.
    pub searches: usize,
    /// Maximum bytes of the transposition table of one search.
    pub memory: u64,
    /// The books to use, if any.
    pub books: Option<&'b Books>,
}

impl Default for Thinking<'_> {
    /// 4 seconds for a move, half a second of the clock unused, one search at a time with 256 MiB, no books.
    fn default() -> Self {
        let (time, margin) = (Duration::from_secs(4), Duration::from_millis(500));
        Thinking { time, margin, searches: 1, memory: 256 << 20, books: None }
    }
}

/// The work of one search thread: sends the best move found at once, and each better one.
pub(super) fn think(
    requests: &Requests,
    sender: &Sender<'_>,
    thinking: &Thinking<'_>,
    shelf: &Shelf,
    reports: &Reports,
) -> Result<(), KgpError> {
    // The player of the last board, kept between moves for its proved bounds.
    let mut last: Option<(usize, Box<dyn Player + '_>)> = None;
    let mut asked = 0;
    while let Some(request) = requests.take() {
        let pits = request.position.pits();
        asked += 1;
        if asked > PLAYER_POSITIONS || last.as_ref().is_none_or(|(of, _)| *of != pits) {
            // Its memory is freed before more is allocated.
            (last, asked) = (None, 0);
        }
        let (_, player) = last.get_or_insert_with(|| {
            let (tables, bounds) = (shelf.tables(RULES, pits), shelf.bounds(RULES, pits));
            let book = thinking.books.and_then(|books| books.get(RULES, pits));
            let setting = Setting::new(RULES).tables(tables).bounds(bounds).book(book).memory(thinking.memory);
            (pits, PlayerName::Perfect.player(&setting))
        });
        let cancel = request.cancel.within(request.deadline.saturating_duration_since(Instant::now()));
        let mut sent = Ok(());
        let choice = player.choose(&request.position, &cancel, &mut |choice| {
            if sent.is_ok() {
                sent = sender.say_move(&request, choice.pit);
            }
        })?;
        sent?;
        if !request.cancel.is_cancelled() {
            sender.say_move(&request, choice.pit)?;
            sender.send(&request, "yield", Vec::new())?;
            reports.report(KgpEvent::Moved { position: &request.position, pit: choice.pit });
        }
        requests.done(request.id);
    }
    Ok(())
}
