use super::error::TrainError;
use super::fit::Fit;
use super::model::Model;
use super::sample::{Sample, samples_above, samples_within, uniform_samples};
use super::search_sampler::SearchSampler;
use crate::evaluation::Network;
use crate::solve::{Board, Solver, SolverOptions};
use crate::table::Tables;

/// A network learns from tables to this many seeds at least.
pub const LEAST_TABLE_SEEDS: usize = 6;

/// Bytes of the transposition table of the solver that finds scores above the tables.
const TRANSPOSITION_BYTES: u64 = 64 << 20;

/// What the random numbers of the first samples begin with.
const RANDOM_FIRST: u64 = 1;

/// The same of all other samples to learn from.
const RANDOM_SAMPLES: u64 = 2;

/// The same of the samples that are held out.
const RANDOM_HELD_OUT: u64 = 3;

/// The same of the weights that training begins with, and of the order of samples.
const RANDOM_WEIGHTS: u64 = 4;

/// The first network, which orders the moves of the searches for all samples, learns from one in so many.
const FIRST_SHARE: usize = 8;

/// How often a sample above the tables counts.
const COUNTS_ABOVE: usize = 3;

/// For each sample held out there are so many to learn from.
const HELD_OUT_SHARE: usize = 16;

/// The learning rate of the first steps of training.
const LEARNING_RATE: f32 = 0.003;

/// Trains networks on positions that searches visit.
///
/// The same tables and numbers give the same network, bit for bit, on every machine: it is trained by one thread, with
/// IEEE 754 arithmetic alone.
#[derive(Clone, Copy, Debug)]
pub struct Trainer<'t> {
    tables: &'t Tables,
    samples: usize,
    solved: usize,
    epochs: usize,
}

/// A trained network, and how good it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// Samples that it learned from, without repetitions.
    pub samples: usize,
    /// How well it fits positions within the tables that other searches visit.
    pub within: Fit,
    /// How well it fits positions above the tables that other searches visit.
    pub above: Fit,
    /// How well it fits random positions of layers, all as likely: the seeds of the layer, and the fit.
    pub layers: Vec<(usize, Fit)>,
}

impl<'t> Trainer<'t> {
    /// Samples within the tables, by default.
    pub const SAMPLES: usize = 1_500_000;

    /// Samples above the tables, by default.
    pub const SOLVED: usize = 30_000;

    /// How often training goes through all samples, by default.
    pub const EPOCHS: usize = 12;

    /// A trainer with the numbers that the shipped networks were made with.
    pub fn new(tables: &'t Tables) -> Trainer<'t> {
        Trainer { tables, samples: Trainer::SAMPLES, solved: Trainer::SOLVED, epochs: Trainer::EPOCHS }
    }

    /// Sets how many samples to learn from: within the tables, and above them, where they are solved.
    #[must_use]
    pub fn samples(self, within: usize, above: usize) -> Trainer<'t> {
        Trainer { samples: within.max(1), solved: above, ..self }
    }

    /// Sets how often training goes through all samples.
    #[must_use]
    pub fn epochs(self, epochs: usize) -> Trainer<'t> {
        Trainer { epochs, ..self }
    }

    /// Takes samples and trains; calls `on_step` with what begins.
    ///
    /// # Errors
    /// When the tables are too small or damaged.
    pub fn run(&self, on_step: &dyn Fn(&str)) -> Result<Trained, TrainError> {
        let Trainer { tables, samples, solved, epochs } = *self;
        let (rules, pits, reach) = (tables.rules(), tables.pits(), tables.max_seeds().unwrap_or(0));
        if reach < LEAST_TABLE_SEEDS {
            return Err(TrainError::Tables { found: reach });
        }
        on_step("first samples");
        let mut first_samples =
            samples_within(&mut SearchSampler::new(tables, None, RANDOM_FIRST), tables, samples.div_ceil(FIRST_SHARE))?;
        on_step("first network");
        let first_network = train(&mut first_samples, pits, epochs).network(rules)?;
        // All positions that it may have to solve have fewer seeds in play than its board.
        let board = Board { mover: 100u64, other: 1 };
        let solver =
            SolverOptions::new(rules, &board.position(pits)).tables(Some(tables)).network(Some(&first_network));
        let solver = Solver::new(solver.transpositions(TRANSPOSITION_BYTES))?;
        let sample = |random, samples, solved| -> Result<_, TrainError> {
            let mut sampler = SearchSampler::new(tables, Some(&first_network), random);
            Ok((samples_within(&mut sampler, tables, samples)?, samples_above(&mut sampler, tables, &solver, solved)?))
        };
        on_step("samples");
        let (mut learned, solved) = sample(RANDOM_SAMPLES, samples, solved)?;
        let number = learned.len() + solved.len();
        learned.extend(solved.iter().cycle().take(COUNTS_ABOVE * solved.len()));
        on_step("training");
        let network = train(&mut learned, pits, epochs).network(rules)?;
        on_step("samples to compare with");
        let (held, held_above) =
            sample(RANDOM_HELD_OUT, samples.div_ceil(HELD_OUT_SHARE), solved.len().div_ceil(HELD_OUT_SHARE))?;
        let mut random = fastrand::Rng::with_seed(RANDOM_HELD_OUT);
        let layers = (2..=reach).rev().step_by(4).map(|seeds| {
            let samples = uniform_samples(tables, seeds, samples.div_ceil(HELD_OUT_SHARE), &mut random)?;
            Ok((seeds, Fit::of(&network, &samples)))
        });
        let layers = layers.collect::<Result<Vec<_>, TrainError>>()?;
        let (within, above) = (Fit::of(&network, &held), Fit::of(&network, &held_above));
        Ok(Trained { network, samples: number, within, above, layers })
    }
}

fn train(samples: &mut [Sample], pits: usize, epochs: usize) -> Model {
    let mut random = fastrand::Rng::with_seed(RANDOM_WEIGHTS);
    let mut model = Model::new(pits, &mut random);
    model.train(samples, epochs, LEARNING_RATE, &mut random);
    model
}
