use std::fmt;
use std::str::FromStr;

use kalah_tables::printable::printable;

/// Maximum bytes of a line.
pub const MAX_LINE: usize = 16384;

/// A line of the protocol: an id, the id of the line that it answers, a name, and arguments. Both ids may be
/// missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The sender's number of the line.
    pub id: Option<u64>,
    /// The number of the other side's line that it answers.
    pub reference: Option<u64>,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, word or board, as written.
    Word(String),
    /// A text in quotes.
    Text(String),
}

impl Argument {
    /// Its text without quotes and escapes.
    pub fn text(&self) -> &str {
        match self {
            Argument::Word(text) | Argument::Text(text) => text,
        }
    }
}

impl Command {
    /// Shortens its texts until the line and its line end have at most [`MAX_LINE`] bytes.
    pub(super) fn shorten(&mut self) {
        let mut over = (self.to_string().len() + "\r\n".len()).saturating_sub(MAX_LINE);
        for argument in self.arguments.iter_mut().rev() {
            let Argument::Text(text) = argument else { continue };
            while over > 0
                && let Some(sign) = text.pop()
            {
                let escaped = matches!(sign, '\\' | '"' | '\n' | '\t');
                over = over.saturating_sub(sign.len_utf8() + usize::from(escaped));
            }
        }
    }
}

/// Error: a line that is not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a command of the protocol", printable(.0, 80))]
pub struct BadCommand(String);

/// Splits off the number at the front of a text, if there is one. Returns it and the rest.
fn number(text: &str) -> Option<(Option<u64>, &str)> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() { Some((None, rest)) } else { digits.parse().ok().map(|number| (Some(number), rest)) }
}

/// Splits off the ids at the front of a line: `12 state`, `13@12 move`, `@12 move`, `mode`.
fn ids(line: &str) -> Option<(Option<u64>, Option<u64>, &str)> {
    let first = line.split_whitespace().next()?;
    if !first.starts_with(|sign: char| sign.is_ascii_digit() || sign == '@') {
        return Some((None, None, line));
    }
    let (id, rest) = number(first)?;
    let reference = match rest.strip_prefix('@') {
        Some(rest) => match number(rest)? {
            (reference, "") => reference,
            _ => return None,
        },
        None if rest.is_empty() => None,
        // A name may begin with digits.
        None => return Some((None, None, line)),
    };
    Some((id, reference, line[first.len()..].trim_start()))
}

/// Parses the arguments in a text.
fn arguments(mut text: &str) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    loop {
        text = text.trim_start();
        let Some(quoted) = text.strip_prefix('"') else {
            if text.is_empty() {
                return Some(arguments);
            }
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            arguments.push(Argument::Word(text[..end].to_owned()));
            text = &text[end..];
            continue;
        };
        let (mut signs, mut said) = (quoted.char_indices(), String::new());
        let end = loop {
            match signs.next()? {
                (at, '"') => break at + 1,
                (_, '\\') => said.push(match signs.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    sign => sign,
                }),
                (_, sign) => said.push(sign),
            }
        };
        arguments.push(Argument::Text(said));
        text = &quoted[end..];
    }
}

impl FromStr for Command {
    type Err = BadCommand;

    fn from_str(line: &str) -> Result<Command, BadCommand> {
        let read = || {
            let (id, reference, rest) = ids(line.trim())?;
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let arguments = arguments(rest)?;
            named.then(|| Command { id, reference, name: name.to_owned(), arguments })
        };
        read().ok_or_else(|| BadCommand(line.trim().chars().take(100).collect()))
    }
}

impl fmt::Display for Command {
    /// The line without its line end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.id {
            write!(f, "{id}")?;
        }
        if let Some(reference) = self.reference {
            write!(f, "@{reference}")?;
        }
        if self.id.is_some() || self.reference.is_some() {
            f.write_str(" ")?;
        }
        f.write_str(&self.name)?;
        for argument in &self.arguments {
            match argument {
                Argument::Word(word) => write!(f, " {word}")?,
                Argument::Text(text) => {
                    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                    write!(f, " \"{}\"", text.replace('\t', "\\t"))?;
                }
            }
        }
        Ok(())
    }
}
