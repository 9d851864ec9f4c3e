use kalah_core::game::ValueBounds;
use kalah_core::table::Tables;

use super::error::ProveError;
use super::request::{Request, RequestPart, Wanted};
use super::target::Progress;
use crate::certificate::{Head, OpeningBounds, Statement};

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
