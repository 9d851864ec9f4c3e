use kalah_core::cancel::Cancel;
use kalah_core::evaluation::{PhasedNetwork, SEED};
use kalah_core::game::MAX_PITS;
use kalah_core::index::{LayerIndex, TableRow};
use kalah_core::isa::Isa;
use kalah_core::table::Tables;

use crate::solve::error::SolveError;
use crate::solve::packed::{Board, Word};

/// Seeds of a pit beyond this number are ignored.
const MOST_HELD: usize = 14;

/// The largest layer to learn from. Evaluations also serve positions with more seeds, and random reads of
/// larger tables may come from the disk.
const LEARN_SEEDS: usize = 24;

/// Number of positions to learn from.
const LEARN_POSITIONS: usize = 1 << 13;

/// Added to the diagonal of the normal matrix, so that an unknown without observations is 0.
const RIDGE: f64 = 0.1;

/// Positions between two readings of the clock.
const CHECK_INTERVAL: usize = 1 << 6;

/// Worth of the pits 0 and 1 of a row, of 2 and 3, and so on.
type Pairs = [[i16; 256]; MAX_PITS / 2];

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

/// An evaluation without search: half of the seeds in play, plus a term for every pit that depends on its
/// seeds.
///
/// A pit with as many seeds as steps to the store gives an again-move, an empty pit a possible capture, and
/// seeds near the store are easily stored. The sum over the pits explains three fifths of the variance of
/// scores.
pub(crate) struct PitEvaluation {
    /// In sixteenths of a seed, for pairs of neighbouring pits (the mover's, then the other row's), indexed by
    /// their seeds: four bits each, the first pit in the lower ones. Pairs halve the number of look-ups.
    worth: [Pairs; 2],
}

impl Default for PitEvaluation {
    fn default() -> PitEvaluation {
        PitEvaluation { worth: [[[0; 256]; MAX_PITS / 2]; 2] }
    }
}

impl PitEvaluation {
    /// Learns from random positions of a layer of `tables`, at most `reach`. The positions are always the same.
    /// Tables may have to be read from the disk.
    ///
    /// # Errors
    /// If the table is damaged, or `cancel` was cancelled meanwhile.
    pub(crate) fn learn(tables: &Tables, reach: usize, cancel: &Cancel) -> Result<PitEvaluation, SolveError> {
        let (pits, seeds) = (tables.pits(), reach.min(LEARN_SEEDS));
        let layer = LayerIndex::new(tables.rows(), seeds);
        let mut random = fastrand::Rng::with_seed(0);
        let mut ranks: Vec<u64> = (0..LEARN_POSITIONS).map(|_| random.u64(..layer.positions())).collect();
        ranks.sort_unstable();
        // One unknown for each pit and number of seeds in it, and one for the right to move.
        let to_move = 2 * pits * MOST_HELD;
        let mut squares = LeastSquares::new(to_move + 1);
        for (index, rank) in ranks.into_iter().enumerate() {
            if index % CHECK_INTERVAL == 0 {
                cancel.check()?;
            }
            let (mover, other) = layer.unrank(rank);
            let holds = |row: TableRow| row.into_iter().take(pits).map(usize::from);
            let held = holds(mover).chain(holds(other)).enumerate().filter(|&(_, held)| held > 0);
            let unknowns: Vec<usize> =
                held.map(|(pit, held)| pit * MOST_HELD + held.min(MOST_HELD) - 1).chain([to_move]).collect();
            squares.add(&unknowns, f64::from(tables.score_rows(&mover, &other)?) - seeds as f64 / 2.0);
        }
        let solution = squares.solve();
        let mut evaluation = PitEvaluation::default();
        for (place, unknowns) in solution[..to_move].chunks(MOST_HELD).enumerate() {
            let pit = place % pits;
            for (held, worth) in evaluation.worth[place / pits][pit / 2].iter_mut().enumerate() {
                let held = (held >> (4 * (pit % 2)) & 0xf).min(MOST_HELD);
                *worth += held.checked_sub(1).map_or(0, |held| (f64::from(SEED) * unknowns[held]).round() as i16);
            }
        }
        Ok(evaluation)
    }

    /// Evaluates `board`, with `seeds` seeds in play: the seeds that its mover may collect, in sixteenths of a
    /// seed.
    #[inline]
    pub(crate) fn of<W: Word>(&self, board: Board<W>, seeds: u32) -> i32 {
        let row = |worth: &Pairs, row: W| {
            let pairs = row.nibbles().bytes().step_by(2);
            worth.iter().zip(pairs).map(|(worth, pair)| i32::from(worth[usize::from(pair)])).sum::<i32>()
        };
        SEED / 2 * seeds as i32 + row(&self.worth[0], board.mover) + row(&self.worth[1], board.other)
    }
}

/// A linear least-squares problem in which each observation is a sum of a few unknowns.
struct LeastSquares {
    unknowns: usize,
    /// The normal matrix by rows; only the lower triangle is stored.
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl LeastSquares {
    /// A problem with `unknowns` unknowns and no observations.
    fn new(unknowns: usize) -> LeastSquares {
        LeastSquares { unknowns, matrix: vec![0.0; unknowns * unknowns], right: vec![0.0; unknowns] }
    }

    /// Adds an observation: the unknowns with these indices, in ascending order, have the sum `value`.
    fn add(&mut self, numbers: &[usize], value: f64) {
        for (i, &row) in numbers.iter().enumerate() {
            self.right[row] += value;
            for &column in &numbers[..=i] {
                self.matrix[row * self.unknowns + column] += 1.0;
            }
        }
    }

    /// The unknowns, by Cholesky decomposition.
    fn solve(mut self) -> Vec<f64> {
        let n = self.unknowns;
        let (matrix, solution) = (&mut self.matrix, &mut self.right);
        for row in 0..n {
            matrix[row * n + row] += RIDGE;
            for column in 0..=row {
                let (above, here) = matrix.split_at_mut(row * n);
                let pivot = if column < row { &above[column * n..] } else { &here[..n] };
                let known: f64 = (0..column).map(|i| here[i] * pivot[i]).sum();
                let rest = here[column] - known;
                here[column] = if column < row { rest / pivot[column] } else { rest.sqrt() };
            }
        }
        for row in 0..n {
            let known: f64 = (0..row).map(|i| matrix[row * n + i] * solution[i]).sum();
            solution[row] = (solution[row] - known) / matrix[row * n + row];
        }
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|i| matrix[i * n + row] * solution[i]).sum();
            solution[row] = (solution[row] - known) / matrix[row * n + row];
        }
        self.right
    }
}
