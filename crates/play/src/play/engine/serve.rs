use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use kalah_base::printable::printable;
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::AllTables;
use kalah_solve::book::Books;

use super::MAX_LINE;
use crate::play::{Choice, Player, PlayerName, Setting, Source, Worth};

/// Maximum characters of an error.
const MAX_ERROR: usize = 1000;

/// Errors of searches without a game or a position.
const NO_GAME: &str = "the last game was refused: send newgame";
const NO_POSITION: &str = "the last position was refused: send another";

/// Settings of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineSetting<'s> {
    /// The player.
    pub player: PlayerName,
    /// Rules, memory, threads and seed of its games. Tables and book come from the fields below.
    pub setting: Setting<'s>,
    /// The tables.
    pub all_tables: &'s AllTables,
    /// The books.
    pub books: &'s Books,
}

/// Plays as an engine: executes the lines of `input` and answers on `output` until `quit` or the end of the
/// input.
///
/// A thread of its own reads the input, so that `stop`, `quit` and the end of the input take effect at once. `stop`
/// ends every search requested before it, also one that has not begun. The thread ends with the input, or with the
/// first command after this function has returned.
///
/// # Errors
/// If `output` cannot be written or a thread cannot be started. Any other failure is answered with `error`.
pub fn serve_engine(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    setting: EngineSetting<'_>,
) -> io::Result<()> {
    let ((sender, lines), closing) = (channel(), Cancel::new());
    let ended = closing.clone();
    thread::Builder::new().spawn(move || read_lines(input, &sender, &ended))?;
    let (rules, position) = (Ok(setting.setting.rules), Err("there is no position yet"));
    let output = Output { writer: output, written: Ok(()) };
    let mut session = Session { setting, output, rules, position, player: None, games: 0 };
    while session.output.written.is_ok()
        && let Ok(line) = lines.recv()
    {
        session.execute(&line, &closing);
    }
    session.output.written
}

/// A line that was read.
struct Line {
    /// Its bytes: at most one more than a line may have.
    bytes: Vec<u8>,
    /// The time when it was read.
    at: Instant,
    /// Ends its search, with all others between two lines `stop`.
    search: Cancel,
}

impl Line {
    /// Its first word.
    fn word(&self) -> &[u8] {
        self.bytes.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default()
    }
}

/// Reads lines until `quit` or the end, which cancels `closing` and so all searches. It never waits for a search, which
/// would keep `stop` from being read.
fn read_lines(mut input: impl BufRead, lines: &Sender<Line>, closing: &Cancel) {
    let mut search = closing.child();
    while let Some(bytes) = read_line(&mut input) {
        let line = Line { bytes, at: Instant::now(), search: search.clone() };
        match line.word() {
            b"" => {}
            b"quit" => break,
            b"stop" => {
                search.cancel();
                search = closing.child();
            }
            _ => {
                if lines.send(line).is_err() {
                    break;
                }
            }
        }
    }
    closing.cancel();
}

/// The next line, without the end of one that is too long; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).ok().filter(|&read| read > 0)?;
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() > MAX_LINE {
        input.skip_until(b'\n').ok()?;
    }
    Some(line)
}

/// The output, and the first error of writing it.
struct Output<W> {
    writer: W,
    written: io::Result<()>,
}

impl<W: Write> Output<W> {
    /// Writes a line at once, so that a reader never sees a part of one.
    fn say(&mut self, line: fmt::Arguments<'_>) {
        if self.written.is_ok() {
            let written = self.writer.write_all(format!("{line}\n").as_bytes());
            self.written = written.and_then(|()| self.writer.flush());
        }
    }

    /// Reports a move.
    fn report(&mut self, choice: &Choice) {
        let depth = if let Source::Depth(depth) = choice.source { format!("depth {depth} ") } else { String::new() };
        let worth = match choice.worth {
            Worth::Exact(value) => format!(" value {value}"),
            Worth::Bounds { lower, upper } => format!(" lower {lower} upper {upper}"),
            Worth::Evaluation(value) => format!(" evaluation {value}"),
            Worth::Unknown => String::new(),
        };
        self.say(format_args!("info {depth}move {}{worth} text {}", choice.pit, choice.source));
    }
}

/// State of a session.
struct Session<'s, W> {
    setting: EngineSetting<'s>,
    output: Output<W>,
    /// The rules of the game, or the reason why it was refused.
    rules: Result<Rules, &'static str>,
    /// The position to move in, or the reason why it is missing.
    position: Result<Position, &'static str>,
    /// The player, and the pits of the board that it was made for.
    player: Option<(usize, Box<dyn Player + 's>)>,
    games: u64,
}

impl<'s, W: Write> Session<'s, W> {
    /// Executes a line. If it fails, what it should have set is not what it was: no move answers an earlier position.
    fn execute(&mut self, line: &Line, closing: &Cancel) {
        let why = if line.bytes.len() > MAX_LINE {
            format!("a line is longer than {MAX_LINE} bytes")
        } else {
            let Err(why) = self.obey(line, closing) else { return };
            why
        };
        match line.word() {
            b"newgame" => (self.rules, self.position) = (Err(NO_GAME), Err(NO_GAME)),
            b"position" => self.position = Err(self.rules.err().unwrap_or(NO_POSITION)),
            _ => {}
        }
        self.output.say(format_args!("error {}", printable(&why, MAX_ERROR)));
    }

    /// Executes a line; the error in words.
    fn obey(&mut self, line: &Line, closing: &Cancel) -> Result<(), String> {
        let text = String::from_utf8_lossy(&line.bytes);
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            // The answer states that this is version 1, for clients of higher versions.
            ["kalah", ..] => {
                self.output.say(format_args!("id name kalah {} {}", env!("CARGO_PKG_VERSION"), self.setting.player));
                self.output.say(format_args!("rules {}", Rules::ALL.map(Rules::name).join(" ")));
                self.output.say(format_args!("kalahok 1"));
            }
            ["isready", ..] => self.output.say(format_args!("readyok")),
            ["newgame", rules, start] => {
                let rules: Rules = rules.parse().map_err(in_words)?;
                let start: Position = start.parse().map_err(in_words)?;
                (self.rules, self.position) = (Ok(rules), Ok(start));
                self.player = None;
                self.games += 1;
                self.player_for(rules, start.pits()).prepare(&start, closing).map_err(in_words)?;
            }
            ["newgame", ..] => return Err("newgame takes a rule set and a position".to_owned()),
            ["position", position] => {
                self.rules?;
                self.position = Ok(position.parse().map_err(in_words)?);
            }
            ["position", ..] => return Err("position takes a position without spaces".to_owned()),
            ["go", ref limits @ ..] => self.go(movetime(limits)?, line)?,
            [word, ..] => return Err(format!("unknown command '{word}'")),
            [] => {}
        }
        Ok(())
    }

    /// A player by these rules, for a board of this many pits a side.
    fn player_for(&mut self, rules: Rules, pits: usize) -> &mut dyn Player {
        if self.player.as_ref().is_none_or(|(of, _)| *of != pits) {
            // Its memory is freed before more is allocated.
            self.player = None;
        }
        let (name, setting) = (self.setting.player, self.player_setting(rules, pits));
        &mut *self.player.get_or_insert_with(|| (pits, name.player(&setting))).1
    }

    fn player_setting(&self, rules: Rules, pits: usize) -> Setting<'s> {
        let EngineSetting { setting, all_tables, books, .. } = self.setting;
        let setting = Setting { rules, game: setting.game.wrapping_add(self.games), ..setting };
        let (tables, bounds) = (all_tables.tables(rules, pits), all_tables.bounds(rules, pits));
        setting.tables(tables).bounds(bounds).book(books.get(rules, pits))
    }

    /// Searches, and answers with a move.
    fn go(&mut self, time: Option<Duration>, line: &Line) -> Result<(), String> {
        let (rules, position) = (self.rules?, self.position?);
        if position.is_over() {
            return Err("the game is over".to_owned());
        }
        let left = time.map(|time| time.saturating_sub(line.at.elapsed()));
        let cancel = left.map_or_else(|| line.search.clone(), |left| line.search.within(left));
        self.player_for(rules, position.pits());
        let (player, output) = (&mut self.player.as_mut().expect("it was just made").1, &mut self.output);
        let choice = player.choose(&position, &cancel, &mut |choice| output.report(choice)).map_err(in_words)?;
        output.report(&choice);
        output.say(format_args!("bestmove {}", choice.pit));
        Ok(())
    }
}

fn in_words(error: impl fmt::Display) -> String {
    error.to_string()
}

/// Reads the limits of a search, and returns its time. The others are not used.
fn movetime(limits: &[&str]) -> Result<Option<Duration>, String> {
    let mut time = None;
    for pair in limits.chunks(2) {
        match (pair[0], pair.get(1).and_then(|text| text.parse().ok())) {
            ("movetime", Some(milliseconds)) => time = Some(Duration::from_millis(milliseconds)),
            ("depth" | "nodes", Some(_)) => {}
            (word, _) => return Err(format!("go takes movetime, depth and nodes, each with a number, not '{word}'")),
        }
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_limits_is_reported() {
        assert_eq!(movetime(&["nodes", "5", "movetime", "1500"]), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(movetime(&["depth", "5"]), Ok(None));
        for limits in [&["fast"][..], &["depth"], &["movetime", "-5"], &["movetime", "1", "nodes"]] {
            let why = movetime(limits).unwrap_err();
            assert!(why.starts_with("go takes movetime"), "{limits:?}: {why}");
        }
    }
}
