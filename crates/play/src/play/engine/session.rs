use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use kalah_base::printable::printable;
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::Shelf;
use kalah_solve::book::Books;

use super::MAX_LINE;
use super::queue::{Asked, Queue, Stale};
use super::reply::{Info, Reply};
use super::request::{Go, Request};
use crate::play::{Choice, Player, PlayerName, Setting};

/// Maximum characters of an error.
const MAX_ERROR: usize = 1000;

/// Settings of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineSetting<'s> {
    /// The player.
    pub player: PlayerName,
    /// Rules, memory, threads and seed of its games. Tables and book come from the fields below.
    pub setting: Setting<'s>,
    /// The tables.
    pub shelf: &'s Shelf,
    /// The books.
    pub books: &'s Books,
}

/// Plays as an engine: executes the lines of `input` and answers on `output` until `quit` or the end of the
/// input.
///
/// A thread of its own reads the input, so that `stop`, `quit` and the end of the input take effect at once. `stop`
/// ends every search requested before it, also one that has not begun. The thread ends with the input, or with the
/// first line after this function has returned.
///
/// # Errors
/// If `output` cannot be written or a thread cannot be started. Any other failure is answered with `error`.
pub fn serve_engine(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    setting: EngineSetting<'_>,
) -> io::Result<()> {
    let queue = Arc::new(Queue::default());
    let closing = Cancel::new();
    let reader = Reader { queue: Arc::clone(&queue), searches: closing.child(), closing: closing.clone() };
    thread::Builder::new().spawn(move || reader.read(input))?;
    let rules = setting.setting.rules;
    let stale = Stale::Nothing;
    let mut session = Session { setting, output, closing, rules, position: None, stale, player: None, games: 0 };
    let result = session.execute_all(&queue);
    queue.close();
    result
}

/// Reads the input.
struct Reader {
    queue: Arc<Queue>,
    /// Ends the session.
    closing: Cancel,
    /// Ends every search requested since the last `stop`.
    searches: Cancel,
}

impl Reader {
    fn read(mut self, mut input: impl BufRead) {
        while let Some((line, is_whole)) = read_line(&mut input) {
            let asked = match line.parse() {
                _ if !is_whole => Asked::Wrong(format!("a line is longer than {MAX_LINE} bytes"), Stale::of(&line)),
                Ok(Request::Quit) => break,
                Ok(Request::Stop) => {
                    self.searches.cancel();
                    self.searches = self.closing.child();
                    continue;
                }
                Ok(request) => Asked::Request(request, Instant::now(), self.searches.clone()),
                Err(_) if line.trim().is_empty() => continue,
                Err(why) => Asked::Wrong(why, Stale::of(&line)),
            };
            // Waiting here would prevent `stop` from being read.
            if !self.queue.pass(asked, Stale::of(&line)) {
                return;
            }
        }
        self.closing.cancel();
        self.queue.pass(Asked::End, Stale::Nothing);
    }
}

/// The next line, or its beginning with false if it is too long. `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> Option<(String, bool)> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
    read.ok().filter(|&read| read > 0)?;
    let is_whole = line.len() <= MAX_LINE || line.ends_with(b"\n");
    if !is_whole {
        skip_line(input).ok()?;
    }
    Some((String::from_utf8_lossy(&line).into_owned(), is_whole))
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let (skipped, last) = (end.map_or(bytes.len(), |end| end + 1), end.is_some() || bytes.is_empty());
        input.consume(skipped);
        if last {
            return Ok(());
        }
    }
}

/// State of a session.
struct Session<'s, W> {
    setting: EngineSetting<'s>,
    output: W,
    closing: Cancel,
    rules: Rules,
    position: Option<Position>,
    /// Settings that the last lines should have changed and did not.
    stale: Stale,
    /// The player, and the pits of the board that it was made for.
    player: Option<(usize, Box<dyn Player + 's>)>,
    games: u64,
}

impl<'s, W: Write> Session<'s, W> {
    /// Executes one line after the other until the input is over.
    fn execute_all(&mut self, queue: &Queue) -> io::Result<()> {
        loop {
            match queue.next() {
                Asked::Wrong(why, stale) => {
                    self.stale = self.stale.max(stale);
                    self.say(&Reply::Error(why))?;
                }
                Asked::Refused(count, stale) => {
                    self.stale = self.stale.max(stale);
                    let why = Reply::Error("too many lines are waiting: this one was ignored".to_owned());
                    (0..count).try_for_each(|_| self.say(&why))?;
                }
                Asked::Request(request, at, search) => self.execute(request, at, &search)?,
                Asked::End => return Ok(()),
            }
        }
    }

    fn say(&mut self, reply: &Reply) -> io::Result<()> {
        say(&mut self.output, reply)
    }

    fn execute(&mut self, request: Request, at: Instant, search: &Cancel) -> io::Result<()> {
        match request {
            Request::Kalah => {
                self.say(&Reply::Name(format!("kalah {} {}", env!("CARGO_PKG_VERSION"), self.setting.player)))?;
                self.say(&Reply::Rules(Rules::ALL.to_vec()))?;
                self.say(&Reply::Greeting("1".to_owned()))
            }
            Request::NewGame(rules, start) => {
                (self.rules, self.position) = (rules, Some(start));
                self.stale = Stale::Nothing;
                self.player = None;
                self.games += 1;
                let closing = self.closing.clone();
                match self.player_for(start.pits()).prepare(&start, &closing) {
                    Ok(()) => Ok(()),
                    Err(error) => {
                        self.stale = Stale::Game;
                        self.say(&failed(&error))
                    }
                }
            }
            Request::IsReady => self.say(&Reply::Ready),
            // The rules of the position are unknown.
            Request::Position(_) if self.stale == Stale::Game => {
                self.say(&Reply::Error("the last game was refused: send newgame".to_owned()))
            }
            Request::Position(position) => {
                (self.position, self.stale) = (Some(position), Stale::Nothing);
                Ok(())
            }
            Request::Go(go) => self.go(go, at, search),
            // The thread that reads executes these.
            Request::Stop | Request::Quit => Ok(()),
        }
    }

    /// A player by the rules of the game, for a board of this many pits a side.
    fn player_for(&mut self, pits: usize) -> &mut dyn Player {
        if self.player.as_ref().is_none_or(|(of, _)| *of != pits) {
            // Its memory is freed before more is allocated.
            self.player = None;
        }
        let setting = self.player_setting(pits);
        let name = self.setting.player;
        &mut *self.player.get_or_insert_with(|| (pits, name.player(&setting))).1
    }

    fn player_setting(&self, pits: usize) -> Setting<'s> {
        let EngineSetting { setting, shelf, books, .. } = self.setting;
        let setting = Setting { rules: self.rules, game: setting.game.wrapping_add(self.games), ..setting };
        let (tables, bounds) = (shelf.tables(self.rules, pits), shelf.bounds(self.rules, pits));
        setting.tables(tables).bounds(bounds).book(books.get(self.rules, pits))
    }

    /// Searches, and answers with a move.
    fn go(&mut self, go: Go, at: Instant, search: &Cancel) -> io::Result<()> {
        let refused = match self.stale {
            Stale::Nothing => None,
            Stale::Position => Some("the last position was refused: send another"),
            Stale::Game => Some("the last game was refused: send newgame"),
        };
        if let Some(why) = refused {
            return self.say(&Reply::Error(why.to_owned()));
        }
        let Some(position) = self.position.filter(|position| !position.is_over()) else {
            let why = if self.position.is_some() { "the game is over" } else { "there is no position yet" };
            return self.say(&Reply::Error(why.to_owned()));
        };
        let left = go.time.map(|time| time.saturating_sub(at.elapsed()));
        let cancel = left.map_or_else(|| search.clone(), |left| search.within(left));
        let at_depth = go.depth.and_then(|depth| self.setting.player.at_most(depth));
        let unused = [go.depth.filter(|_| at_depth.is_none()).map(|_| "depth"), go.nodes.map(|_| "nodes")];
        for what in unused.into_iter().flatten() {
            let text = format!("{what} is not used by {}", self.setting.player);
            self.say(&Reply::Info(Info { text, ..Info::default() }))?;
        }
        let pits = position.pits();
        let mut limited = at_depth.map(|name| name.player(&self.player_setting(pits)));
        if limited.is_none() {
            self.player_for(pits);
        }
        let player = limited.as_mut().or(self.player.as_mut().map(|(_, player)| player)).expect("there is one");
        let (output, mut sent) = (&mut self.output, Ok(()));
        let choice = player.choose(&position, &cancel, &mut |choice: &Choice| {
            if sent.is_ok() {
                sent = say(output, &Reply::Info(Info::of(choice)));
            }
        });
        sent?;
        match choice {
            Ok(choice) => {
                self.say(&Reply::Info(Info::of(&choice)))?;
                self.say(&Reply::BestMove(choice.pit.to_string()))
            }
            Err(error) => self.say(&failed(&error)),
        }
    }
}

/// An error as a line.
fn failed(error: &dyn std::fmt::Display) -> Reply {
    Reply::Error(printable(&error.to_string(), MAX_ERROR))
}

fn say(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    // Whole lines, so that a reader never sees a part of one.
    output.write_all(format!("{reply}\n").as_bytes())?;
    output.flush()
}
