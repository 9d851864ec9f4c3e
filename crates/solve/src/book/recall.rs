use kalah_core::game::{Bounds, Line, Pit, Position};
use kalah_core::table::{ProbeError, Tables};

use super::book::{Book, BookError};
use crate::bounds::ClaimError;

/// Bounds of a position from a book, the rules and tables, without a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recalled {
    /// Bounds of the score.
    pub bounds: Bounds,
    /// The legal moves, each with bounds of the seeds that the mover collects with it.
    pub moves: Vec<(Pit, Bounds)>,
    /// True if the book contains the position or a position after its moves. Otherwise all bounds come from the
    /// rules and tables.
    pub from_book: bool,
}

impl Recalled {
    /// The score, if it is exact.
    pub fn score(&self) -> Option<u32> {
        (self.bounds.lower == self.bounds.upper).then_some(self.bounds.lower)
    }

    /// The moves proved to keep the score; none if the score is not exact.
    pub fn best(&self) -> impl Iterator<Item = Pit> + '_ {
        let score = self.score();
        self.moves
            .iter()
            .filter(move |(_, bounds)| score.is_some_and(|score| bounds.lower >= score))
            .map(|&(pit, _)| pit)
    }

    /// Returns true if the bounds decide for every move whether it keeps the score.
    pub fn is_decided(&self) -> bool {
        let decides = |score: u32| self.moves.iter().all(|(_, bounds)| bounds.lower >= score || bounds.upper < score);
        self.score().is_some_and(decides)
    }

    /// Returns true if the score of every move is exact.
    pub fn is_exact(&self) -> bool {
        self.score().is_some() && self.moves.iter().all(|(_, bounds)| bounds.lower == bounds.upper)
    }
}

impl Book {
    /// Bounds of the position itself from the rules, `tables` and the book.
    fn known(&self, position: &Position, tables: Option<&Tables>) -> Result<Bounds, BookError> {
        if position.is_over() {
            let score = position.mover().total();
            return Ok(Bounds { lower: score, upper: score });
        }
        let known = self.get(position);
        let Some(score) = tables.map_or(Ok(None), |tables| table_score(tables, position))? else {
            return Ok(known.unwrap_or(Bounds { lower: 0, upper: position.seeds() }));
        };
        let exact = Bounds { lower: score, upper: score };
        match known.filter(|known| score < known.lower || score > known.upper) {
            Some(known) => Err(ClaimError::contradiction(position, known, exact, "the tables").into()),
            None => Ok(exact),
        }
    }

    /// Looks up `position` and the positions after its moves in the book, the rules and `tables`.
    ///
    /// # Errors
    /// If these contradict each other, or a table is damaged; if the position or the tables are for another board,
    /// or the tables for other rules.
    pub fn recall(&self, position: &Position, tables: Option<&Tables>) -> Result<Recalled, BookError> {
        if position.pits() != self.pits() {
            return Err(ClaimError::Position(Box::new(position.without_stores())).into());
        }
        let found = (self.rules(), self.pits());
        if let Some(expected) = tables.map(|tables| (tables.rules(), tables.pits())).filter(|&other| other != found) {
            return Err(BookError::Other { found, expected });
        }
        let known = self.known(position, tables)?;
        let (mut moves, mut best) = (Vec::new(), Bounds { lower: 0, upper: 0 });
        let mut from_book = self.get(position).is_some();
        for pit in position.moves() {
            let played = position.play(self.rules(), pit).expect("a legal move");
            let after = self.known(&played.position, tables)?.for_mover(&played, position);
            from_book |= self.get(&played.position).is_some();
            best = Bounds { lower: best.lower.max(after.lower), upper: best.upper.max(after.upper) };
            moves.push((pit, after));
        }
        if moves.is_empty() {
            return Ok(Recalled { bounds: known, moves, from_book });
        }
        let bounds = Bounds { lower: known.lower.max(best.lower), upper: known.upper.min(best.upper) };
        if bounds.lower > bounds.upper {
            return Err(ClaimError::contradiction(position, known, best, "the positions after its moves").into());
        }
        // No move is better than the position.
        for (_, after) in &mut moves {
            after.upper = after.upper.min(bounds.upper);
        }
        Ok(Recalled { bounds, moves, from_book })
    }

    /// A line of best play from `position`, as long as the book, the rules and `tables` give exact scores.
    /// Returns true with it if it reaches the end of the game. Its last turn may be incomplete. Among several
    /// best moves, the one nearest the store is chosen.
    ///
    /// # Errors
    /// As [`Book::recall`].
    pub fn line(&self, position: &Position, tables: Option<&Tables>) -> Result<(Line, bool), BookError> {
        let start = *position;
        let (mut position, mut moves) = (start, Vec::new());
        while !position.is_over() {
            let Some(pit) = self.recall(&position, tables)?.best().last() else { break };
            moves.push(pit);
            position = position.play(self.rules(), pit).expect("a legal move").position;
        }
        let line = Line::of_moves(self.rules(), &start, &moves).expect("legal moves");
        Ok((line, position.is_over()))
    }
}

/// The score of a position in the tables; `None` if it is above them.
fn table_score(tables: &Tables, position: &Position) -> Result<Option<u32>, BookError> {
    if tables.max_seeds().is_none_or(|most| position.seeds() as usize > most) {
        return Ok(None);
    }
    let moves = ProbeError::unless_above(tables.move_scores(position))?.unwrap_or_default();
    Ok(moves.into_iter().map(|(_, score)| score).max())
}
