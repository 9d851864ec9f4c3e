use std::fmt;

use kalah_base::printable::signed;
use kalah_core::game::{Bounds, Pit, Place, Position, Rules, ValueBounds, mover_value};
use kalah_core::table::Tables;
use kalah_solve::solve::{Opening, Solver};
use serde::{Deserialize, Serialize};

use super::error::ProveError;
use super::test::{Aim, Progress, Target};
use crate::certificate::{Head, OpeningBounds, Statement};

/// Aim of a request for a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Find its value.
    Find,
    /// Prove that its value is this.
    Value(i64),
    /// Prove that its value is at least this.
    AtLeast(i64),
    /// Prove that its value is at most this.
    AtMost(i64),
    /// Find the values of all its openings, and its own.
    Openings,
}

/// A position, and what to prove of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The rule set.
    pub rules: Rules,
    /// The position, with its stores.
    pub position: Position,
    /// The aim.
    pub wanted: Wanted,
}

/// A part of a request: the position after an opening, or the position of the request itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// The moves from the position of the request; empty for that position itself.
    pub moves: Vec<Pit>,
    /// True if the mover of the request's position is to move here.
    pub is_first: bool,
    /// The position after the moves, with stores.
    pub position: Position,
    /// The aim for its score.
    pub aim: Aim,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { rules, position, wanted } = self;
        match wanted {
            Wanted::Find => write!(f, "the value")?,
            Wanted::Value(value) => write!(f, "value {}", signed(*value))?,
            Wanted::AtLeast(value) => write!(f, "value at least {}", signed(*value))?,
            Wanted::AtMost(value) => write!(f, "value at most {}", signed(*value))?,
            Wanted::Openings => write!(f, "every opening")?,
        }
        write!(f, " of {position} under {rules}")
    }
}

impl Request {
    /// The request to prove a statement.
    pub fn of(statement: &Statement) -> Request {
        let Statement { rules, position, bounds, ref openings } = *statement;
        let all = Statement::all_values(&position);
        let wanted = match (bounds.value(), openings.is_empty()) {
            (_, false) => Wanted::Openings,
            (Some(value), true) => Wanted::Value(value),
            (None, true) if bounds.upper == all.upper => Wanted::AtLeast(bounds.lower),
            (None, true) if bounds.lower == all.lower => Wanted::AtMost(bounds.upper),
            (None, true) => Wanted::Find,
        };
        Request { rules, position, wanted }
    }

    /// The parts, with first guesses from `solver`.
    ///
    /// # Errors
    /// If the value is impossible, every game has it, or the solver is for other boards.
    pub fn parts(&self, solver: &Solver) -> Result<Vec<RequestPart>, ProveError> {
        let Request { position, wanted, .. } = self;
        let part = |aim| RequestPart { moves: Vec::new(), is_first: true, position: *position, aim };
        let seeds = i64::from(position.seeds());
        let least = position.value(0);
        let impossible = |value| {
            ProveError::Request(format!(
                "the value of {position} cannot be {}: possible values are {} to {} in steps of 2",
                signed(value),
                signed(least),
                signed(position.value(position.seeds()))
            ))
        };
        // value = least + 2 score
        let score = |twice: i64, value: i64| {
            let score = Some(twice.div_euclid(2)).filter(|score| (0..=seeds).contains(score));
            score.map(|score| score as u32).ok_or_else(|| impossible(value))
        };
        let parts = match *wanted {
            Wanted::Find => vec![part(Aim::Find { guess: guess(solver, position)? })],
            Wanted::Value(value) => {
                let twice = value.saturating_sub(least);
                if twice % 2 != 0 {
                    return Err(impossible(value));
                }
                vec![part(Aim::Exactly { score: score(twice, value)? })]
            }
            Wanted::AtLeast(value) => {
                vec![part(Aim::AtLeast { score: score(value.saturating_sub(least).saturating_add(1), value)? })]
            }
            Wanted::AtMost(value) => vec![part(Aim::AtMost { score: score(value.saturating_sub(least), value)? })],
            // A finished game has a value, but no openings.
            Wanted::Openings if position.is_over() => vec![part(Aim::Find { guess: guess(solver, position)? })],
            Wanted::Openings => {
                let opening = |Opening { moves, position, .. }| {
                    let aim = Aim::Find { guess: guess(solver, &position)? };
                    Ok(self.part(moves, aim).expect("openings are legal"))
                };
                Opening::all(solver.rules(), position).into_iter().map(opening).collect::<Result<_, ProveError>>()?
            }
        };
        // A certificate of it would state nothing, and checks refuse those.
        if parts.iter().all(|part| part.moves.is_empty() && part.target().is_trivial()) {
            return Err(ProveError::trivial(position));
        }
        Ok(parts)
    }

    /// The part after these moves; `None` if one is illegal.
    pub(super) fn part(&self, moves: Vec<Pit>, aim: Aim) -> Option<RequestPart> {
        let Place { position, first, .. } = *Place::all(self.rules, &self.position, &moves).ok()?.last()?;
        Some(RequestPart { moves, is_first: first, position, aim })
    }
}

impl RequestPart {
    /// The target for its position.
    pub(crate) fn target(&self) -> Target {
        Target { position: self.position.without_stores(), aim: self.aim }
    }

    /// Converts bounds of the score of its position to bounds of the value for the mover of the request.
    pub(crate) fn value(&self, bounds: Bounds) -> ValueBounds {
        let [one, two] =
            [bounds.lower, bounds.upper].map(|score| mover_value(self.is_first, self.position.value(score)));
        ValueBounds { lower: one.min(two), upper: one.max(two) }
    }

    /// The moves with dashes: `1-2`.
    pub fn name(&self) -> String {
        self.moves.iter().map(Pit::to_string).collect::<Vec<_>>().join("-")
    }
}

/// Request, effort and tables of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofPlan {
    /// The request.
    pub request: Request,
    /// The effort k: checking a claim may need a re-search of 2^k nodes.
    pub effort: u32,
    /// Digests of the tables that the claims rest on, for 2 seeds, 3 seeds and so on.
    pub tables: Vec<[u8; 32]>,
    /// The positions to prove.
    pub parts: Vec<RequestPart>,
}

impl ProofPlan {
    /// Default effort.
    pub const EFFORT: u32 = 14;

    /// Returns an error if `tables` are not those that the claims rest on.
    ///
    /// # Errors
    /// If one is missing or has another digest.
    pub fn require(&self, tables: Option<&Tables>) -> Result<(), ProveError> {
        let layers = tables.map_or(&[][..], Tables::layers);
        if layers.len() < self.tables.len() {
            let found = if layers.is_empty() { 0 } else { layers.len() + 1 };
            return Err(ProveError::Tables { wanted: self.table_seeds(), found });
        }
        for (table, digest) in layers.iter().zip(&self.tables) {
            if table.header().digest != *digest {
                return Err(ProveError::OtherTable(table.path().to_owned()));
            }
        }
        Ok(())
    }

    /// Seeds of the largest table that claims rest on; 0 without tables.
    pub fn table_seeds(&self) -> usize {
        if self.tables.is_empty() { 0 } else { self.tables.len() + 1 }
    }

    /// The statement that follows from the progress of the `parts`.
    pub fn statement(&self, parts: &[Progress]) -> Statement {
        let (rules, position) = (self.request.rules, self.request.position);
        let values: Vec<ValueBounds> =
            self.parts.iter().zip(parts).map(|(part, progress)| part.value(progress.known)).collect();
        let openings = || self.parts.iter().zip(&values);
        let is_openings =
            self.request.wanted == Wanted::Openings && self.parts.iter().all(|part| !part.moves.is_empty());
        let most = |bound: fn(&ValueBounds) -> i64| values.iter().map(bound).max().unwrap_or_default();
        let bounds = match values.first() {
            // The mover chooses among all openings.
            Some(_) => ValueBounds { lower: most(|value| value.lower), upper: most(|value| value.upper) },
            None => Statement::all_values(&position),
        };
        let openings = match is_openings {
            true => openings().map(|(part, &bounds)| OpeningBounds { moves: part.moves.clone(), bounds }).collect(),
            false => Vec::new(),
        };
        Statement { rules, position, bounds, openings }
    }

    /// Statement, effort and tables of the certificate with this progress.
    pub(crate) fn head(&self, parts: &[Progress]) -> Head {
        Head { statement: self.statement(parts), effort: self.effort, tables: self.tables.clone() }
    }
}

/// First guess of the score of a position.
fn guess(solver: &Solver, position: &Position) -> Result<u32, ProveError> {
    if position.is_over() {
        return Ok(position.mover().total());
    }
    Ok(position.score(solver.first_guess(position)?))
}
