use kalah_core::cancel::Cancel;
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::isa::Isa;
use kalah_core::table::Tables;

use super::pits::PitEvaluation;
use crate::solve::error::SolveError;
use crate::solve::packed::{Board, Word};

/// The static evaluation that a solver uses.
pub(crate) enum StaticEvaluation {
    /// Learned from the tables when the solver was made; without tables, half of the seeds in play.
    Pits(Box<PitEvaluation>),
    /// Trained networks, evaluated with the fastest instruction set.
    Network(Box<PhasedNetwork>, Isa),
}

impl Default for StaticEvaluation {
    fn default() -> StaticEvaluation {
        StaticEvaluation::Pits(Box::default())
    }
}

impl StaticEvaluation {
    /// Evaluation by networks.
    pub(crate) fn network(network: PhasedNetwork) -> StaticEvaluation {
        StaticEvaluation::Network(Box::new(network), Isa::detect())
    }

    /// The evaluation to use with `tables`: [networks](PhasedNetwork::find), or else one learned from the
    /// layers up to `reach`.
    ///
    /// # Errors
    /// If the network beside the tables cannot be used, a table is damaged, or `cancel` was cancelled
    /// meanwhile.
    pub(crate) fn of_tables(tables: &Tables, reach: usize, cancel: &Cancel) -> Result<StaticEvaluation, SolveError> {
        if let Some(network) = PhasedNetwork::find(tables.directory(), tables.rules(), tables.pits())? {
            return Ok(StaticEvaluation::network(network));
        }
        Ok(StaticEvaluation::Pits(Box::new(PitEvaluation::learn(tables, reach, cancel)?)))
    }

    /// Evaluates `board`, with `seeds` seeds in play: the seeds that its mover may collect, in sixteenths of a
    /// seed.
    #[inline]
    pub(crate) fn of<W: Word>(&self, board: Board<W>, seeds: u32) -> i32 {
        match self {
            StaticEvaluation::Network(network, isa) => {
                network.of(seeds).evaluate_on(*isa, &board.mover.array(), &board.other.array(), seeds)
            }
            StaticEvaluation::Pits(pits) => pits.of(board, seeds),
        }
    }
}
