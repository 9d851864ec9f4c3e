use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::duties::{Duties, Duty};
use super::{Argument, Command, MAX_LINE};
use crate::game::{Pit, Position, Rules};
use crate::play::{Limit, PlayError, Player, PlayerName, Setting};
use crate::table::Shelf;

/// The rules of the protocol's servers.
const RULES: Rules = Rules::Standard;

/// How often it is asked whether to stop while the server says nothing.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The part of a player's whole clock that a move may take.
const CLOCK_PART: u32 = 20;

/// The least time for a move.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// Who plays, as the server is told; what is empty is not told.
#[derive(Clone, Debug, Default)]
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
pub struct Thinking {
    /// The time for a move where the server tells no clock; less than the server's own limit.
    pub time: Duration,
    /// What is left unused of the server's clock, if it tells one.
    pub margin: Duration,
    /// Positions that are thought about at once, at least 1; others wait with their first move sent.
    pub searches: usize,
    /// The most bytes of the transposition table of one search.
    pub memory: u64,
}

/// What happens in a session.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The server greeted.
    Greeted {
        /// Its version of the protocol.
        version: &'e str,
    },
    /// A move was chosen.
    Moved {
        /// The position.
        position: &'e Position,
        /// The move.
        pit: Pit,
    },
    /// The server says that something went wrong.
    Error(&'e str),
    /// A line that means nothing to us, and is left alone.
    Ignored(&'e str),
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
pub enum KgpError {
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server speaks another version.
    #[error("the server speaks version {0} of the protocol; this client speaks version 1")]
    Version(String),
    /// A table or a search failed.
    #[error("{0}")]
    Play(#[from] PlayError),
}

/// What can be said to the server, by any thread.
struct Voice {
    stream: Mutex<TcpStream>,
    /// The next id: clients use odd ones.
    id: AtomicU64,
}

impl Voice {
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
        let command = Command { id, reference, name: name.to_owned(), arguments };
        stream.write_all(format!("{command}\r\n").as_bytes())
    }

    /// Says something of a duty, unless the server wants no more of it.
    fn tell(&self, duty: &Duty, name: &str, arguments: Vec<Argument>) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if duty.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.say_to(&mut stream, Some(duty.id), name, arguments)
    }

    fn say_move(&self, duty: &Duty, pit: Pit) -> io::Result<()> {
        self.tell(duty, "move", vec![word(pit)])
    }
}

fn word(text: impl std::fmt::Display) -> Argument {
    Argument::Word(text.to_string())
}

/// Plays on the server at the other end of `stream` until one side ends it or `stop` is set. `on_event` is told what
/// happens.
///
/// # Errors
/// When the server speaks another version, or tables or memory fail. A lost connection is no error but an [`End`].
pub fn play(
    stream: TcpStream,
    introduction: &Introduction,
    thinking: &Thinking,
    shelf: &Shelf,
    stop: &AtomicBool,
    on_event: &(dyn Fn(Event) + Sync),
) -> Result<End, KgpError> {
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    stream.set_nodelay(true)?;
    let reading = stream.try_clone()?;
    let voice = Voice { stream: Mutex::new(stream), id: AtomicU64::new(1) };
    let duties = Duties::default();
    let failed = Mutex::new(None);
    let ended = thread::scope(|scope| {
        // Also when reading fails or panics.
        let _close = Close(&duties);
        for _ in 0..thinking.searches.max(1) {
            scope.spawn(|| {
                if let Err(error) = think(&duties, &voice, thinking, shelf, on_event) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    duties.close();
                }
            });
        }
        let failing = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        Session { voice: &voice, duties: &duties, introduction, thinking, on_event, clock: None, absolute: false }
            .listen(reading, &|| stop.load(Ordering::Relaxed) || failing())
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(KgpError::Io(_)) => Ok(End::Lost),
        Some(error) => Err(error),
        None => match ended {
            Err(KgpError::Io(_)) => Ok(End::Lost),
            ended => ended,
        },
    }
}

/// Ends all duties when dropped, so that no thread waits for more.
struct Close<'d>(&'d Duties);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// One thread that thinks: the best move known is told at once, a better one when it is found.
fn think(
    duties: &Duties,
    voice: &Voice,
    thinking: &Thinking,
    shelf: &Shelf,
    on_event: &(dyn Fn(Event) + Sync),
) -> Result<(), KgpError> {
    // Kept between moves for what it has proved; of the last board.
    let mut last: Option<(usize, Box<dyn Player + '_>)> = None;
    while let Some(duty) = duties.take() {
        let pits = duty.position.pits();
        if last.as_ref().is_none_or(|(of, _)| *of != pits) {
            let setting = Setting { tables: shelf.tables(RULES, pits), memory: thinking.memory, ..Setting::new(RULES) };
            last = Some((pits, PlayerName::Perfect.player(&setting)));
        }
        let (_, player) = last.as_mut().expect("it was made");
        let left = duty.deadline.saturating_duration_since(Instant::now());
        let limit = Limit::time(left).or_stop(std::sync::Arc::clone(&duty.stop));
        let mut sent = Ok(());
        let choice = player.choose(&duty.position, &limit, &mut |choice| {
            if sent.is_ok() {
                sent = voice.say_move(&duty, choice.pit);
            }
        })?;
        sent?;
        if !duty.stop.load(Ordering::Relaxed) {
            voice.say_move(&duty, choice.pit)?;
            voice.tell(&duty, "yield", Vec::new())?;
            on_event(Event::Moved { position: &duty.position, pit: choice.pit });
        }
        duties.done(duty.id);
    }
    Ok(())
}

/// What is known of a session.
struct Session<'s> {
    voice: &'s Voice,
    duties: &'s Duties,
    introduction: &'s Introduction,
    thinking: &'s Thinking,
    on_event: &'s (dyn Fn(Event) + Sync),
    /// What the server's clock shows for us.
    clock: Option<Duration>,
    /// Whether that is for all moves to come.
    absolute: bool,
}

impl Session<'_> {
    /// Reads lines and does what they ask for until the session is over.
    fn listen(&mut self, mut stream: TcpStream, stop: &dyn Fn() -> bool) -> Result<End, KgpError> {
        let (mut line, mut skip) = (Vec::new(), false);
        let mut bytes = [0; 4096];
        loop {
            if stop() {
                // Whether it is heard does not matter any more.
                let _ = self.voice.say(None, "goodbye", Vec::new());
                return Ok(End::Stopped);
            }
            let read = match stream.read(&mut bytes) {
                Ok(0) => return Ok(End::Lost),
                Ok(read) => read,
                Err(error)
                    if [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::Interrupted].contains(&error.kind()) =>
                {
                    continue;
                }
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
            (self.on_event)(Event::Ignored(line.trim()));
            return Ok(None);
        };
        let argument = |index: usize| command.arguments.get(index).map_or("", Argument::text);
        match command.name.as_str() {
            "kgp" => self.greet(&command)?,
            "ping" => {
                let text = command.arguments.first().map(|text| Argument::Text(text.text().to_owned()));
                self.voice.say(command.id, "pong", text.into_iter().collect())?;
            }
            "state" => self.state(&command)?,
            "stop" => command.reference.into_iter().for_each(|id| self.duties.stop(id)),
            "set" => self.set(argument(0), argument(1)),
            "error" => (self.on_event)(Event::Error(argument(0))),
            "goodbye" => return Ok(Some(End::Goodbye)),
            "ok" | "pong" => {}
            _ => (self.on_event)(Event::Ignored(line.trim())),
        }
        Ok(None)
    }

    /// Answers the greeting: who plays, and what.
    fn greet(&self, command: &Command) -> Result<(), KgpError> {
        let version: Vec<&str> = command.arguments.iter().map(Argument::text).collect();
        let version = version.join(".");
        if command.arguments.first().map(Argument::text) != Some("1") {
            self.voice.say(command.id, "error", vec![Argument::Text("protocol not supported".to_owned())])?;
            self.voice.say(None, "goodbye", Vec::new())?;
            return Err(KgpError::Version(version));
        }
        (self.on_event)(Event::Greeted { version: &version });
        let Introduction { name, authors, description, token } = self.introduction;
        let told =
            [("info:name", name), ("info:authors", authors), ("info:description", description), ("auth:token", token)];
        for (option, text) in told.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.voice.say(None, "set", vec![word(option), Argument::Text(text.clone())])?;
        }
        Ok(self.voice.say(None, "mode", vec![word("freeplay")])?)
    }

    /// Takes a position on: some legal move is sent at once, so that the server has one whatever comes.
    fn state(&self, command: &Command) -> Result<(), KgpError> {
        let text = command.arguments.first().map_or("", Argument::text);
        let Some(id) = command.id else {
            (self.on_event)(Event::Ignored(text));
            return Ok(());
        };
        let position = match text.parse::<Position>() {
            Ok(position) if text.starts_with('<') && !position.is_over() => position,
            _ => {
                let told = format!("{} is no position with a move", text.chars().take(200).collect::<String>());
                self.voice.say(Some(id), "error", vec![Argument::Text(told)])?;
                return Ok(());
            }
        };
        let duty = Duty { id, position, deadline: Instant::now() + self.time(), stop: Default::default() };
        // The one nearest the store: it stores a seed at least.
        let first = position.moves().last().expect("the game is not over");
        self.voice.say_move(&duty, first)?;
        self.duties.add(duty);
        Ok(())
    }

    /// The time for a move.
    fn time(&self) -> Duration {
        let clock = self.clock.map(|clock| if self.absolute { clock / CLOCK_PART } else { clock });
        let within = clock.map(|clock| clock.saturating_sub(self.thinking.margin));
        within.map_or(self.thinking.time, |within| within.min(self.thinking.time)).max(LEAST_TIME)
    }

    fn set(&mut self, option: &str, value: &str) {
        match option {
            "time:mode" if value == "none" => self.clock = None,
            "time:mode" => self.absolute = value == "absolute",
            "time:clock" => {
                let seconds = value.parse().ok();
                self.clock = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            }
            // Of games and opponents nothing needs to be known: every position is told whole.
            _ => {}
        }
    }
}
