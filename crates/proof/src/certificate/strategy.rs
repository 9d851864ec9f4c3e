use std::cell::Cell;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_core::game::{Bounds, Pit, Position};
use kalah_core::table::{TableError, Tables};

use super::check::Checker;
use super::error::CheckError;
use super::run::{checker, compare_digests};
use super::statement::{Certificate, inferred};

/// The strategy for both sides that a certificate without searches contains.
///
/// A claim says what its mover collects at least and at most. At effort 0 it follows in one ply: one move reaches the
/// lower bound, and no move exceeds the upper bound. So the strategy plays a move with the best lower bound, by ends of
/// games, tables and claims. After it, the other player has no move beyond the upper bound, and so on. From the
/// position of a true statement, and after its openings, neither side gets less than the statement says, whatever
/// the other side plays.
///
/// The claims themselves are not checked: use [`super::Check`] for that.
#[derive(Debug)]
pub struct Strategy<'a> {
    certificate: &'a Certificate,
    checker: Checker<'a>,
}

/// A move of a [`Strategy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrategyMove {
    /// The move.
    pub pit: Pit,
    /// The seeds that the mover collects at least with this move, and at most with any move.
    pub bounds: Bounds,
    /// The source of the bounds.
    pub basis: Basis,
}

/// Source of the bounds of a [`StrategyMove`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A table contains the position.
    Tables,
    /// Claims, with ends of games and tables.
    Claims,
    /// Only ends of games, tables and the seeds that moves store. The statement needs nothing more here.
    NoClaims,
}

/// Error of a strategy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// Claims of the certificate may need searches, so they name no moves.
    #[error("its claims may need searches of 2^{0} nodes (its effort), so it is not a strategy")]
    Effort(u32),
    /// A table that the certificate rests on is missing or another one, or cannot be read.
    #[error("{0}")]
    Tables(#[from] CheckError),
    /// The position has another number of pits, or too many seeds.
    #[error("{0} is not a position of its board")]
    Board(Box<Position>),
    /// Claims contradict each other or the tables, or no move reaches a claimed bound.
    #[error("its claims about {0} do not follow, so it proves nothing")]
    Wrong(Box<Position>),
}

impl From<TableError> for StrategyError {
    fn from(error: TableError) -> StrategyError {
        CheckError::from(error).into()
    }
}

impl Diagnostic for StrategyError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            StrategyError::Effort(_) => Outcome::Failed
                .help("make one without searches: `kalah prove --from FILE --effort 0 --proof DIR --certificate NEW`"),
            StrategyError::Tables(error) => error.diagnosis(),
            StrategyError::Board(_) => Outcome::Usage.into(),
            StrategyError::Wrong(_) => Outcome::Wrong.help("find the first wrong claim with `kalah check`"),
        }
    }
}

impl<'a> Strategy<'a> {
    /// The strategy of `certificate`, which rests on some of `tables`. Only the digests in the headers of the tables
    /// are compared with those of the certificate.
    ///
    /// # Errors
    /// If the effort is not 0, or a table that the certificate rests on is missing or has another digest.
    pub fn new(certificate: &'a Certificate, tables: Option<&'a Tables>) -> Result<Strategy<'a>, StrategyError> {
        match certificate.head.effort {
            0 => {}
            effort => return Err(StrategyError::Effort(effort)),
        }
        compare_digests(&certificate.head, tables)?;
        Ok(Strategy { certificate, checker: checker(&certificate.head, tables, 0) })
    }

    /// The move to play in `position`, whose stores do not matter; `None` if the game is over. Of moves with equal
    /// lower bounds it is one with the highest upper bound, then the one nearest to the store.
    ///
    /// # Errors
    /// If the position is of another board, a table cannot be read, or claims do not follow.
    pub fn choose(&self, position: &Position) -> Result<Option<StrategyMove>, StrategyError> {
        let claims = &self.certificate.claims;
        if claims.keys().pits() != position.pits() || claims.keys().key(position).is_none() {
            return Err(StrategyError::Board(Box::new(*position)));
        }
        if position.is_over() {
            return Ok(None);
        }
        let position = position.without_stores();
        let is_in_tables = self.checker.exact(&position)?.is_some();
        let found_claim = Cell::new(false);
        let known = inferred(&self.checker, &position, &|position| {
            let claimed = claims.get(position);
            found_claim.set(found_claim.get() || claimed.is_some());
            claimed
        })?;
        let bounds_of = |position: &Position| known.get(position).copied().or_else(|| claims.get(position));
        let moves = self.checker.each_move(&position, &bounds_of)?;
        // The last of equal moves is taken, so the one nearest to the store comes last.
        let best = moves.into_iter().rev().max_by_key(|(_, bounds)| (bounds.lower, bounds.upper));
        let Some((pit, Bounds { lower, .. })) = best else { return Ok(None) };
        let whole = known[&position];
        if whole.lower > lower || lower > whole.upper {
            return Err(StrategyError::Wrong(Box::new(position)));
        }
        let basis = match (is_in_tables, found_claim.get()) {
            (true, _) => Basis::Tables,
            (false, true) => Basis::Claims,
            (false, false) => Basis::NoClaims,
        };
        Ok(Some(StrategyMove { pit, bounds: Bounds { lower, upper: whole.upper }, basis }))
    }
}
