use std::collections::{HashMap, HashSet};
use std::fmt;

use kalah_base::diagnostic::Diagnostic;
use kalah_core::game::{Bounds, Pit, Place, Position, Rules, ValueBounds};
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

impl OpeningBounds {
    /// The moves with dashes: `3-6`.
    pub fn name(&self) -> String {
        self.moves.iter().map(Pit::to_string).collect::<Vec<_>>().join("-")
    }
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

/// Error of an invalid statement: too many seeds, crossed bounds, or an opening that is empty or illegal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StatementError(String);

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

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(opening) = self.opening {
            write!(f, "opening {} of ", opening + 1)?;
        }
        write!(f, "the statement: the score of {} is {}", self.position, self.bound)
    }
}

impl Statement {
    /// All possible values of a position, for its mover.
    pub fn all_values(position: &Position) -> ValueBounds {
        ValueBounds { lower: position.value(0), upper: position.value(position.seeds()) }
    }

    /// The bounds to show, as bounds of scores: openings first, then the position. Trivial bounds are left out.
    ///
    /// # Errors
    /// If the statement is invalid: the position has too many seeds, an opening is empty or illegal, or bounds
    /// contradict each other.
    pub fn goals(&self) -> Result<Vec<Goal>, StatementError> {
        let seeds = self.position.seeds() as usize;
        if seeds > MAX_SEEDS || ClaimKeys::new(self.position.pits()).sequences(seeds).is_none() {
            let what = "has too many seeds for a certificate: its positions cannot be numbered below 2^120";
            return Err(StatementError(format!("{} {what}", self.position)));
        }
        let mut goals = Vec::new();
        for (index, opening) in self.openings.iter().enumerate() {
            let invalid = |what: String| StatementError(format!("opening {}{what}", index + 1));
            let places = Place::all(self.rules, &self.position, &opening.moves);
            let places = places.map_err(|(_, source)| invalid(format!(": {source}")))?;
            let [_, .., Place { position, first, .. }] = places[..] else {
                return Err(invalid(" has no moves".to_owned()));
            };
            let ValueBounds { lower, upper } = opening.bounds;
            let bounds = if first {
                opening.bounds
            } else {
                ValueBounds { lower: upper.saturating_neg(), upper: lower.saturating_neg() }
            };
            goals.extend(goals_of(Some(index), position, bounds)?);
        }
        goals.extend(goals_of(None, self.position, self.bounds)?);
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

/// The goals for bounds of a value for the mover. Trivial ones are left out. An impossible bound stays impossible.
fn goals_of(
    opening: Option<usize>,
    position: Position,
    bounds: ValueBounds,
) -> Result<impl Iterator<Item = Goal>, StatementError> {
    let ValueBounds { lower, upper } = bounds;
    if lower > upper {
        return Err(StatementError(format!("a value cannot be at least {lower} and at most {upper}")));
    }
    let seeds = position.seeds();
    let [lower, upper] = score_bounds(&position, bounds);
    let at_least = Bound::AtLeast(lower.clamp(0, i64::from(seeds) + 1) as u32);
    let at_most = u32::try_from(upper.min(seeds.into())).map_or(Bound::AtLeast(seeds + 1), Bound::AtMost);
    let bounds = [at_least, at_most].into_iter().filter(move |bound| !bound.is_trivial(seeds));
    Ok(bounds.map(move |bound| Goal { opening, position, bound }))
}

/// Converts bounds of a value for the mover to those of the score, which may be impossible ones.
pub(crate) fn score_bounds(position: &Position, bounds: ValueBounds) -> [i64; 2] {
    // value = least + 2 score.
    let twice = |value: i64| value.saturating_sub(position.value(0));
    [twice(bounds.lower).saturating_add(1).div_euclid(2), twice(bounds.upper).div_euclid(2)]
}
