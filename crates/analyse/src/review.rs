use std::time::Duration;

use kalah_core::game::{Bounds, Pit, Place, Position, Rules, ValueBounds};
use kalah_core::table::Tables;
use kalah_solve::book::{Book, BookError, Recalled};
use kalah_solve::solve::{SolveError, Solver};
use serde::Serialize;

/// Minimum seeds that a mistake loses. It keeps the outcome.
const MISTAKE: i64 = 4;

/// Seeds lost by a move or turn that leads from `value` to `after`, final store differences for the same player. A
/// seed that goes to the other player changes the difference by two.
pub fn seeds_lost(value: i64, after: i64) -> i64 {
    (value - after) / 2
}

/// Quality of a move or turn, by exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveQuality {
    /// It loses nothing.
    Best,
    /// It loses seeds, but fewer than a mistake, and not the outcome.
    Inaccuracy,
    /// It loses at least four seeds, but not the outcome.
    Mistake,
    /// It turns a win into a draw or loss, or a draw into a loss.
    Blunder,
}

impl MoveQuality {
    /// Classifies a move or turn by the `value` of the position for the mover and the value `after` the move
    /// for the same player. Both are final store differences.
    pub fn of(value: i64, after: i64) -> MoveQuality {
        match seeds_lost(value, after) {
            ..=0 => MoveQuality::Best,
            _ if after.signum() < value.signum() => MoveQuality::Blunder,
            MISTAKE.. => MoveQuality::Mistake,
            _ => MoveQuality::Inaccuracy,
        }
    }

    /// The mark in annotated games: nothing, `?!`, `?` or `??`.
    pub fn mark(self) -> &'static str {
        match self {
            MoveQuality::Best => "",
            MoveQuality::Inaccuracy => "?!",
            MoveQuality::Mistake => "?",
            MoveQuality::Blunder => "??",
        }
    }

    /// The name in JSON documents.
    pub fn name(self) -> &'static str {
        match self {
            MoveQuality::Best => "best",
            MoveQuality::Inaccuracy => "inaccuracy",
            MoveQuality::Mistake => "mistake",
            MoveQuality::Blunder => "blunder",
        }
    }
}

/// Statistics of one player: moves or turns with a choice whose quality is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QualityTally {
    /// All of them.
    pub evaluated: u32,
    /// Those that lost nothing.
    pub best: u32,
    /// Number of inaccuracies.
    pub inaccuracies: u32,
    /// Number of mistakes.
    pub mistakes: u32,
    /// Number of blunders.
    pub blunders: u32,
    /// Seeds that they lost in all.
    #[serde(rename = "seeds_lost")]
    pub lost: i64,
}

impl QualityTally {
    /// Adds a move or turn: `value` of the position, and its value `after` the move, for the same player. Of bounds,
    /// those that make the loss least.
    pub fn add(&mut self, value: i64, after: i64) {
        self.evaluated += 1;
        self.lost += seeds_lost(value, after);
        let count = match MoveQuality::of(value, after) {
            MoveQuality::Best => &mut self.best,
            MoveQuality::Inaccuracy => &mut self.inaccuracies,
            MoveQuality::Mistake => &mut self.mistakes,
            MoveQuality::Blunder => &mut self.blunders,
        };
        *count += 1;
    }

    /// Share of the best moves in percent, to one decimal; `None` if there are no moves.
    pub fn accuracy(&self) -> Option<f64> {
        (self.evaluated > 0).then(|| (1000.0 * f64::from(self.best) / f64::from(self.evaluated)).round() / 10.0)
    }
}

/// Source of bounds of positions of one board: the rules, a book and tables at once, else a solver with a limit
/// of time.
#[derive(Debug)]
pub struct BoundsSource<'s> {
    book: Option<&'s Book>,
    /// Replaces a missing book.
    empty: Book,
    tables: Option<&'s Tables>,
    solver: Option<(&'s Solver<'s>, Duration)>,
}

impl<'s> BoundsSource<'s> {
    /// Uses the rules, `book` and `tables`. These must be for these rules and this number of pits.
    pub fn new(rules: Rules, pits: usize, book: Option<&'s Book>, tables: Option<&'s Tables>) -> BoundsSource<'s> {
        BoundsSource { book, empty: Book::new(rules, pits), tables, solver: None }
    }

    /// Also uses `solver`, for up to `within` for each position.
    #[must_use]
    pub fn search(self, solver: &'s Solver<'s>, within: Duration) -> BoundsSource<'s> {
        BoundsSource { solver: Some((solver, within)), ..self }
    }

    /// Bounds of a position and of its moves, without a search.
    ///
    /// # Errors
    /// If the book and the tables contradict each other, or a table is damaged.
    pub fn at_once(&self, position: &Position) -> Result<Recalled, BookError> {
        self.book.unwrap_or(&self.empty).recall(position, self.tables)
    }

    /// Bounds of the score of a position, exact if a search finishes in time. The search begins with `guess`, a
    /// value.
    ///
    /// # Errors
    /// As [`BoundsSource::at_once`]; also if the solver fails or is stopped.
    pub fn bounds(&self, position: &Position, guess: Option<i64>) -> Result<Bounds, SolveError> {
        let known = self.at_once(position)?.bounds;
        let Some((solver, within)) = self.solver.filter(|_| known.lower < known.upper) else { return Ok(known) };
        let guess = guess.map_or_else(|| solver.first_guess(position), Ok)?;
        let found = solver.in_time(within, |solver| solver.value(position, guess))?;
        let found =
            found.map_or_else(|| solver.known(position), |(score, _)| Ok(Bounds { lower: score, upper: score }))?;
        Ok(Bounds { lower: known.lower.max(found.lower), upper: known.upper.min(found.upper) })
    }

    /// The moves of a position that keep its `score`; `None` if the search does not finish in time.
    ///
    /// # Errors
    /// As [`BoundsSource::bounds`].
    pub(crate) fn best_moves(&self, position: &Position, score: u32) -> Result<Option<Vec<Pit>>, SolveError> {
        let known = self.at_once(position)?;
        if known.is_decided() {
            return Ok(Some(known.best().collect()));
        }
        let Some((solver, within)) = self.solver else { return Ok(None) };
        solver.in_time(within, |solver| solver.best_moves(position, score))
    }
}

/// A turn of a game, with its loss.
#[derive(Clone, Debug)]
pub struct ReviewedTurn {
    /// The position before it.
    pub place: Place,
    /// Its moves.
    pub moves: Vec<Pit>,
    /// Value of the position before it, for its player.
    pub value: ValueBounds,
    /// Value after it, for the same player.
    pub worth: ValueBounds,
    /// True if at least one of its moves was a choice.
    pub choice: bool,
    /// Beginnings of the best turns: up to the first move where this turn lost something, else up to the first
    /// move. Empty if unknown.
    pub best: Vec<Vec<Pit>>,
}

impl ReviewedTurn {
    /// Seeds lost; `None` unless both values are exact.
    pub fn lost(&self) -> Option<i64> {
        Some(seeds_lost(self.value.value()?, self.worth.value()?))
    }

    /// Seeds that it lost at least.
    pub fn least_lost(&self) -> i64 {
        seeds_lost(self.value.lower, self.worth.upper).max(0)
    }

    /// Quality of the turn: with bounds the best one that they allow. `None` if the turn may be best, or not.
    pub fn quality(&self) -> Option<MoveQuality> {
        let quality = MoveQuality::of(self.value.lower, self.worth.upper);
        (self.lost().is_some() || quality != MoveQuality::Best).then_some(quality)
    }
}

/// A reviewed game.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Review {
    /// The turns.
    pub turns: Vec<ReviewedTurn>,
    /// Value of the start for the first player.
    pub value: ValueBounds,
    /// Statistics of the first and the second player.
    pub tallies: [QualityTally; 2],
}

/// Reviews a game by its `turns` and the `places` before and after them, which [`Line::follow`] returns. The last turn
/// comes first: bounds of later positions speed up the earlier ones. Calls `report` before each position that it
/// evaluates.
///
/// [`Line::follow`]: kalah_core::game::Line::follow
///
/// # Errors
/// If the book or a table cannot be used, or a search fails or is stopped.
pub fn review(
    rules: Rules,
    places: &[Place],
    turns: &[Vec<Pit>],
    source: &BoundsSource,
    report: &dyn Fn(&Place),
) -> Result<Review, SolveError> {
    let last = &places[turns.len()];
    report(last);
    let mut after = evaluate(source, &last.position, None)?;
    let mut reviewed = Vec::new();
    for (index, moves) in turns.iter().enumerate().rev() {
        let (place, next) = (places[index], places[index + 1]);
        report(&place);
        let worth = if place.first == next.first { after } else { turned(after) };
        let value = evaluate(source, &place.position, worth.value())?;
        // No turn is better than its position.
        let worth = ValueBounds { upper: worth.upper.min(value.upper), ..worth };
        let value = ValueBounds { lower: value.lower.max(worth.lower), ..value };
        let best = match value.value() {
            Some(value) => best_turns(rules, source, &place.position, moves, value, worth)?,
            None => Vec::new(),
        };
        let choice = positions(rules, &place.position, moves).iter().any(|position| position.moves().count() > 1);
        reviewed.push(ReviewedTurn { place, moves: moves.clone(), value, worth, choice, best });
        after = value;
    }
    reviewed.reverse();
    let mut tallies = [QualityTally::default(); 2];
    for turn in reviewed.iter().filter(|turn| turn.choice && turn.quality().is_some()) {
        tallies[usize::from(!turn.place.first)].add(turn.value.lower, turn.worth.upper);
    }
    Ok(Review { turns: reviewed, value: after, tallies })
}

/// Positions before the moves of a turn, all seen by its player.
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
fn evaluate(source: &BoundsSource, position: &Position, guess: Option<i64>) -> Result<ValueBounds, SolveError> {
    let Bounds { lower, upper } = source.bounds(position, guess)?;
    Ok(ValueBounds { lower: position.value(lower), upper: position.value(upper) })
}

/// The bounds for the other player.
fn turned(bounds: ValueBounds) -> ValueBounds {
    ValueBounds { lower: -bounds.upper, upper: -bounds.lower }
}

/// Beginnings of the best turns of a position of this `value`, given a turn of `moves` with value `worth`;
/// empty if unknown.
fn best_turns(
    rules: Rules,
    source: &BoundsSource,
    position: &Position,
    moves: &[Pit],
    value: i64,
    worth: ValueBounds,
) -> Result<Vec<Vec<Pit>>, SolveError> {
    let positions = positions(rules, position, moves);
    let mut at = 0;
    if worth.upper < value {
        // The loss is at the last position that still has the full value.
        while let Some(next) = positions.get(at + 1) {
            match evaluate(source, next, Some(value))?.value() {
                Some(next) if next == value => at += 1,
                Some(_) => break,
                None => return Ok(Vec::new()),
            }
        }
    }
    let Some(position) = positions.get(at) else { return Ok(Vec::new()) };
    let best = source.best_moves(position, position.score(value))?.unwrap_or_default();
    Ok(best.into_iter().map(|pit| [&moves[..at], &[pit]].concat()).collect())
}
