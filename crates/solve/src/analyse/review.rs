use kalah_core::game::{Bounds, Line, ParseError, Pit, Place, Position, Rules, ValueBounds};

use super::judgement::{Judgement, Tally};
use super::knowledge::{Knowledge, KnowledgeError};

/// A turn of a game, and how good it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReviewedTurn {
    /// The place before it.
    pub place: Place,
    /// Its moves.
    pub moves: Vec<Pit>,
    /// What the position before it is worth to its player.
    pub value: ValueBounds,
    /// What it is worth itself, to the same player.
    pub worth: ValueBounds,
    /// Whether there was a choice at one of its moves.
    pub choice: bool,
    /// How the best turns begin: up to the first move where this one lost something, else up to the first move. Empty where they
    /// are not known.
    pub best: Vec<Vec<Pit>>,
}

impl ReviewedTurn {
    /// What it loses of the final store difference; `None` if both values are not exact.
    pub fn lost(&self) -> Option<i64> {
        Some(self.value.value()? - self.worth.value()?)
    }

    /// How good it is; `None` if both values are not exact.
    pub fn judgement(&self) -> Option<Judgement> {
        Some(Judgement::of(self.value.value()?, self.worth.value()?))
    }
}

/// A reviewed game.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Review {
    /// The turns.
    pub turns: Vec<ReviewedTurn>,
    /// What the start is worth to the first player.
    pub value: ValueBounds,
    /// How the first and the second player played.
    pub tallies: [Tally; 2],
}

/// Why a game cannot be reviewed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// It is not legal.
    #[error("{0}")]
    Line(#[from] ParseError),
    /// Nothing can be found out about a position of it.
    #[error("{0}")]
    Knowledge(#[from] KnowledgeError),
}

/// Reviews the game that `line` is, from `start`: the last turn first, since what is proved of later positions helps with
/// earlier ones. `tell` is called before each position that is evaluated.
///
/// # Errors
/// When the game is not legal, the book or a table cannot be used, or a search fails or is stopped.
pub fn review(
    rules: Rules,
    start: &Position,
    line: &Line,
    knowledge: &Knowledge,
    tell: &dyn Fn(&Place),
) -> Result<Review, ReviewError> {
    let places = line.follow(rules, start)?;
    let last = places.last().expect("there is the start");
    tell(last);
    let mut after = evaluate(knowledge, &last.position, None)?;
    let mut turns = Vec::new();
    for (index, moves) in line.turns().iter().enumerate().rev() {
        let (place, next) = (places[index], places[index + 1]);
        tell(&place);
        let worth = if place.first == next.first { after } else { turned(after) };
        let value = evaluate(knowledge, &place.position, worth.value())?;
        // No turn is worth more than its position.
        let worth = ValueBounds { upper: worth.upper.min(value.upper), ..worth };
        let value = match worth.value() {
            Some(worth) => ValueBounds { lower: value.lower.max(worth), ..value },
            None => value,
        };
        let best = match value.value() {
            Some(value) => best_turns(rules, knowledge, &place.position, moves, value, worth)?,
            None => Vec::new(),
        };
        let choice = positions(rules, &place.position, moves).iter().any(|position| position.moves().count() > 1);
        turns.push(ReviewedTurn { place, moves: moves.clone(), value, worth, choice, best });
        after = value;
    }
    turns.reverse();
    let mut tallies = [Tally::default(); 2];
    for turn in turns.iter().filter(|turn| turn.choice) {
        if let (Some(value), Some(worth)) = (turn.value.value(), turn.worth.value()) {
            tallies[usize::from(!turn.place.first)].add(value, worth);
        }
    }
    Ok(Review { turns, value: after, tallies })
}

/// The positions in which the moves of a turn are made, all seen by its player.
fn positions(rules: Rules, start: &Position, moves: &[Pit]) -> Vec<Position> {
    let mut position = *start;
    let step = |&pit: &Pit| {
        let before = position;
        position = position.play(rules, pit).expect("the line was followed").position;
        before
    };
    moves.iter().map(step).collect()
}

/// Bounds of the value of a position for its mover.
fn evaluate(knowledge: &Knowledge, position: &Position, guess: Option<i64>) -> Result<ValueBounds, KnowledgeError> {
    let Bounds { lower, upper } = knowledge.bounds(position, guess)?;
    Ok(ValueBounds { lower: position.value(lower), upper: position.value(upper) })
}

/// The same for the other player.
fn turned(bounds: ValueBounds) -> ValueBounds {
    ValueBounds { lower: -bounds.upper, upper: -bounds.lower }
}

/// How the best turns of a position of this `value` begin, where the turn of `moves` is `worth` that; empty if that is not known.
fn best_turns(
    rules: Rules,
    knowledge: &Knowledge,
    position: &Position,
    moves: &[Pit],
    value: i64,
    worth: ValueBounds,
) -> Result<Vec<Vec<Pit>>, KnowledgeError> {
    let positions = positions(rules, position, moves);
    let mut at = 0;
    if worth.upper < value {
        // The last position that is still worth as much is where the loss happened.
        while let Some(next) = positions.get(at + 1) {
            match evaluate(knowledge, next, Some(value))?.value() {
                Some(next) if next == value => at += 1,
                Some(_) => break,
                None => return Ok(Vec::new()),
            }
        }
    }
    let Some(position) = positions.get(at) else { return Ok(Vec::new()) };
    let score = u32::try_from((value - position.value(0)) / 2).unwrap_or(0);
    let best = knowledge.best_moves(position, score)?.unwrap_or_default();
    Ok(best.into_iter().map(|pit| [&moves[..at], &[pit]].concat()).collect())
}
