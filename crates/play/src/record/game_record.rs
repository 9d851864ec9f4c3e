use kalah_core::game::{Line, ParseError, Pit, Position, Rules};

/// A game with its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameRecord {
    /// The rule set.
    pub rules: Rules,
    /// The position at the start, South to move.
    pub start: Position,
    /// The moves. The last turn may stop before it is over.
    pub line: Line,
    /// What South and North hold in the end, the seeds left in their rows included; `None` where it is open.
    pub result: Option<[u32; 2]>,
    /// All other headers, each name once: names of letters, digits and `_`; values without control characters.
    pub headers: Vec<(String, String)>,
    /// What is said about the game, in its order: the number of turns before it, and the text, on one line. At most
    /// as many turns as the line has.
    pub comments: Vec<(usize, String)>,
}

/// The headers that have fields of their own.
pub(super) const OWN: [&str; 3] = ["Rules", "Start", "Result"];

/// Whether a text can be the name of a header.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The words of a text with one space between them.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<&str>>().join(" ")
}

impl GameRecord {
    /// A game without headers; the result is that of the rules, if the moves end the game.
    ///
    /// # Errors
    /// When a move is not legal, or a turn ends too early or has too many moves.
    pub fn new(rules: Rules, start: Position, line: Line) -> Result<GameRecord, ParseError> {
        let result = result_of(rules, &start, &line)?;
        Ok(GameRecord { rules, start, line, result, headers: Vec::new(), comments: Vec::new() })
    }

    /// The game of single moves, whoever makes them.
    ///
    /// # Errors
    /// When a move is not legal: its place among the moves, from 0, and why.
    pub fn of_moves(
        rules: Rules,
        start: Position,
        moves: &[Pit],
    ) -> Result<GameRecord, (usize, kalah_core::game::IllegalMove)> {
        let (mut position, mut turn, mut line) = (start, Vec::new(), Line::new(start.pits()));
        for (index, &pit) in moves.iter().enumerate() {
            let played = position.play(rules, pit).map_err(|error| (index, error))?;
            turn.push(pit);
            if !played.again {
                line.push(std::mem::take(&mut turn));
            }
            position = played.position;
        }
        if !turn.is_empty() {
            line.push(turn);
        }
        let result = result_of(rules, &start, &line).expect("every move was legal");
        Ok(GameRecord { rules, start, line, result, headers: Vec::new(), comments: Vec::new() })
    }

    /// The value of a header; `None` if it is missing, and of `Rules`, `Start` and `Result`, which are fields.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// The same with a header, in place of one of that name. Control characters in its value become spaces.
    ///
    /// # Panics
    /// When the name is not one of letters, digits and `_` that begins with a letter, or one of `Rules`, `Start` and `Result`.
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

    /// The same with a comment after so many turns, or after the last turn if there are fewer; it follows those that are
    /// there already. Line breaks, other control characters and repeated spaces become one space; a text of nothing
    /// else is left out.
    #[must_use]
    pub fn with_comment(mut self, turns: usize, text: &str) -> GameRecord {
        let (turns, text) = (turns.min(self.line.turns().len()), one_line(text));
        if !text.is_empty() {
            let place = self.comments.partition_point(|&(other, _)| other <= turns);
            self.comments.insert(place, (turns, text));
        }
        self
    }

    /// Whether a text can be the name of a header that [`GameRecord::with_header`] takes.
    pub fn takes_header(name: &str) -> bool {
        is_name(name) && !OWN.contains(&name)
    }

    /// The single moves, whoever makes them.
    pub fn moves(&self) -> Vec<Pit> {
        self.line.turns().concat()
    }

    /// The position at the end, seen by the player to move there, and whether that is South.
    pub fn end(&self) -> (Position, bool) {
        let places = self.line.follow(self.rules, &self.start).expect("the moves were checked");
        let last = places.last().expect("there is the start");
        (last.position, last.first)
    }
}

/// What South and North hold when the moves of `line` end the game; `None` if they do not.
pub(super) fn result_of(rules: Rules, start: &Position, line: &Line) -> Result<Option<[u32; 2]>, ParseError> {
    let places = line.follow(rules, start)?;
    let last = places.last().expect("there is the start");
    if !last.position.is_over() {
        return Ok(None);
    }
    let end = if last.first { last.position } else { last.position.turned() };
    Ok(Some([end.mover_store() + end.mover().total(), end.other_store() + end.other().total()]))
}
