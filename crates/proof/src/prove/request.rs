use std::fmt;

use kalah_base::printable::signed;
use kalah_core::game::{Bounds, Pit, Place, Position, Rules, ValueBounds, mover_value};
use kalah_core::table::Tables;
use kalah_solve::solve::{Opening, Solver};
use serde::{Deserialize, Serialize};

use super::error::ProveError;
use super::test::Test;
use crate::certificate::{Head, OpeningBounds, Statement, score_bounds};

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
        let find = |position: &Position| {
            let guess = match position.is_over() {
                true => position.mover().total(),
                false => position.score(solver.first_guess(position)?),
            };
            Ok::<_, ProveError>(Aim { lower: guess, upper: guess, is_guess: true })
        };
        let all = Statement::all_values(position);
        let aim = match *wanted {
            Wanted::Openings if !position.is_over() => {
                let opening = |Opening { moves, position, .. }| {
                    Ok(self.part(moves, find(&position)?).expect("openings are legal"))
                };
                return Opening::all(solver.rules(), position).into_iter().map(opening).collect();
            }
            // A finished game has a value, but no openings.
            Wanted::Find | Wanted::Openings => find(position)?,
            Wanted::Value(value) => self.aim(ValueBounds { lower: value, upper: value })?,
            Wanted::AtLeast(lower) => self.aim(ValueBounds { lower, ..all })?,
            Wanted::AtMost(upper) => self.aim(ValueBounds { upper, ..all })?,
        };
        // A certificate of it would state nothing, and checks refuse those.
        if aim.lower == 0 && aim.upper >= position.seeds() {
            return Err(ProveError::trivial(position));
        }
        Ok(self.part(Vec::new(), aim).into_iter().collect())
    }

    /// The aim to prove bounds of the value.
    fn aim(&self, bounds: ValueBounds) -> Result<Aim, ProveError> {
        let position = &self.position;
        let [lower, upper] = score_bounds(position, bounds);
        let (lower, upper) = (lower.max(0), upper.min(position.seeds().into()));
        if lower > upper {
            let ValueBounds { lower, upper } = Statement::all_values(position);
            let [lower, upper] = [lower, upper].map(signed);
            let possible = format!("possible values are {lower} to {upper} in steps of 2");
            return Err(ProveError::Request(format!("{self} cannot be: {possible}")));
        }
        Ok(Aim { lower: lower as u32, upper: upper as u32, is_guess: false })
    }

    /// The part after these moves; `None` if one is illegal.
    pub(super) fn part(&self, moves: Vec<Pit>, aim: Aim) -> Option<RequestPart> {
        let Place { position, first, .. } = *Place::all(self.rules, &self.position, &moves).ok()?.last()?;
        Some(RequestPart { moves, is_first: first, position, aim })
    }
}

/// Aim for the score of a position: to prove bounds, or to find it, with equal bounds as the first guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    /// The lower bound.
    pub lower: u32,
    /// The upper bound.
    pub upper: u32,
    /// True if the bounds are only a guess.
    pub is_guess: bool,
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

/// Progress of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The proved bounds.
    pub known: Bounds,
    /// The next test; `None` if the part is proved or refuted.
    pub next: Option<Test>,
    /// Another test that is needed whatever the answer of the next one.
    pub then: Option<Test>,
    /// True if the part is refuted.
    pub is_refuted: bool,
}

impl RequestPart {
    /// Progress with the proved bounds of the position's score.
    pub(super) fn progress(&self, known: Option<Bounds>) -> Progress {
        let known = match known {
            _ if self.position.is_over() => {
                Bounds { lower: self.position.mover().total(), upper: self.position.mover().total() }
            }
            Some(known) => known,
            None => Bounds { lower: 0, upper: self.position.seeds() },
        };
        let Bounds { lower, upper } = known;
        let Aim { lower: mut reach, upper: mut hold, is_guess } = self.aim;
        let is_refuted = !is_guess && (reach > upper || hold < lower);
        if is_guess {
            // The nearest score that is still possible.
            (reach, hold) = (reach.clamp(lower, upper), hold.clamp(lower, upper));
        }
        let reach = (reach > lower && !is_refuted).then(|| Test::new(&self.position, reach));
        let hold = (hold < upper && !is_refuted).then(|| Test::new(&self.position, hold + 1));
        Progress { known, next: reach.or(hold), then: reach.and(hold), is_refuted }
    }

    /// Tests whose answers give the bounds `known`.
    pub(super) fn proved(&self, known: Bounds) -> Vec<(Test, bool)> {
        let reach = (Test::new(&self.position, known.lower), true);
        let hold = (Test::new(&self.position, known.upper + 1), false);
        [reach, hold].into_iter().filter(|(test, _)| test.certain().is_none()).collect()
    }

    /// Converts bounds of the score of its position to bounds of the value for the mover of the request.
    fn value(&self, bounds: Bounds) -> ValueBounds {
        let [one, two] =
            [bounds.lower, bounds.upper].map(|score| mover_value(self.is_first, self.position.value(score)));
        ValueBounds { lower: one.min(two), upper: one.max(two) }
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

    /// Returns an error if `tables` are not those that the claims rest on, or the solver uses fewer.
    pub(super) fn require(&self, solver: &Solver, tables: Option<&Tables>) -> Result<(), ProveError> {
        let found = tables.and_then(Tables::max_seeds).min(solver.table_seeds()).unwrap_or(0);
        let wanted = self.table_seeds();
        if found < wanted {
            return Err(ProveError::missing_tables(wanted, found));
        }
        for (table, digest) in tables.map_or(&[][..], Tables::layers).iter().zip(&self.tables) {
            if table.header().digest != *digest {
                let path = table.path().display();
                let what = format!("{path} is not the table that the proof rests on: its digest differs");
                return Err(ProveError::Tables(what));
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
        let Request { rules, position, .. } = self.request;
        let values = self.parts.iter().zip(parts).map(|(part, progress)| (part, part.value(progress.known)));
        // The mover chooses among all openings.
        let best = values
            .clone()
            .map(|(_, bounds)| bounds)
            .reduce(|one, two| ValueBounds { lower: one.lower.max(two.lower), upper: one.upper.max(two.upper) });
        let openings = values.filter(|(part, _)| !part.moves.is_empty());
        let openings = openings.map(|(part, bounds)| OpeningBounds { moves: part.moves.clone(), bounds }).collect();
        let bounds = best.unwrap_or_else(|| Statement::all_values(&position));
        Statement { rules, position, bounds, openings }
    }

    /// Statement, effort and tables of the certificate with this progress.
    pub(super) fn head(&self, parts: &[Progress]) -> Head {
        Head { statement: self.statement(parts), effort: self.effort, tables: self.tables.clone() }
    }
}
