use std::fmt;

use kalah_core::game::{Line, Position, StartPosition};

use super::GameRecord;

/// Maximum characters of a line of moves.
const WIDTH: usize = 80;

/// Known headers after rules, start and players, in the order of writing.
const ORDER: [&str; 6] = ["Event", "Site", "Date", "Round", "Termination", "Pie"];

/// The shortest form of a position.
fn shortest(position: &Position) -> String {
    let start = StartPosition { pits: position.pits(), seeds: position.mover().seeds()[0] };
    if start.position().as_ref() == Ok(position) { start.to_string() } else { position.to_string() }
}

impl GameRecord {
    /// The result as text: `26-22`, `*`.
    pub fn result_text(&self) -> String {
        self.result.map_or_else(|| "*".to_owned(), |[south, north]| format!("{south}-{north}"))
    }

    /// The words after the headers: numbers, turns, comments, the result.
    fn words(&self) -> Vec<Word> {
        let mut words = Vec::new();
        let mut comments = self.comments.iter().peekable();
        for index in 0..=self.line.turns().len() {
            while let Some((_, text)) = comments.next_if(|&&(turns, _)| turns <= index) {
                words.extend(comment(text));
            }
            let Some(turn) = self.line.turns().get(index) else { break };
            let mut alone = Line::new(self.start.pits());
            alone.push(turn.clone());
            // A number and its turn stay on one line.
            let number = if index % 2 == 0 { format!("{}. ", index / 2 + 1) } else { String::new() };
            words.push(Word { text: format!("{number}{alone}"), ends_line: false });
        }
        words.push(Word { text: self.result_text(), ends_line: false });
        words
    }
}

/// Text that is not divided between lines.
struct Word {
    text: String,
    /// True if all that follows on its line would belong to it.
    ends_line: bool,
}

/// A comment in braces. One that contains a closing brace lasts until the end of its line.
fn comment(text: &str) -> Vec<Word> {
    if text.contains('}') {
        return vec![Word { text: format!("; {text}"), ends_line: true }];
    }
    let word = |text: &str| Word { text: text.to_owned(), ends_line: false };
    format!("{{{text}}}").split(' ').map(word).collect()
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
        let mut ended = false;
        for word in self.words() {
            let length = word.text.chars().count();
            if ended || width > 0 && width + 1 + length > WIDTH {
                writeln!(f)?;
                width = 0;
            }
            if width > 0 {
                f.write_str(" ")?;
                width += 1;
            }
            f.write_str(&word.text)?;
            width += length;
            ended = word.ends_line;
        }
        writeln!(f)
    }
}
