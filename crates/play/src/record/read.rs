use kalah_base::printable::printable;
use kalah_core::game::{Line, ParseError, Position, Rules, UnknownRules};

use super::{GameRecord, OWN, RecordError, foreign, is_name, one_line, result_of, result_text};

/// Maximum bytes of a text.
pub const MAX_TEXT: usize = 16 << 20;

/// A text quoted in an error.
fn quoted(text: &str) -> String {
    format!("'{}'", printable(text, 60))
}

/// Reads all games of a text and checks their moves and results. Games that name no rule set have `rules`. A text may
/// also be one game in the form of another program: moves as letters, or the actions of OpenSpiel's mancala.
///
/// # Errors
/// If the text has another format, or a game is illegal: the first fault, with its line.
pub fn read_games(text: &str, rules: Rules) -> Result<Vec<GameRecord>, RecordError> {
    if text.len() > MAX_TEXT {
        let fault = format!("the text has {} bytes, more than the 16 MiB that are read", text.len());
        return Err(RecordError::at(1, fault));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match foreign::read(text, rules)? {
        Some(game) => Ok(vec![game]),
        None => split(text)?.into_iter().map(|draft| draft.finish(rules)).collect(),
    }
}

/// Reads a text with exactly one game.
///
/// # Errors
/// As [`read_games`]; also if there is no game, or there are several.
pub fn read_game(text: &str, rules: Rules) -> Result<GameRecord, RecordError> {
    let mut games = read_games(text, rules)?;
    match games.pop() {
        Some(game) if games.is_empty() => Ok(game),
        Some(_) => Err(RecordError::at(1, format!("there are {} games, where one is wanted", games.len() + 1))),
        None => Err(RecordError::at(
            1,
            "there is no game: write headers such as [Start \"6x4\"], then moves such as 36 21 4",
        )),
    }
}

/// A word and the line it is in.
type Word = (usize, String);

/// A game as written.
#[derive(Default)]
struct Draft {
    /// The line where it begins.
    line: usize,
    headers: Vec<(usize, String, String)>,
    turns: Vec<Word>,
    /// The result after the moves.
    result: Option<Word>,
    /// Comments, each with the number of turns before it.
    comments: Vec<(usize, String)>,
}

/// The games of a text, as written.
fn split(text: &str) -> Result<Vec<Draft>, RecordError> {
    let mut games = vec![Draft { line: 1, ..Draft::default() }];
    // The lines where open variations began. They are skipped with all that is in them.
    let mut variations = Vec::new();
    let (mut line, mut rest) = (1, text);
    loop {
        let game = games.last_mut().expect("there is one");
        let begun = rest.trim_start();
        line += rest[..rest.len() - begun.len()].matches('\n').count();
        let Some(first) = begun.chars().next() else { break };
        let to_line_end = || begun.find('\n').unwrap_or(begun.len());
        let length = match first {
            '{' => begun.find('}').ok_or_else(|| RecordError::at(line, "the comment that begins here has no }"))? + 1,
            ';' => to_line_end(),
            '[' if variations.is_empty() => to_line_end(),
            '(' | ')' | '}' => 1,
            _ => begun.find(|c: char| c.is_whitespace() || "{};()".contains(c)).unwrap_or(begun.len()),
        };
        let (part, after) = begun.split_at(length);
        match first {
            '(' => variations.push(line),
            ')' => {
                variations.pop().ok_or_else(|| RecordError::at(line, "a ) without a variation before it"))?;
            }
            '}' => return Err(RecordError::at(line, "a } without a comment before it")),
            _ if !variations.is_empty() => {}
            '[' => {
                let no_header = || format!("{} is not a header: write [Name \"value\"]", quoted(part.trim()));
                let (name, value) = header(part).ok_or_else(|| RecordError::at(line, no_header()))?;
                if game.turns.is_empty() && game.result.is_none() {
                    if game.headers.iter().any(|(_, other, _)| *other == name) {
                        return Err(RecordError::at(line, format!("the header {name} is given twice")));
                    }
                    game.headers.push((line, name, value));
                } else {
                    games.push(Draft { line, headers: vec![(line, name, value)], ..Draft::default() });
                }
            }
            '{' | ';' => {
                let text = one_line(&part[1..]);
                if !text.is_empty() {
                    game.comments.push((game.turns.len(), text));
                }
            }
            _ => game.add(part, line)?,
        }
        line += part.matches('\n').count();
        rest = after;
    }
    if let Some(&line) = variations.first() {
        return Err(RecordError::at(line, "the variation that begins here has no )"));
    }
    // Comments alone are not a game.
    games.retain(|game| !(game.headers.is_empty() && game.turns.is_empty() && game.result.is_none()));
    Ok(games)
}

/// Parses `[Name "value"]`.
fn header(content: &str) -> Option<(String, String)> {
    let inner = content.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let (name, quoted) = inner.split_once(char::is_whitespace)?;
    let quoted = quoted.trim().strip_prefix('"')?.strip_suffix('"')?;
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => value.push(characters.next().filter(|next| matches!(next, '"' | '\\'))?),
            '"' => return None,
            character if character.is_control() => return None,
            character => value.push(character),
        }
    }
    is_name(name).then(|| (name.to_owned(), value))
}

/// The seeds of a result; `None` if it is open.
fn result(text: &str) -> Option<Option<[u32; 2]>> {
    if text == "*" {
        return Some(None);
    }
    let (south, north) = text.split_once('-')?;
    Some(Some([south.parse().ok()?, north.parse().ok()?]))
}

impl Draft {
    /// Adds a word after the headers.
    fn add(&mut self, word: &str, line: usize) -> Result<(), RecordError> {
        if self.result.is_some() {
            let fault = format!("{} follows the result: the next game begins with a header", quoted(word));
            return Err(RecordError::at(line, fault));
        }
        // `1.36` is a number and a turn.
        let after = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let turn = if after.starts_with('.') { after.trim_start_matches('.') } else { word };
        if turn == "*" || turn.contains('-') {
            self.result = Some((line, turn.to_owned()));
        } else if !turn.is_empty() {
            self.turns.push((line, turn.to_owned()));
        }
        Ok(())
    }

    /// Removes a header and returns it.
    fn take(&mut self, name: &str) -> Option<Word> {
        let index = self.headers.iter().position(|(_, other, _)| other == name)?;
        let (line, _, value) = self.headers.remove(index);
        Some((line, value))
    }

    /// The game, if it is correct. It has `default` rules if it names none.
    fn finish(mut self, default: Rules) -> Result<GameRecord, RecordError> {
        let [rules, start, result] = OWN.map(|name| self.take(name));
        let rules: Rules = match rules {
            Some((line, text)) => text.parse().map_err(|error: UnknownRules| RecordError::at(line, error))?,
            None => default,
        };
        let (line, text) = start.unwrap_or((self.line, "6x4".to_owned()));
        let start: Position = text.parse().map_err(|error: ParseError| RecordError::at(line, error))?;
        let mut moves = Line::new(start.pits());
        for (line, turn) in &self.turns {
            let turn = Line::parse(start.pits(), turn).map_err(|error| RecordError::at(*line, error))?;
            turn.turns().iter().for_each(|turn| moves.push(turn.clone()));
        }
        let by_rules = result_of(rules, &start, &moves).map_err(|error| {
            let turn = match &error {
                ParseError::Illegal { turn, .. } => *turn,
                _ => 1,
            };
            let line = self.turns.get(turn - 1).map_or(self.line, |(line, _)| *line);
            RecordError::at(line, error)
        })?;
        let ended = self.headers.iter().any(|(_, name, _)| name == "Termination");
        let result = match result.or(self.result) {
            Some((line, text)) => {
                checked_result(&text, by_rules, ended).map_err(|fault| RecordError::at(line, fault))?
            }
            None => by_rules,
        };
        let headers = self.headers.into_iter().map(|(_, name, value)| (name, value)).collect();
        Ok(GameRecord { rules, start, line: moves, result, headers, comments: self.comments })
    }
}

/// Reads the result of a game, which must be that of the rules, unless the game `ended` for another reason.
fn checked_result(text: &str, by_rules: Option<[u32; 2]>, ended: bool) -> Result<Option<[u32; 2]>, String> {
    let example = "write the seeds of South and North, such as 26-22, or *";
    let given = result(text).ok_or_else(|| format!("{} is not a result: {example}", quoted(text)))?;
    if given != by_rules && !ended {
        let by_rules = result_text(by_rules);
        return Err(format!(
            "by the rules the result is {by_rules}, not {text}: if the game ended early, say why with a header \
             Termination, or write *"
        ));
    }
    Ok(given)
}
