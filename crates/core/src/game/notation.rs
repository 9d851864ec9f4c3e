use std::fmt;
use std::str::FromStr;

use super::{IllegalMove, MAX_PITS, Pit, Played, Position, PositionError, Row, Rules};
use crate::text::count;

/// Text that is not a position, start position or line of play. Texts in it have no control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text has none of the accepted forms.
    #[error(
        "'{0}' is not a position: write a start such as 6x4, two rows such as 0,0,1,0,2,1/1,0,0,3,0,0, \
         or <m,S,N,s1..sm,n1..nm>"
    )]
    Shape(String),
    /// A number is missing or too large.
    #[error("'{0}' is not a number of seeds or pits")]
    Number(String),
    /// Rows and stores do not form a position.
    #[error("{0}")]
    Position(#[from] PositionError),
    /// Part of a line of play is not a turn on a board with this number of pits.
    #[error("'{0}' is not a turn: write move numbers from 1 to {1}, run together (36) or with commas (11,3)")]
    Turn(String, usize),
    /// A move of the line is not legal, or a turn ends before its moves are over, or continues after them.
    #[error("turn {turn} of the line: {why} ({at})")]
    Illegal {
        /// The turn, counted from 1.
        turn: usize,
        /// The place on the line before the move, or where the turn ends or should end.
        at: Box<Place>,
        /// The reason.
        why: String,
    },
}

/// Shortens a text for messages and escapes control characters, which a terminal might obey.
fn shown(text: &str) -> String {
    text.chars().take(100).flat_map(char::escape_debug).collect()
}

fn number(text: &str) -> Result<u32, ParseError> {
    let text = text.trim();
    // Digits only: `u32::from_str` would also accept a plus sign.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or_else(|| ParseError::Number(shown(text)))
}

fn numbers(text: &str) -> Result<Vec<u32>, ParseError> {
    text.split(',').map(number).collect()
}

fn row(seeds: &[u32]) -> Result<Row, ParseError> {
    Ok(Row::new(seeds).ok_or(PositionError::Pits(seeds.len()))?)
}

impl FromStr for Position {
    type Err = ParseError;

    /// Reads a Kalah Game Protocol literal `<m,S,N,s1..sm,n1..nm>`, two rows without stores `s1,..,sm/n1,..,nm`, or a
    /// start position `6x4` (or `6X4`).
    fn from_str(text: &str) -> Result<Position, ParseError> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
            let numbers = numbers(inner)?;
            let [pits, mover_store, other_store, rows @ ..] = &*numbers else {
                return Err(ParseError::Shape(shown(text)));
            };
            if rows.len() as u64 != 2 * u64::from(*pits) {
                return Err(ParseError::Shape(shown(text)));
            }
            let (mover, other) = rows.split_at(rows.len() / 2);
            return Ok(Position::new(row(mover)?, row(other)?, *mover_store, *other_store)?);
        }
        if let Some((mover, other)) = text.split_once('/') {
            return Ok(Position::new(row(&numbers(mover)?)?, row(&numbers(other)?)?, 0, 0)?);
        }
        text.parse::<StartPosition>()?.position()
    }
}

impl fmt::Display for Position {
    /// Writes the Kalah Game Protocol literal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{},{},{}", self.pits(), self.mover_store(), self.other_store())?;
        for seeds in self.mover().seeds().iter().chain(self.other().seeds()) {
            write!(f, ",{seeds}")?;
        }
        write!(f, ">")
    }
}

/// A start position: pits a side and seeds in each, written `6x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StartPosition {
    /// Pits a side, 1 to [`MAX_PITS`].
    pub pits: usize,
    /// Seeds in each pit.
    pub seeds: u32,
}

impl StartPosition {
    /// Returns the position: all pits alike, stores empty.
    ///
    /// # Errors
    /// When the pits are not 1 to [`MAX_PITS`], or there are too many seeds.
    pub fn position(self) -> Result<Position, ParseError> {
        let seeds = [self.seeds; MAX_PITS];
        let row = row(seeds.get(..self.pits).ok_or(PositionError::Pits(self.pits))?)?;
        Ok(Position::new(row, row, 0, 0)?)
    }
}

impl FromStr for StartPosition {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<StartPosition, ParseError> {
        let shape = || ParseError::Shape(shown(text));
        let (pits, seeds) = text.trim().split_once(['x', 'X']).ok_or_else(shape)?;
        // Many words contain an x. A bad number before it means that the text is not a start position.
        let start = StartPosition { pits: number(pits).map_err(|_| shape())? as usize, seeds: number(seeds)? };
        start.position().map(|_| start)
    }
}

impl fmt::Display for StartPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.pits, self.seeds)
    }
}

/// A line of play: the turns of alternating players, each with its moves in order.
///
/// The moves of a turn are printed run together, with spaces between turns (`36 2 14`). On boards
/// with more than nine pits, commas separate moves (`11,3 2`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    pits: usize,
    turns: Vec<Vec<Pit>>,
}

impl Line {
    /// An empty line on a board of `pits` pits a side.
    pub fn new(pits: usize) -> Line {
        Line { pits, turns: Vec::new() }
    }

    /// Pits a side of its board.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Adds the moves of one turn.
    pub fn push(&mut self, turn: Vec<Pit>) {
        self.turns.push(turn);
    }

    /// The line of these single moves of both players from `start`. Its last turn may be unfinished. Errors are those
    /// of [`Place::all`].
    pub fn of_moves(rules: Rules, start: &Position, moves: &[Pit]) -> Result<Line, (usize, IllegalMove)> {
        let mut line = Line::new(start.pits());
        for (&pit, before) in moves.iter().zip(Place::all(rules, start, moves)?) {
            match line.turns.last_mut().filter(|_| before.again) {
                Some(turn) => turn.push(pit),
                None => line.push(vec![pit]),
            }
        }
        Ok(line)
    }

    /// The turns. Each holds the moves of one player.
    pub fn turns(&self) -> &[Vec<Pit>] {
        &self.turns
    }

    /// Reads a line of play on a board of `pits` pits a side; an error if something is not a move number of the board.
    /// [`Line::replay`] checks that it is legal.
    pub fn parse(pits: usize, text: &str) -> Result<Line, ParseError> {
        let mut line = Line::new(pits);
        for turn in text.split_whitespace() {
            let wrong = || ParseError::Turn(shown(turn), pits);
            let pit = |number: u32| {
                let pit = Pit::from_number(number as usize).filter(|pit| pit.index() < pits);
                pit.ok_or_else(wrong)
            };
            line.push(if turn.contains(',') || pits > 9 {
                turn.split(',').map(|text| pit(number(text).map_err(|_| wrong())?)).collect::<Result<_, _>>()?
            } else {
                turn.chars().map(|digit| pit(digit.to_digit(10).ok_or_else(wrong)?)).collect::<Result<_, _>>()?
            });
        }
        Ok(line)
    }

    /// Plays the line from `start` and returns the places on it: `start`, then one after every turn. The last turn may
    /// be unfinished.
    ///
    /// # Errors
    /// When a move is illegal, or a turn ends too early or has too many moves.
    pub fn follow(&self, rules: Rules, start: &Position) -> Result<Vec<Place>, ParseError> {
        let mut place = Place::start(start);
        let mut places = vec![place];
        for (moves, turn) in self.turns.iter().zip(1..) {
            place.ended()?;
            let illegal = |place: Place, why: String| ParseError::Illegal { turn, at: Box::new(place), why };
            if moves.is_empty() {
                return Err(illegal(place, "it has no move".to_owned()));
            }
            for (number, &pit) in moves.iter().enumerate() {
                if number > 0 && !place.again {
                    return Err(illegal(place, "it goes on after a move that ended it".to_owned()));
                }
                place = place.after(rules, pit).map_err(|error| illegal(place, error.to_string()))?;
            }
            places.push(place);
        }
        Ok(places)
    }

    /// Plays the line from `start` and returns the position at its end, seen by the player to move there. Errors are
    /// those of [`Line::follow`]; an unfinished last turn is one, too.
    pub fn replay(&self, rules: Rules, start: &Position) -> Result<Position, ParseError> {
        let places = self.follow(rules, start)?;
        let end = places.last().expect("there is the start");
        end.ended()?;
        Ok(end.position)
    }
}

/// A place on a line of play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Turns played, an unfinished one included.
    pub turns: usize,
    /// Moves played.
    pub moves: usize,
    /// The position, seen by the player to move.
    pub position: Position,
    /// True if the player to move made the first move of the line.
    pub first: bool,
    /// True if the last move was an again-move, so its turn is not over.
    pub again: bool,
}

impl Place {
    /// Plays single moves of both players from `start` and returns the places on the way: `start`, then one after every
    /// move. The error of an illegal move has its index among the moves.
    pub fn all(rules: Rules, start: &Position, moves: &[Pit]) -> Result<Vec<Place>, (usize, IllegalMove)> {
        let mut places = vec![Place::start(start)];
        for (index, &pit) in moves.iter().enumerate() {
            places.push(places[index].after(rules, pit).map_err(|error| (index, error))?);
        }
        Ok(places)
    }

    fn start(position: &Position) -> Place {
        Place { turns: 0, moves: 0, position: *position, first: true, again: false }
    }

    /// The place after a move.
    fn after(&self, rules: Rules, pit: Pit) -> Result<Place, IllegalMove> {
        let Played { position, again, .. } = self.position.play(rules, pit)?;
        let turns = self.turns + usize::from(!self.again);
        Ok(Place { turns, moves: self.moves + 1, position, first: self.first == again, again })
    }

    /// Converts a value between the player to move and the player who moved first on the line.
    pub fn turned(&self, value: i64) -> i64 {
        if self.first { value } else { value.saturating_neg() }
    }

    /// Returns an error if the last turn is not over.
    fn ended(&self) -> Result<(), ParseError> {
        let why = "it is not over: its last move gives another one, to be written in the same word, as 36 or 3,6";
        let illegal = || ParseError::Illegal { turn: self.turns, at: Box::new(*self), why: why.to_owned() };
        if self.again { Err(illegal()) } else { Ok(()) }
    }
}

impl fmt::Display for Place {
    /// Writes the moves played, the position and the legal moves, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moves: Vec<String> = self.position.moves().map(|pit| pit.to_string()).collect();
        let moves = if moves.is_empty() { "no move".to_owned() } else { moves.join(" ") };
        write!(f, "after {}, at {}; legal there: {moves}", count(self.moves, "move"), self.position)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = if self.pits > 9 { "," } else { "" };
        for (index, turn) in self.turns.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            for (index, pit) in turn.iter().enumerate() {
                write!(f, "{}{pit}", if index > 0 { comma } else { "" })?;
            }
        }
        Ok(())
    }
}
