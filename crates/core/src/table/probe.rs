use super::error::{TableError, missing_layers};
use super::key::TableKey;
use super::tables::Tables;
use crate::directory::Directory;
use crate::game::{Line, Pit, Position, Row, Rules};
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, TableRow, row_seeds, table_row};
use crate::text::count;

/// The contents of the tables for a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// The position.
    pub position: Position,
    /// Seeds in play that the mover collects with best play.
    pub score: u32,
    /// The final store difference for the mover.
    pub value: i64,
    /// Every legal move with the mover's score after it, its own gain included. Empty once the game is over.
    pub moves: Vec<(Pit, u32)>,
    /// A line of best play to the end of the game; among equal moves it takes the one nearest the store. Empty if only
    /// the moves were looked up.
    pub line: Line,
}

impl Probe {
    /// The result for a finished game, which needs no table; `None` while the game goes on.
    pub fn of_finished(position: &Position) -> Option<Probe> {
        let (score, value) = (position.mover().total(), position.final_value()?);
        Some(Probe { position: *position, score, value, moves: Vec::new(), line: Line::new(position.pits()) })
    }

    /// The moves that reach the score.
    pub fn best(&self) -> impl Iterator<Item = Pit> + '_ {
        self.moves.iter().filter(|&&(_, score)| score == self.score).map(|&(pit, _)| pit)
    }
}

/// Reasons why a position cannot be looked up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The position has more seeds in play than the largest table with all tables below it.
    #[error("{position} has {} seeds in play, and {} in {directory}", key.seeds, missing_layers(missing))]
    AboveTables {
        /// The position.
        position: Box<Position>,
        /// The directory of the tables.
        directory: Directory,
        /// The table that would hold the position.
        key: TableKey,
        /// The missing layers up to that table, fewest seeds first.
        missing: Vec<usize>,
    },
    /// No table can hold the position.
    #[error(
        "{position} has {} a side and {} in play: tables end at {MAX_TABLE_PITS} pits and \
         {MAX_TABLE_SEEDS} seeds",
        count(position.pits(), "pit"), count(position.seeds() as usize, "seed")
    )]
    BeyondTables {
        /// The position.
        position: Box<Position>,
        /// The directory of the tables.
        directory: Directory,
        /// The rule set.
        rules: Rules,
    },
    /// The tables are for boards with another number of pits.
    #[error("{position} has {} a side, the tables have {tables}", count(*pits, "pit"))]
    OtherPits {
        /// The position.
        position: Box<Position>,
        /// Pits a side of the position.
        pits: usize,
        /// Pits a side of the tables.
        tables: usize,
    },
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
}

impl ProbeError {
    /// Returns what was found, or the error of a table; `None` if the position is above the tables or of another board.
    pub fn unless_above<F>(found: Result<F, ProbeError>) -> Result<Option<F>, TableError> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(ProbeError::Table(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

impl Tables {
    /// Looks up `position`: score, moves, and a line of best play.
    ///
    /// # Errors
    /// When the position is above the tables, a checksum does not match, or scores contradict each other.
    pub fn probe(&self, position: &Position) -> Result<Probe, ProbeError> {
        let probe = self.probe_moves(position)?;
        let mut line = Line::new(position.pits());
        let mut next = *position;
        let mut known = Some((probe.score, probe.moves.clone()));
        while !next.is_over() {
            let mut turn = Vec::new();
            loop {
                let (target, moves) = known.take().map_or_else(|| self.scores(&next), Ok)?;
                let Some(&(pit, _)) = moves.iter().rev().find(|&&(_, score)| score == target) else {
                    return Err(self.inconsistent(&next).into());
                };
                turn.push(pit);
                let played = next.play(self.rules(), pit).map_err(|_| self.inconsistent(&next))?;
                next = played.position;
                if !played.again {
                    break;
                }
            }
            line.push(turn);
        }
        Ok(Probe { line, ..probe })
    }

    /// Looks up `position` without a line of best play: the score and the moves. It reads the scores of its moves only,
    /// while [`Tables::probe`] reads those of all positions of the line.
    pub fn probe_moves(&self, position: &Position) -> Result<Probe, ProbeError> {
        self.reaches(position)?;
        let (score, moves) = self.scores(position)?;
        let line = Line::new(position.pits());
        Ok(Probe { position: *position, score, value: position.value(score), moves, line })
    }

    /// Score of `position` by one read, where [`Tables::probe`] looks up every position on the line of best play.
    pub fn score(&self, position: &Position) -> Result<u32, ProbeError> {
        self.reaches(position)?;
        Ok(self.game_score(position.mover(), position.other())?)
    }

    /// Value of `position`: the mover's final store difference with best play, stores included. Errors are those of
    /// [`Tables::probe`].
    pub fn value(&self, position: &Position) -> Result<i64, ProbeError> {
        Ok(position.value(self.score(position)?))
    }

    /// Every legal move of `position` with the mover's score after it, its own gain included. Empty once the game is
    /// over. Errors are those of [`Tables::probe`].
    pub fn move_scores(&self, position: &Position) -> Result<Vec<(Pit, u32)>, ProbeError> {
        self.reaches(position)?;
        Ok(self.scores(position)?.1)
    }

    /// Returns an error if the tables do not reach `position`.
    fn reaches(&self, position: &Position) -> Result<(), ProbeError> {
        let (pits, seeds) = (position.pits(), position.seeds());
        if position.is_over() {
            return Ok(());
        }
        if pits > MAX_TABLE_PITS || seeds > MAX_TABLE_SEEDS as u32 {
            let (directory, rules) = (self.directory().clone(), self.rules());
            return Err(ProbeError::BeyondTables { position: Box::new(*position), directory, rules });
        }
        if pits != self.pits() {
            return Err(ProbeError::OtherPits { position: Box::new(*position), pits, tables: self.pits() });
        }
        if self.max_seeds().is_none_or(|max| max < seeds as usize) {
            let key = TableKey { rules: self.rules(), pits, seeds: seeds as usize };
            return Err(ProbeError::AboveTables {
                position: Box::new(*position),
                directory: self.directory().clone(),
                key,
                missing: self.missing(key.seeds),
            });
        }
        Ok(())
    }

    /// Score of `position`, and every legal move with the mover's score after it. They must not contradict each other.
    fn scores(&self, position: &Position) -> Result<(u32, Vec<(Pit, u32)>), TableError> {
        if self.is_remote() {
            let after = position.moves().filter_map(|pit| Some(position.play(self.rules(), pit).ok()?.position));
            let rows = |position: Position| Some((table_row(position.mover())?, table_row(position.other())?));
            self.request(&after.chain([*position]).filter_map(rows).collect::<Vec<_>>())?;
        }
        let score = self.game_score(position.mover(), position.other())?;
        let moves = self.scores_after(position)?;
        match moves.iter().map(|&(_, score)| score).max() {
            Some(best) if best != score => Err(self.inconsistent(position)),
            _ => Ok((score, moves)),
        }
    }

    fn scores_after(&self, position: &Position) -> Result<Vec<(Pit, u32)>, TableError> {
        position
            .moves()
            .map(|pit| {
                let played = position.play(self.rules(), pit).map_err(|_| self.inconsistent(position))?;
                let next = played.position;
                let child = self.game_score(next.mover(), next.other())?;
                Ok((pit, played.mover_score(position, child)))
            })
            .collect()
    }

    fn game_score(&self, mover: &Row, other: &Row) -> Result<u32, TableError> {
        if mover.is_empty() || other.is_empty() {
            return Ok(mover.total());
        }
        match (table_row(mover), table_row(other)) {
            (Some(mover_row), Some(other_row)) => {
                let score = u32::from(self.score_rows(&mover_row, &other_row)?);
                let seeds = mover.total() + other.total();
                if score <= seeds { Ok(score) } else { Err(self.damaged_score(&mover_row, &other_row)) }
            }
            // More than 255 seeds in a pit: above all layers.
            _ => self.require((mover.total() + other.total()) as usize).map(|_| 0),
        }
    }

    /// Error for a table whose score is not that of the best move.
    fn inconsistent(&self, position: &Position) -> TableError {
        match (table_row(position.mover()), table_row(position.other())) {
            (Some(mover), Some(other)) => self.damaged_score(&mover, &other),
            _ => TableError::missing(self.directory(), self.key(position.seeds() as usize)),
        }
    }

    /// Error for the table with an impossible score of these rows, both non-empty.
    fn damaged_score(&self, mover: &TableRow, other: &TableRow) -> TableError {
        match self.require(row_seeds(mover) + row_seeds(other)) {
            Ok(table) => table.damaged_score(row_seeds(mover), self.rows().rank(mover), self.rows().rank(other)),
            Err(missing) => missing,
        }
    }
}
