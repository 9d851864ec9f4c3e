//! Games as text: headers and moves, for one game or many. `docs/games.md` documents the format.

mod foreign;
mod read;

use std::fmt;

use kalah_base::diagnostic::Diagnostic;
use kalah_core::game::{IllegalMove, Line, ParseError, Pit, Position, Rules, StartPosition};

pub use read::{MAX_TEXT, read_game, read_games};

/// Error of a text of games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RecordError {
    /// Line of the text, from 1.
    pub line: usize,
    /// Description of the fault.
    pub fault: String,
}

impl Diagnostic for RecordError {}

impl RecordError {
    /// The error of a fault in a line.
    fn at(line: usize, fault: impl ToString) -> RecordError {
        RecordError { line, fault: fault.to_string() }
    }
}

/// A game with its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameRecord {
    /// The rule set.
    pub rules: Rules,
    /// The position at the start; South is to move.
    pub start: Position,
    /// The moves. The last turn may be incomplete.
    pub line: Line,
    /// Seeds of South and North at the end, the seeds left in their rows included; `None` if the result is
    /// open.
    pub result: Option<[u32; 2]>,
    /// All other headers, each name once. Names consist of letters, digits and `_`; values have no control
    /// characters.
    pub headers: Vec<(String, String)>,
    /// Comments on the game in order: the number of turns before it, at most that of the line, and its text in
    /// one line.
    pub comments: Vec<(usize, String)>,
}

/// The headers that have fields of their own.
const OWN: [&str; 3] = ["Rules", "Start", "Result"];

/// Returns true if a text can be the name of a header.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The words of a text without closing braces, which would end a comment, separated by single spaces.
fn one_line(text: &str) -> String {
    let text = text.replace('}', "");
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<&str>>().join(" ")
}

impl GameRecord {
    /// A game without headers. Its result is that of the rules, if the moves end the game.
    ///
    /// # Errors
    /// If a move is illegal, or a turn ends too early or has too many moves.
    pub fn new(rules: Rules, start: Position, line: Line) -> Result<GameRecord, ParseError> {
        let result = result_of(rules, &start, &line)?;
        Ok(GameRecord { rules, start, line, result, headers: Vec::new(), comments: Vec::new() })
    }

    /// The game of these single moves of both players.
    ///
    /// # Errors
    /// If a move is illegal: its index among the moves, and the reason.
    pub fn of_moves(rules: Rules, start: Position, moves: &[Pit]) -> Result<GameRecord, (usize, IllegalMove)> {
        let line = Line::of_moves(rules, &start, moves)?;
        Ok(GameRecord::new(rules, start, line).expect("every move was legal"))
    }

    /// The value of a header; `None` if it is missing. `Rules`, `Start` and `Result` are fields instead.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// Sets a header, in place of one of the same name. Control characters in its value become spaces.
    ///
    /// # Panics
    /// If the name is `Rules`, `Start` or `Result`, or does not begin with a letter followed by letters, digits
    /// and `_`.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> GameRecord {
        assert!(is_name(name) && !OWN.contains(&name), "'{name}' as the name of a header");
        let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match self.headers.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => self.headers.push((name.to_owned(), value)),
        }
        self
    }

    /// Adds a comment after this many turns, or after the last turn if there are fewer. It follows existing
    /// comments at the same place. Each run of white space and control characters becomes one space, and closing braces
    /// are dropped; an empty text is left out.
    #[must_use]
    pub fn with_comment(mut self, turns: usize, text: &str) -> GameRecord {
        let (turns, text) = (turns.min(self.line.turns().len()), one_line(text));
        if !text.is_empty() {
            let place = self.comments.partition_point(|&(other, _)| other <= turns);
            self.comments.insert(place, (turns, text));
        }
        self
    }

    /// Returns true if [`GameRecord::with_header`] accepts this name.
    pub fn takes_header(name: &str) -> bool {
        is_name(name) && !OWN.contains(&name)
    }

    /// The single moves of both players.
    pub fn moves(&self) -> Vec<Pit> {
        self.line.turns().concat()
    }

    /// The position at the end, seen by the player to move, and true if that is South.
    pub fn end(&self) -> (Position, bool) {
        let places = self.line.follow(self.rules, &self.start).expect("the moves were checked");
        let last = places.last().expect("there is the start");
        (last.position, last.first)
    }
}

/// Seeds of South and North if the moves of `line` end the game, else `None`.
fn result_of(rules: Rules, start: &Position, line: &Line) -> Result<Option<[u32; 2]>, ParseError> {
    let places = line.follow(rules, start)?;
    let last = places.last().expect("there is the start");
    if !last.position.is_over() {
        return Ok(None);
    }
    let end = if last.first { last.position } else { last.position.turned() };
    Ok(Some([end.mover_store() + end.mover().total(), end.other_store() + end.other().total()]))
}

/// Maximum characters of a line of moves.
const WIDTH: usize = 80;

/// The shortest form of a position.
fn shortest(position: &Position) -> String {
    let start = StartPosition { pits: position.pits(), seeds: position.mover().seeds()[0] };
    if start.position().as_ref() == Ok(position) { start.to_string() } else { position.to_string() }
}

/// A result as text: `26-22`, `*`.
fn result_text(result: Option<[u32; 2]>) -> String {
    result.map_or_else(|| "*".to_owned(), |[south, north]| format!("{south}-{north}"))
}

impl GameRecord {
    /// The words after the headers: numbers, turns, comments, the result.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut comments = self.comments.iter().peekable();
        for index in 0..=self.line.turns().len() {
            while let Some((_, text)) = comments.next_if(|&&(turns, _)| turns <= index) {
                words.extend(format!("{{{text}}}").split(' ').map(str::to_owned));
            }
            let Some(turn) = self.line.turns().get(index) else { break };
            let mut alone = Line::new(self.start.pits());
            alone.push(turn.clone());
            // A number and its turn stay on one line.
            let number = if index % 2 == 0 { format!("{}. ", index / 2 + 1) } else { String::new() };
            words.push(format!("{number}{alone}"));
        }
        words.push(result_text(self.result));
        words
    }
}

impl fmt::Display for GameRecord {
    /// The text of the game, with a line break at its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rules, start, result) = (self.rules, shortest(&self.start), result_text(self.result));
        writeln!(f, "[Rules \"{rules}\"]\n[Start \"{start}\"]\n[Result \"{result}\"]")?;
        for (name, value) in &self.headers {
            writeln!(f, "[{name} \"{}\"]", value.replace('\\', r"\\").replace('"', "\\\""))?;
        }
        // The first word begins a line, after an empty one.
        let mut width = WIDTH;
        for word in self.words() {
            let length = word.chars().count();
            let begins_line = width + 1 + length > WIDTH;
            write!(f, "{}{word}", if begins_line { '\n' } else { ' ' })?;
            width = if begins_line { length } else { width + 1 + length };
        }
        writeln!(f)
    }
}
