use kalah_base::printable::printable;
use kalah_core::game::{Line, ParseError, Position, Rules, UnknownRules};

use super::{GameRecord, OWN, RecordError, foreign, is_name, one_line, result_of};

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
    let text = within_limit(text)?;
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
    let text = within_limit(text)?;
    if let Some(game) = foreign::read(text, rules)? {
        return Ok(game);
    }
    let mut drafts = split(text)?.into_iter();
    let nothing = "there is no game: write headers such as [Start \"6x4\"], then moves such as 36 21 4";
    let first = drafts.next().ok_or_else(|| RecordError::at(1, nothing))?;
    match drafts.next() {
        Some(second) => Err(RecordError::at(second.line, "a second game begins here, where one is wanted")),
        None => first.finish(rules),
    }
}

/// Returns a text without a byte-order mark.
fn within_limit(text: &str) -> Result<&str, RecordError> {
    if text.len() > MAX_TEXT {
        let fault = format!("the text has {} bytes, more than the 16 MiB that are read", text.len());
        return Err(RecordError::at(1, fault));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// A word and the line it is in.
type Word = (usize, String);

/// A part of a line of text other than a header.
enum Part {
    Word(String),
    Comment(String),
}

/// The open comment and variations.
#[derive(Default)]
struct Open {
    /// A comment: the line where it began, and its text so far.
    comment: Option<(usize, String)>,
    /// The lines where variations began, which are skipped with all that is in them.
    variations: Vec<usize>,
}

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
    let mut games: Vec<Draft> = Vec::new();
    let mut open = Open::default();
    for (line, content) in (1..).zip(text.lines()) {
        let begins_header =
            open.comment.is_none() && open.variations.is_empty() && content.trim_start().starts_with('[');
        if begins_header {
            let no_header =
                || RecordError::at(line, format!("{} is not a header: write [Name \"value\"]", quoted(content.trim())));
            let (name, value) = header(content).ok_or_else(no_header)?;
            let begins_game = games.last().is_none_or(|game| !game.turns.is_empty() || game.result.is_some());
            if begins_game {
                games.push(Draft { line, ..Draft::default() });
            }
            let headers = &mut games.last_mut().expect("there is one").headers;
            if headers.iter().any(|(_, other, _)| *other == name) {
                return Err(RecordError::at(line, format!("the header {name} is given twice")));
            }
            headers.push((line, name, value));
            continue;
        }
        for part in parts(content, line, &mut open)? {
            if games.is_empty() {
                games.push(Draft { line, ..Draft::default() });
            }
            games.last_mut().expect("there is one").add(part, line)?;
        }
    }
    // Comments alone are not a game.
    games.retain(|game| !(game.headers.is_empty() && game.turns.is_empty() && game.result.is_none()));
    match (open.comment, open.variations.first()) {
        (Some((line, _)), _) => Err(RecordError::at(line, "the comment that begins here has no }")),
        (None, Some(&line)) => Err(RecordError::at(line, "the variation that begins here has no )")),
        (None, None) => Ok(games),
    }
}

/// The words and comments of a line outside variations. `open` is what is open at the beginning of the line, and then
/// at its end.
fn parts(content: &str, line: usize, open: &mut Open) -> Result<Vec<Part>, RecordError> {
    let (mut parts, mut word) = (Vec::new(), String::new());
    let Open { comment, variations } = open;
    // Parts of a variation are skipped.
    let add = |part: Part, parts: &mut Vec<Part>, variations: &[usize]| {
        if variations.is_empty() {
            parts.push(part);
        }
    };
    let end = |word: &mut String, parts: &mut Vec<Part>, variations: &[usize]| {
        if !word.is_empty() {
            add(Part::Word(std::mem::take(word)), parts, variations);
        }
    };
    // For the line break.
    comment.iter_mut().for_each(|(_, text)| text.push(' '));
    for (at, character) in content.char_indices() {
        if let Some((_, text)) = comment {
            if character != '}' {
                text.push(character);
            } else if let Some((_, text)) = comment.take() {
                add(Part::Comment(text), &mut parts, variations);
            }
            continue;
        }
        let closes = character == ')' && !variations.is_empty();
        if character.is_whitespace() || closes || matches!(character, '{' | ';' | '(') {
            end(&mut word, &mut parts, variations);
        }
        match character {
            '{' => *comment = Some((line, String::new())),
            '}' => return Err(RecordError::at(line, "a } without a comment before it")),
            ';' => {
                add(Part::Comment(content[at + 1..].to_owned()), &mut parts, variations);
                break;
            }
            '(' => variations.push(line),
            ')' if closes => drop(variations.pop()),
            _ if character.is_whitespace() => {}
            _ => word.push(character),
        }
    }
    end(&mut word, &mut parts, variations);
    Ok(parts)
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

/// Returns true if a word is a number with full stops: `12.` or `12...`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches('.');
    digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The seeds of a result; `None` if it is open.
fn result(text: &str) -> Option<Option<[u32; 2]>> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    match text {
        "*" => Some(None),
        text => {
            let (south, north) = text.split_once('-')?;
            Some(Some([number(south)?, number(north)?]))
        }
    }
}

impl Draft {
    /// Adds a part after the headers, or a comment between them.
    fn add(&mut self, part: Part, line: usize) -> Result<(), RecordError> {
        let word = match part {
            Part::Word(word) => word,
            Part::Comment(text) => {
                let text = one_line(&text);
                if !text.is_empty() {
                    self.comments.push((self.turns.len(), text));
                }
                return Ok(());
            }
        };
        if self.result.is_some() {
            return Err(RecordError::at(
                line,
                format!("{} follows the result: the next game begins with a header", quoted(&word)),
            ));
        }
        // `1.36` is a number and a turn.
        let turn = match word.rsplit_once('.') {
            Some((number, turn)) if is_number(&format!("{number}.")) => turn.to_owned(),
            _ => word,
        };
        if turn == "*" || turn.contains('-') {
            self.result = Some((line, turn));
        } else if !turn.is_empty() {
            self.turns.push((line, turn));
        }
        Ok(())
    }

    /// Removes a header and returns it.
    fn take(&mut self, name: &str) -> Option<(usize, String)> {
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
        if let Some((line, _, pie)) = self.headers.iter().find(|(_, name, _)| name == "Pie")
            && !matches!(&**pie, "kept" | "swapped")
        {
            let fault = format!("{} is not what the pie rule leads to: write kept or swapped", quoted(pie));
            return Err(RecordError::at(*line, fault));
        }
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
        let result = checked_result(result, self.result, by_rules, &start, ended)?;
        let headers = self.headers.into_iter().map(|(_, name, value)| (name, value)).collect();
        Ok(GameRecord { rules, start, line: moves, result, headers, comments: self.comments })
    }
}

/// Advice about a result that is not that of the rules.
const SAY_WHY: &str = "say why with a header Termination";

/// The result from the header, the moves and the rules, which must agree. With `ended`, the game may end for
/// another reason.
fn checked_result(
    header: Option<Word>,
    last: Option<Word>,
    by_rules: Option<[u32; 2]>,
    start: &Position,
    ended: bool,
) -> Result<Option<[u32; 2]>, RecordError> {
    let read = |(line, text): &Word| {
        let example = "write the seeds of South and North, such as 26-22, or *";
        let no_result = || RecordError::at(*line, format!("{} is not a result: {example}", quoted(text)));
        Ok((*line, result(text).ok_or_else(no_result)?))
    };
    let header = header.as_ref().map(read).transpose()?;
    if let (Some(last), Some((_, in_header))) = (&last, header)
        && read(last)?.1 != in_header
    {
        return Err(RecordError::at(last.0, format!("the result is {} here, but another one in the header", last.1)));
    }
    let Some((line, given)) = last.as_ref().map(read).transpose()?.or(header) else {
        return Ok(by_rules);
    };
    if let Some([south, north]) = given {
        let seeds = u64::from(start.seeds() + start.mover_store() + start.other_store());
        let given = u64::from(south) + u64::from(north);
        if given != seeds {
            return Err(RecordError::at(
                line,
                format!("the result {south}-{north} has {given} seeds; the game has {seeds}"),
            ));
        }
    }
    match (given, by_rules) {
        _ if ended => Ok(given),
        (given, Some([south, north])) if given != by_rules => {
            let fault = format!("by the rules the game ends {south}-{north}, which is not the result; {SAY_WHY}");
            Err(RecordError::at(line, fault))
        }
        (Some(_), None) => Err(RecordError::at(
            line,
            format!("the game is not over after these moves, but has a result; {SAY_WHY}, or write *"),
        )),
        _ => Ok(given),
    }
}
