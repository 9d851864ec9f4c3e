use std::fmt;

use super::GameRecord;
use crate::game::{Line, Position, StartPosition};

/// The most characters of a line of moves.
const WIDTH: usize = 80;

/// The known headers after rules, start and players, in the order in which they are written.
const ORDER: [&str; 6] = ["Event", "Site", "Date", "Round", "Termination", "Pie"];

/// A position as short as it can be written.
fn shortest(position: &Position) -> String {
    let start = StartPosition { pits: position.pits(), seeds: position.mover().seeds()[0] };
    if start.position().as_ref() == Ok(position) { start.to_string() } else { position.to_string() }
}

impl GameRecord {
    /// The result as it is written: `26-22`, `*`.
    pub fn result_text(&self) -> String {
        self.result.map_or_else(|| "*".to_owned(), |[south, north]| format!("{south}-{north}"))
    }

    /// The words after the headers: numbers, turns, the result.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (index, turn) in self.line.turns().iter().enumerate() {
            let mut alone = Line::new(self.start.pits());
            alone.push(turn.clone());
            // A number and its turn stay together.
            let number = if index % 2 == 0 { format!("{}. ", index / 2 + 1) } else { String::new() };
            words.push(format!("{number}{alone}"));
        }
        words.push(self.result_text());
        words
    }
}

impl fmt::Display for GameRecord {
    /// The text of the game, with a line break at its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut header = |name: &str, value: &str| {
            let escaped = value.replace('\\', r"\\").replace('"', "\\\"");
            writeln!(f, "[{name} \"{escaped}\"]")
        };
        header("Rules", self.rules.name())?;
        header("Start", &shortest(&self.start))?;
        for name in ["South", "North"] {
            self.header(name).map_or(Ok(()), |value| header(name, value))?;
        }
        header("Result", &self.result_text())?;
        for name in ORDER {
            self.header(name).map_or(Ok(()), |value| header(name, value))?;
        }
        let known = |name: &str| matches!(name, "South" | "North") || ORDER.contains(&name);
        for (name, value) in self.headers.iter().filter(|(name, _)| !known(name)) {
            header(name, value)?;
        }
        writeln!(f)?;
        let mut width = 0;
        for word in self.words() {
            if width > 0 && width + 1 + word.len() > WIDTH {
                writeln!(f)?;
                width = 0;
            }
            if width > 0 {
                f.write_str(" ")?;
                width += 1;
            }
            f.write_str(&word)?;
            width += word.len();
        }
        writeln!(f)
    }
}
