use std::io::{self, Read};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use kalah_tables::table::Shelf;
use parking_lot::Mutex;

use super::error::{KgpError, quoted};
use super::event::{KgpEvent, Reports};
use super::requests::{MAX_WAITING, MoveRequest, Requests};
use super::sender::{Sender, is_pause, word};
use super::thinking::{Thinking, think};
use super::{Argument, Command, MAX_LINE};

/// Interval between checks for a stop while the server sends nothing.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Part of a player's remaining time that a move may take: one in this many.
const CLOCK_PART: u32 = 20;

/// Minimum and maximum of the time for a move.
const LEAST_TIME: Duration = Duration::from_millis(50);
const MOST_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Introduction of the engine to the server. Empty texts are not sent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Introduction {
    /// The engine's name.
    pub name: String,
    /// Its authors, separated by commas.
    pub authors: String,
    /// A description of it.
    pub description: String,
    /// A token by which the server recognises the engine.
    pub token: String,
}

/// End of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The server said goodbye.
    Goodbye,
    /// The connection was lost.
    Lost,
    /// It was stopped, and said goodbye.
    Stopped,
}

/// Plays on the server at the other end of `stream` until either side ends the session or `cancel` is
/// cancelled. Calls `on_event` with every event.
///
/// # Errors
/// If the server speaks another version, or tables or memory fail. A lost connection is an [`End`], not an
/// error.
pub fn play(
    stream: TcpStream,
    introduction: &Introduction,
    thinking: &Thinking<'_>,
    shelf: &Shelf,
    cancel: &Cancel,
    on_event: &(dyn Fn(KgpEvent) + Sync),
) -> Result<End, KgpError> {
    stream.set_read_timeout(Some(CHECK_EVERY))?;
    stream.set_write_timeout(Some(CHECK_EVERY))?;
    stream.set_nodelay(true)?;
    let reading = stream.try_clone()?;
    let sender = Sender::new(stream, cancel);
    let requests = Requests::default();
    let failed = Mutex::new(None);
    let reports = Reports::new(on_event);
    let ended = thread::scope(|scope| {
        // Also if reading fails or panics.
        let _close = Close(&requests);
        for _ in 0..thinking.searches.max(1) {
            scope.spawn(|| {
                if let Err(error) = think(&requests, &sender, thinking, shelf, &reports) {
                    failed.lock().get_or_insert(error);
                    requests.close();
                }
            });
        }
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
        session.listen(reading, cancel, &failed)
    });
    let ended = failed.into_inner().map_or(ended, Err);
    match ended {
        Err(KgpError::Io(_)) if cancel.is_cancelled() => Ok(End::Stopped),
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

/// State of a session.
struct Session<'s> {
    sender: &'s Sender<'s>,
    requests: &'s Requests,
    introduction: &'s Introduction,
    thinking: &'s Thinking<'s>,
    reports: &'s Reports<'s>,
    greeted: bool,
    /// Our time on the server's clock.
    clock: Option<Duration>,
    /// True if that time is for all remaining moves.
    absolute: bool,
}

impl Session<'_> {
    /// Reads and executes lines until the session is over, or a search thread has `failed`.
    fn listen(
        mut self,
        mut stream: TcpStream,
        cancel: &Cancel,
        failed: &Mutex<Option<KgpError>>,
    ) -> Result<End, KgpError> {
        let (mut line, mut skip) = (Vec::new(), false);
        let mut bytes = [0; 4096];
        loop {
            if cancel.is_cancelled() || failed.lock().is_some() {
                // The session ends even if this is not received.
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
                    // A line that is too long is skipped entirely.
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
                    && let Some(end) = self.execute(&text)?
                {
                    return Ok(end);
                }
            }
        }
    }

    /// Executes a line. Returns the end of the session if the line ends it.
    fn execute(&mut self, line: &str) -> Result<Option<End>, KgpError> {
        let Ok(command) = line.parse::<Command>() else {
            self.reports.report(KgpEvent::Ignored(line.trim()));
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
            "error" => self.reports.report(KgpEvent::Error(argument(0))),
            "goodbye" => return Ok(Some(End::Goodbye)),
            "ok" | "pong" => {}
            _ => self.reports.report(KgpEvent::Ignored(line.trim())),
        }
        Ok(None)
    }

    /// Answers the greeting with our introduction and mode.
    fn greet(&mut self, command: &Command) -> Result<(), KgpError> {
        let version: Vec<&str> = command.arguments.iter().map(Argument::text).collect();
        let version = version.join(".");
        if command.arguments.first().map(Argument::text) != Some("1") {
            self.refuse(command, "protocol not supported")?;
            self.sender.say(None, "goodbye", Vec::new())?;
            return Err(KgpError::Version(version));
        }
        self.greeted = true;
        self.reports.report(KgpEvent::Greeted { version: &version });
        let Introduction { name, authors, description, token } = self.introduction;
        let options =
            [("info:name", name), ("info:authors", authors), ("info:description", description), ("auth:token", token)];
        for (option, text) in options.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.sender.say(None, "set", vec![word(option), Argument::Text(text.clone())])?;
        }
        Ok(self.sender.say(None, "mode", vec![word("freeplay")])?)
    }

    /// Answers with the reason why a command is not executed.
    fn refuse(&self, command: &Command, why: impl Into<String>) -> io::Result<()> {
        self.sender.say(command.id, "error", vec![Argument::Text(why.into())])
    }

    /// Accepts a position. A legal move is sent at once, so that the server has one in any case.
    fn state(&mut self, command: &Command) -> Result<(), KgpError> {
        let text = command.arguments.first().map_or("", Argument::text);
        let Some(id) = command.id else {
            self.reports.report(KgpEvent::Ignored(&format!("state {text}")));
            return Ok(());
        };
        let position = match text.parse::<Position>() {
            Ok(position) if text.starts_with('<') && !position.is_over() => position,
            _ => return Ok(self.refuse(command, format!("'{}' is not a position with a move", quoted(text)))?),
        };
        if self.requests.contains(id) {
            return Ok(self.refuse(command, format!("id {id} is in use by a position that is not answered yet"))?);
        }
        let request = MoveRequest { id, position, deadline: Instant::now() + self.time(), cancel: Cancel::new() };
        // The pit nearest the store.
        let first = position.moves().last().expect("the game is not over");
        self.sender.say_move(&request, first)?;
        if !self.requests.add(request) {
            self.refuse(command, format!("{MAX_WAITING} positions are waiting; this one is not searched"))?;
            self.sender.say(Some(id), "yield", Vec::new())?;
            self.reports.report(KgpEvent::Refused { id });
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
            // Games and opponents do not matter: every position is sent complete.
            _ => {}
        }
    }
}
