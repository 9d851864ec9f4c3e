use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::event::{Event, Reports};
use super::requests::{MAX_WAITING, MoveRequest, Requests};
use super::{Argument, Command, MAX_LINE};
use crate::book::Books;
use crate::game::{Pit, Position, Rules};
use crate::play::{Limit, PlayError, Player, PlayerName, Setting};
use crate::printable::printable;
use crate::table::Shelf;

/// The rules of the protocol's servers.
const RULES: Rules = Rules::Standard;

/// How often the stop flag is checked while the server sends nothing.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// The part of a player's whole clock that a move may take.
const CLOCK_PART: u32 = 20;

/// The least and the most time for a move.
const LEAST_TIME: Duration = Duration::from_millis(50);
const MOST_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the server may take to read a line.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Positions after which a player is replaced by a new one, to bound its memory: it keeps what it proved of each.
const PLAYER_POSITIONS: usize = 1 << 12;

/// The most characters of the server's text in an answer to it.
const MAX_QUOTED: usize = 200;

/// Who plays, as sent to the server; empty texts are not sent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Introduction {
    /// The engine's name.
    pub name: String,
    /// Its authors, separated by commas.
    pub authors: String,
    /// What it is.
    pub description: String,
    /// What proves to the server that it is the same engine as before.
    pub token: String,
}

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

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server said goodbye.
    Goodbye,
    /// The connection is gone.
    Lost,
    /// It was asked to stop, and said goodbye.
    Stopped,
}

/// Why a session failed for good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KgpError {
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server speaks another version, as it names it.
    #[error("the server speaks version {} of the protocol; this client speaks version 1", quoted(.0))]
    Version(String),
    /// A table or a search failed.
    #[error("{0}")]
    Play(#[from] PlayError),
}

/// Sends lines to the server, from any thread.
struct Sender<'s> {
    stream: Mutex<TcpStream>,
    /// The next id: clients use odd ones.
    id: AtomicU64,
    /// Set when the session is to end, also while the server does not read.
    stop: &'s AtomicBool,
}

impl Sender<'_> {
    fn say(&self, reference: Option<u64>, name: &str, arguments: Vec<Argument>) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        self.say_to(&mut stream, reference, name, arguments)
    }

    fn say_to(
        &self,
        stream: &mut TcpStream,
        reference: Option<u64>,
        name: &str,
        arguments: Vec<Argument>,
    ) -> io::Result<()> {
        let id = Some(self.id.fetch_add(2, Ordering::Relaxed));
        let mut command = Command { id, reference, name: name.to_owned(), arguments };
        command.shorten();
        self.write(stream, format!("{command}\r\n").as_bytes())
    }

    /// Writes all of `bytes`, unless the server does not read them in time.
    fn write(&self, stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            match stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
            if bytes.is_empty() {
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) || begin.elapsed() >= WRITE_TIME {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// Sends a line about a request, unless the server wants no more of it.
    fn tell(&self, request: &MoveRequest, name: &str, arguments: Vec<Argument>) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if request.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.say_to(&mut stream, Some(request.id), name, arguments)
    }

    fn say_move(&self, request: &MoveRequest, pit: Pit) -> io::Result<()> {
        self.tell(request, "move", vec![word(pit)])
    }
}

/// Whether an error of the stream only means that it was not ready in time.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// What the server said, as a part of another text.
fn quoted(text: &str) -> String {
    printable(text, MAX_QUOTED)
}

fn word(text: impl std::fmt::Display) -> Argument {
    Argument::Word(text.to_string())
}

/// Plays on the server at the other end of `stream` until one side ends it or `stop` is set. `on_event` is called with what
/// happens.
///
/// # Errors
/// When the server speaks another version, or tables or memory fail. A lost connection is no error but an [`End`].
pub fn play(
    stream: TcpStream,
    introduction: &Introduction,
    thinking: &Thinking<'_>,
    shelf: &Shelf,
    stop: &AtomicBool,
    on_event: &(dyn Fn(Event) + Sync),
) -> Result<End, KgpError> {
    stream.set_read_timeout(Some(CHECK_EVERY))?;
    stream.set_write_timeout(Some(CHECK_EVERY))?;
    stream.set_nodelay(true)?;
    let reading = stream.try_clone()?;
    let sender = Sender { stream: Mutex::new(stream), id: AtomicU64::new(1), stop };
    let requests = Requests::default();
    let failed = Mutex::new(None);
    let reports = Reports::new(on_event);
    let ended = thread::scope(|scope| {
        // Also when reading fails or panics.
        let _close = Close(&requests);
        for _ in 0..thinking.searches.max(1) {
            scope.spawn(|| {
                if let Err(error) = think(&requests, &sender, thinking, shelf, &reports) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    requests.close();
                }
            });
        }
        let failing = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let session = Session {
            sender: &sender,
            requests: &requests,
            introduction,
            thinking,
            reports: &reports,
            greeted: false,
            clock: None,
            absolute: false,
        };
        session.listen(reading, &|| stop.load(Ordering::Relaxed) || failing())
    });
    let ended = failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(ended, Err);
    match ended {
        Err(KgpError::Io(_)) if stop.load(Ordering::Relaxed) => Ok(End::Stopped),
        Err(KgpError::Io(_)) => Ok(End::Lost),
        ended => ended,
    }
}

/// Ends all requests when dropped, so that no thread waits for more.
struct Close<'d>(&'d Requests);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// One thread that thinks: it sends the best move known at once, and a better one when it is found.
fn think(
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
        let left = request.deadline.saturating_duration_since(Instant::now());
        let limit = Limit::time(left).or_stop(std::sync::Arc::clone(&request.stop));
        let mut sent = Ok(());
        let choice = player.choose(&request.position, &limit, &mut |choice| {
            if sent.is_ok() {
                sent = sender.say_move(&request, choice.pit);
            }
        })?;
        sent?;
        if !request.stop.load(Ordering::Relaxed) {
            sender.say_move(&request, choice.pit)?;
            sender.tell(&request, "yield", Vec::new())?;
            reports.tell(Event::Moved { position: &request.position, pit: choice.pit });
        }
        requests.done(request.id);
    }
    Ok(())
}

/// What is known of a session.
struct Session<'s> {
    sender: &'s Sender<'s>,
    requests: &'s Requests,
    introduction: &'s Introduction,
    thinking: &'s Thinking<'s>,
    reports: &'s Reports<'s>,
    greeted: bool,
    /// What the server's clock shows for us.
    clock: Option<Duration>,
    /// Whether that is for all moves to come.
    absolute: bool,
}

impl Session<'_> {
    /// Reads lines and does what they ask for until the session is over.
    fn listen(mut self, mut stream: TcpStream, stop: &dyn Fn() -> bool) -> Result<End, KgpError> {
        let (mut line, mut skip) = (Vec::new(), false);
        let mut bytes = [0; 4096];
        loop {
            if stop() {
                // Whether it is heard does not matter any more.
                let _ = self.sender.say(None, "goodbye", Vec::new());
                return Ok(End::Stopped);
            }
            let read = match stream.read(&mut bytes) {
                Ok(0) => return Ok(End::Lost),
                Ok(read) => read,
                Err(error) if is_pause(&error) => continue,
                Err(error) => return Err(error.into()),
            };
            for &byte in &bytes[..read] {
                if byte != b'\n' {
                    // A line that is too long is skipped whole.
                    skip |= line.len() >= MAX_LINE;
                    if !skip {
                        line.push(byte);
                    }
                    continue;
                }
                let text = String::from_utf8_lossy(&line).into_owned();
                let skipped = std::mem::take(&mut skip);
                line.clear();
                if !skipped
                    && !text.trim().is_empty()
                    && let Some(end) = self.obey(&text)?
                {
                    return Ok(end);
                }
            }
        }
    }

    /// Does what a line asks for; the end, if it is one.
    fn obey(&mut self, line: &str) -> Result<Option<End>, KgpError> {
        let Ok(command) = line.parse::<Command>() else {
            self.reports.tell(Event::Ignored(line.trim()));
            return Ok(None);
        };
        let argument = |index: usize| command.arguments.get(index).map_or("", Argument::text);
        match command.name.as_str() {
            "kgp" if self.greeted => self.refuse(&command, "already greeted")?,
            "kgp" => self.greet(&command)?,
            "ping" => {
                let text = command.arguments.first().map(|text| Argument::Text(text.text().to_owned()));
                self.sender.say(command.id, "pong", text.into_iter().collect())?;
            }
            "state" => self.state(&command)?,
            "stop" => command.reference.into_iter().for_each(|id| self.requests.stop(id)),
            "set" => self.set(argument(0), argument(1)),
            "error" => self.reports.tell(Event::Error(argument(0))),
            "goodbye" => return Ok(Some(End::Goodbye)),
            "ok" | "pong" => {}
            _ => self.reports.tell(Event::Ignored(line.trim())),
        }
        Ok(None)
    }

    /// Answers the greeting: who plays, and what.
    fn greet(&mut self, command: &Command) -> Result<(), KgpError> {
        let version: Vec<&str> = command.arguments.iter().map(Argument::text).collect();
        let version = version.join(".");
        if command.arguments.first().map(Argument::text) != Some("1") {
            self.refuse(command, "protocol not supported")?;
            self.sender.say(None, "goodbye", Vec::new())?;
            return Err(KgpError::Version(version));
        }
        self.greeted = true;
        self.reports.tell(Event::Greeted { version: &version });
        let Introduction { name, authors, description, token } = self.introduction;
        let told =
            [("info:name", name), ("info:authors", authors), ("info:description", description), ("auth:token", token)];
        for (option, text) in told.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.sender.say(None, "set", vec![word(option), Argument::Text(text.clone())])?;
        }
        Ok(self.sender.say(None, "mode", vec![word("freeplay")])?)
    }

    /// Answers why a command is not obeyed.
    fn refuse(&self, command: &Command, why: impl Into<String>) -> io::Result<()> {
        self.sender.say(command.id, "error", vec![Argument::Text(why.into())])
    }

    /// Takes a position on: some legal move is sent at once, so that the server has one whatever comes.
    fn state(&mut self, command: &Command) -> Result<(), KgpError> {
        let text = command.arguments.first().map_or("", Argument::text);
        let Some(id) = command.id else {
            self.reports.tell(Event::Ignored(&format!("state {text}")));
            return Ok(());
        };
        let position = match text.parse::<Position>() {
            Ok(position) if text.starts_with('<') && !position.is_over() => position,
            _ => return Ok(self.refuse(command, format!("'{}' is not a position with a move", quoted(text)))?),
        };
        if self.requests.knows(id) {
            return Ok(self.refuse(command, format!("id {id} is in use by a position that is not answered yet"))?);
        }
        let request = MoveRequest { id, position, deadline: Instant::now() + self.time(), stop: Default::default() };
        // The one nearest the store: it stores a seed at least.
        let first = position.moves().last().expect("the game is not over");
        self.sender.say_move(&request, first)?;
        if !self.requests.add(request) {
            self.refuse(command, format!("{MAX_WAITING} positions are waiting; this one is not searched"))?;
            self.sender.say(Some(id), "yield", Vec::new())?;
            self.reports.tell(Event::Refused { id });
        }
        Ok(())
    }

    /// The time for a move.
    fn time(&self) -> Duration {
        let clock = self.clock.map(|clock| if self.absolute { clock / CLOCK_PART } else { clock });
        let within = clock.map(|clock| clock.saturating_sub(self.thinking.margin));
        within.map_or(self.thinking.time, |within| within.min(self.thinking.time)).clamp(LEAST_TIME, MOST_TIME)
    }

    fn set(&mut self, option: &str, value: &str) {
        match option {
            "time:mode" if value == "none" => self.clock = None,
            "time:mode" => self.absolute = value == "absolute",
            "time:clock" => {
                let seconds = value.parse().ok();
                self.clock = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            }
            // Games and opponents do not matter: every position is sent whole.
            _ => {}
        }
    }
}
