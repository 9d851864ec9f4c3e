use std::collections::{HashMap, HashSet};

use kalah_base::diagnostic::Diagnostic;
use kalah_core::game::{Bounds, IllegalMove, Line, Pit, Place, Position, Rules, ValueBounds};
use kalah_core::table::TableError;
use kalah_solve::bounds::{Bound, ClaimKeys, ClaimSet, MAX_SEEDS};

use super::check::{Checker, Reason};

/// A certificate's statement: bounds of the value of a position and of its openings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The rule set.
    pub rules: Rules,
    /// The position, with its stores.
    pub position: Position,
    /// Bounds of its value for the mover. A bound that is not stated has its value in
    /// [`Statement::all_values`].
    pub bounds: ValueBounds,
    /// Bounds stated of moves from the position; often none.
    pub openings: Vec<OpeningBounds>,
}

/// Moves from the position of a statement, and bounds of the value that they lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningBounds {
    /// The moves from the position on, at least one. The rules determine which moves end a turn.
    pub moves: Vec<Pit>,
    /// Bounds of the value after these moves with best play, for the mover of the *statement's position*.
    pub bounds: ValueBounds,
}

/// All of a certificate except its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The statement.
    pub statement: Statement,
    /// The effort k: searches of the checker visit at most 2^k nodes; with k = 0 it does not search. At most
    /// [`Checker::MAX_EFFORT`].
    pub effort: u32,
    /// Digests of the tables that the proof rests on, for 2 seeds, 3 seeds and so on; empty without tables.
    pub tables: Vec<[u8; 32]>,
}

impl Head {
    /// The seeds of the largest table that the proof rests on; 0 without tables.
    pub fn table_seeds(&self) -> usize {
        if self.tables.is_empty() { 0 } else { self.tables.len() + 1 }
    }
}

/// One digest for the tables with these digests: BLAKE3 of all, one after the other; `None` without tables.
pub fn digest_of_tables(digests: &[[u8; 32]]) -> Option<[u8; 32]> {
    (!digests.is_empty()).then(|| *blake3::hash(digests.as_flattened()).as_bytes())
}

/// A statement with its proof.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Statement, effort and tables.
    pub head: Head,
    /// The claims of the proof.
    pub claims: ClaimSet,
}

/// Error of an invalid statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The position has too many seeds for a certificate.
    #[error("{0} has too many seeds for a certificate: its positions cannot be numbered below 2^120")]
    Seeds(Box<Position>),
    /// A lower bound is above the upper one.
    #[error("a value cannot be at least {} and at most {}", .0.lower, .0.upper)]
    Bounds(ValueBounds),
    /// An opening has no moves.
    #[error("opening {0} has no moves")]
    NoMoves(usize),
    /// An opening has an illegal move.
    #[error("opening {opening}: {source}")]
    Illegal {
        /// The opening, counted from 1.
        opening: usize,
        /// The reason.
        source: IllegalMove,
    },
}

impl Diagnostic for StatementError {}

/// A part of a statement: one bound of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Index of the opening; `None` for the position of the statement itself.
    pub opening: Option<usize>,
    /// The position.
    pub position: Position,
    /// The bound of its score to show.
    pub bound: Bound,
}

impl Statement {
    /// All possible values of a position, for its mover.
    pub fn all_values(position: &Position) -> ValueBounds {
        ValueBounds { lower: position.value(0), upper: position.value(position.seeds()) }
    }

    /// The moves of an opening as a line of play; empty if one is illegal.
    pub fn line(&self, opening: &OpeningBounds) -> Line {
        let line = Line::of_moves(self.rules, &self.position, &opening.moves);
        line.unwrap_or_else(|_| Line::new(self.position.pits()))
    }

    /// The bounds to show, as bounds of scores: openings first, then the position. Trivial bounds are left out.
    ///
    /// # Errors
    /// If the statement is invalid: an opening is illegal, or bounds contradict each other.
    pub fn goals(&self) -> Result<Vec<Goal>, StatementError> {
        let seeds = self.position.seeds() as usize;
        if seeds > MAX_SEEDS || ClaimKeys::new(self.position.pits()).sequences(seeds).is_none() {
            return Err(StatementError::Seeds(Box::new(self.position)));
        }
        let mut goals = Vec::new();
        for (index, opening) in self.openings.iter().enumerate() {
            if opening.moves.is_empty() {
                return Err(StatementError::NoMoves(index + 1));
            }
            let places = Place::all(self.rules, &self.position, &opening.moves);
            let places = places.map_err(|(_, source)| StatementError::Illegal { opening: index + 1, source })?;
            let Place { position, first, .. } = places[opening.moves.len()];
            let ValueBounds { lower, upper } = opening.bounds;
            let bounds = if first {
                opening.bounds
            } else {
                ValueBounds { lower: upper.saturating_neg(), upper: lower.saturating_neg() }
            };
            goals.extend(score_bounds(&position, bounds)?.map(|bound| Goal { opening: Some(index), position, bound }));
        }
        let position = self.position;
        goals.extend(score_bounds(&position, self.bounds)?.map(|bound| Goal { opening: None, position, bound }));
        Ok(goals)
    }
}

impl Goal {
    /// Reason why the goal follows from these claims, which a callback returns; `None` if it does not. It may also
    /// follow within the turn, through positions after again-moves without claims. Without claims, effort 0 asks for
    /// all positions that other claims and efforts may ask for.
    ///
    /// # Errors
    /// If a table cannot be read.
    ///
    /// # Panics
    /// If checker and claims are for other boards than the goal.
    pub fn reason(
        &self,
        checker: &mut Checker,
        claims: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<Option<Reason>, TableError> {
        let claimed = claims(&self.position);
        if claimed.is_some_and(|bounds| self.bound.is_implied_by(bounds)) {
            return Ok(Some(Reason::Claim));
        }
        let inferred = inferred(checker, &self.position, claims)?;
        checker.reason(&self.position, self.bound, &|position| {
            inferred.get(position).copied().or_else(|| claims(position))
        })
    }
}

/// Bounds of the positions reached from `position` by again-moves, itself included: those `claimed`, and those that
/// follow within the turn.
///
/// # Errors
/// If a table cannot be read.
pub(super) fn inferred(
    checker: &Checker,
    position: &Position,
    claimed: &impl Fn(&Position) -> Option<Bounds>,
) -> Result<HashMap<Position, Bounds>, TableError> {
    // Every again-move stores a seed, so positions of the turn follow from those with fewer seeds.
    let mut turn = turn(checker, position);
    turn.sort_by_key(Position::seeds);
    let mut inferred: HashMap<Position, Bounds> = HashMap::new();
    for position in turn {
        let known = |position: &Position| inferred.get(position).copied().or_else(|| claimed(position));
        let follows = checker.one_ply(&position, &known)?;
        let claimed = known(&position).unwrap_or(follows);
        let (lower, upper) = (claimed.lower.max(follows.lower), claimed.upper.min(follows.upper));
        inferred.insert(position, Bounds { lower, upper });
    }
    Ok(inferred)
}

/// The positions reached from `position` by again-moves, itself included; at most some thousands.
fn turn(checker: &Checker, position: &Position) -> Vec<Position> {
    const MOST: usize = 10_000;
    let mut turn = vec![position.without_stores()];
    let mut seen = HashSet::from([turn[0]]);
    let mut at = 0;
    while at < turn.len().min(MOST) {
        turn.extend(checker.again_moves(&turn[at]).into_iter().filter(|&next| seen.insert(next)));
        at += 1;
    }
    turn
}

/// Converts bounds of a value for the mover to bounds of the score. Trivial bounds are left out. An impossible
/// bound stays impossible.
fn score_bounds(
    position: &Position,
    bounds: ValueBounds,
) -> Result<impl Iterator<Item = Bound> + use<>, StatementError> {
    let ValueBounds { lower, upper } = bounds;
    if lower > upper {
        return Err(StatementError::Bounds(bounds));
    }
    let seeds = position.seeds();
    let (least, most) = (position.value(0), i64::from(seeds));
    // value = least + 2 score.
    let at_least = lower.saturating_sub(least).saturating_add(1).div_euclid(2).clamp(0, most + 1) as u32;
    let at_most = upper.saturating_sub(least).div_euclid(2).clamp(-1, most);
    let at_most = u32::try_from(at_most).map(Bound::AtMost);
    // Scores are from 0 to the seeds in play.
    let at_most = at_most.unwrap_or(Bound::AtLeast(seeds + 1));
    Ok([Bound::AtLeast(at_least), at_most].into_iter().filter(move |bound| !bound.is_trivial(seeds)))
}
