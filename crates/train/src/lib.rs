//! Training evaluation networks of the sowing game Kalah (docs/evaluation.md in the repository).
//!
//! The crate `kalah` re-exports it as its module `train`.

// | module | contents |
// |---|---|
// | `model` | the network during training |
// | `sampler` | positions of searches of random games, with their scores |
// | `phases` | positions far above the tables, with estimates of their scores |

mod model;
mod phases;
mod sampler;

use std::ops::RangeInclusive;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah_core::evaluation::{NetworkError, Phase, PhasedNetwork, SEED};
use kalah_core::table::{TableError, Tables};
use kalah_core::text::count;
use kalah_solve::solve::{Board, SolveError, Solver, SolverOptions};

use self::model::Model;
use self::phases::PhaseSampler;
use self::sampler::{SearchSampler, TrainingSample};

/// Minimum seeds of the largest table from which a network learns.
pub const LEAST_TABLE_SEEDS: usize = 6;

/// Bytes of the transposition table of the solver that finds scores above the tables.
const TRANSPOSITION_BYTES: u64 = 64 << 20;

/// First random number of the first samples.
const RANDOM_FIRST: u64 = 1;

/// The same for all other samples to learn from.
const RANDOM_SAMPLES: u64 = 2;

/// The same for the samples that are held out.
const RANDOM_HELD_OUT: u64 = 3;

/// The same for the initial weights and the order of samples.
const RANDOM_WEIGHTS: u64 = 4;

/// The first network orders the moves of the searches for all samples. It learns from one sample in this many.
const FIRST_SHARE: usize = 8;

/// Number of times that a sample above the tables counts.
const COUNTS_ABOVE: usize = 3;

/// Samples to learn from for each sample held out.
const HELD_OUT_SHARE: usize = 16;

/// Factor of epochs for a phase above the tables, which has fewer samples.
const PHASE_EPOCHS: usize = 3;

/// The learning rate of the first steps of training.
const LEARNING_RATE: f32 = 0.003;

/// Trains networks on positions that searches visit.
///
/// The same tables and settings give the same network, bit for bit, on every machine. It is trained by one
/// thread, with IEEE 754 arithmetic alone.
#[derive(Clone, Copy, Debug)]
pub struct Trainer<'t> {
    /// The tables to learn from.
    pub tables: &'t Tables,
    /// Number of samples within the tables, at least 1.
    pub samples: usize,
    /// Number of samples above the tables, where they are solved.
    pub solved: usize,
    /// Number of samples of each phase further above, whose scores are estimated. With 0, or under rules with relays,
    /// there is one network for all positions.
    pub estimated: usize,
    /// Number of passes through all samples.
    pub epochs: usize,
}

/// A trained network and its quality.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The network: one for the tables, and one for each phase above them, if there are any.
    pub network: PhasedNetwork,
    /// Number of samples that it learned from, without repetitions.
    pub samples: usize,
    /// Fit to held-out positions within the tables.
    pub within: Fit,
    /// Fit to held-out positions above the tables.
    pub above: Fit,
    /// Fit to held-out positions of each phase above the tables, with estimated scores: the fewest seeds of the
    /// phase, and the fit.
    pub phases: Vec<(u32, Fit)>,
}

/// Fit of evaluations to the scores of positions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Number of positions compared.
    pub positions: usize,
    /// Standard deviation of scores minus half of the seeds, in seeds.
    pub deviation: f64,
    /// Root mean squared difference between evaluation and score, in seeds.
    pub error: f64,
}

impl Fit {
    /// Fit of the evaluations by `network` to `samples`.
    fn of(network: &PhasedNetwork, samples: &[TrainingSample]) -> Fit {
        let count = samples.len().max(1) as f64;
        let half = |sample: &TrainingSample| f64::from(sample.score) - f64::from(sample.seeds) / 2.0;
        let mean = samples.iter().map(half).sum::<f64>() / count;
        let spread = samples.iter().map(|sample| (half(sample) - mean).powi(2)).sum::<f64>() / count;
        let difference = |sample: &TrainingSample| {
            let seeds = sample.seeds.into();
            let evaluation = network.of(seeds).evaluate(&sample.mover, &sample.other, seeds);
            f64::from(evaluation) / f64::from(SEED) - f64::from(sample.score)
        };
        let squares = samples.iter().map(|sample| difference(sample).powi(2)).sum::<f64>() / count;
        Fit { positions: samples.len(), deviation: spread.sqrt(), error: squares.sqrt() }
    }

    /// R squared, the share of the variance that evaluations explain: 1 if they equal the scores, 0 if they are
    /// no better than the mean.
    pub fn explained(&self) -> f64 {
        if self.deviation == 0.0 { 0.0 } else { 1.0 - (self.error / self.deviation).powi(2) }
    }
}

impl<'t> Trainer<'t> {
    /// Default number of samples within the tables.
    pub const SAMPLES: usize = 1_500_000;

    /// Default number of samples above the tables.
    pub const SOLVED: usize = 30_000;

    /// Default number of samples of each phase above the tables.
    pub const ESTIMATED: usize = 600_000;

    /// Default number of passes through all samples.
    pub const EPOCHS: usize = 12;

    /// A trainer with the settings of the shipped networks.
    pub fn new(tables: &'t Tables) -> Trainer<'t> {
        let [samples, solved, estimated, epochs] =
            [Trainer::SAMPLES, Trainer::SOLVED, Trainer::ESTIMATED, Trainer::EPOCHS];
        Trainer { tables, samples, solved, estimated, epochs }
    }

    /// Takes samples and trains. Calls `on_step` with the name of each step as it begins.
    ///
    /// # Errors
    /// If the tables are too small or damaged.
    pub fn run(&self, on_step: &dyn Fn(&str)) -> Result<Trained, TrainError> {
        let Trainer { tables, samples, solved, epochs, .. } = *self;
        let (rules, pits, reach) = (tables.rules(), tables.pits(), tables.max_seeds().unwrap_or(0));
        if reach < LEAST_TABLE_SEEDS {
            return Err(TrainError::Tables { found: reach });
        }
        on_step("first samples");
        let mut sampler = SearchSampler::new(tables, None, RANDOM_FIRST);
        let mut first_samples = sampler.samples_within(samples.div_ceil(FIRST_SHARE))?;
        on_step("first network");
        let first_network = PhasedNetwork::from(train(&mut first_samples, pits, epochs).network(rules)?);
        drop(first_samples);
        let solver = self.solver(&first_network)?;
        let sample = |random, samples, solved| -> Result<_, TrainError> {
            let mut sampler = SearchSampler::new(tables, Some(&first_network), random);
            Ok((sampler.samples_within(samples)?, sampler.samples_above(&solver, solved)?))
        };
        on_step("samples");
        let (mut learned, solved) = sample(RANDOM_SAMPLES, samples, solved)?;
        let number = learned.len() + solved.len();
        learned.extend(solved.iter().cycle().take(COUNTS_ABOVE * solved.len()));
        on_step("training");
        let network = PhasedNetwork::from(train(&mut learned, pits, epochs).network(rules)?);
        drop(learned);
        let (network, phases) = self.phases(network, &solved, on_step)?;
        on_step("held-out samples");
        let (held, held_above) =
            sample(RANDOM_HELD_OUT, samples.div_ceil(HELD_OUT_SHARE), solved.len().div_ceil(HELD_OUT_SHARE))?;
        let (within, above) = (Fit::of(&network, &held), Fit::of(&network, &held_above));
        let number = number + self.estimated * phases.len();
        Ok(Trained { network, samples: number, within, above, phases })
    }

    /// Adds the phases above the tables to the `network` of the tables. Each phase learns from estimates by the
    /// networks below it, and from those `solved` positions that have its number of seeds.
    fn phases(
        &self,
        mut network: PhasedNetwork,
        solved: &[TrainingSample],
        on_step: &dyn Fn(&str),
    ) -> Result<(PhasedNetwork, Vec<(u32, Fit)>), TrainError> {
        let Trainer { tables, estimated, epochs, .. } = *self;
        let (rules, pits, reach) = (tables.rules(), tables.pits(), tables.max_seeds().unwrap_or(0));
        let above = if estimated == 0 { Vec::new() } else { phases::phases(rules, reach as u32, pits) };
        let mut fits = Vec::new();
        for (least_seeds, seeds) in above {
            on_step(&format!("samples from {least_seeds} seeds"));
            let (mut samples, held) = match self.phase_samples(&network, &seeds, solved) {
                // On small boards games end before such positions, and no search needs to evaluate them.
                Err(TrainError::Board { .. }) => break,
                samples => samples?,
            };
            on_step(&format!("training from {least_seeds} seeds"));
            let phase = train(&mut samples, pits, PHASE_EPOCHS * epochs).network(rules)?;
            let mut phases = network.phases().to_vec();
            phases.push(Phase { least_seeds, network: phase });
            network = PhasedNetwork::new(phases)?;
            fits.push((least_seeds, Fit::of(&network, &held)));
        }
        Ok((network, fits))
    }

    /// Samples for a phase with these seeds, estimated by the `network` of the phases below or taken from the
    /// `solved` ones, and held-out samples.
    fn phase_samples(
        &self,
        network: &PhasedNetwork,
        seeds: &RangeInclusive<u32>,
        solved: &[TrainingSample],
    ) -> Result<(Vec<TrainingSample>, Vec<TrainingSample>), TrainError> {
        let solver = self.solver(network)?;
        let sampler = PhaseSampler { tables: self.tables, network, solver: &solver };
        let mut samples = sampler.samples(seeds, self.estimated, RANDOM_SAMPLES)?;
        samples.extend(solved.iter().filter(|sample| seeds.contains(&sample.seeds.into())));
        let held = sampler.samples(seeds, self.estimated.div_ceil(HELD_OUT_SHARE), RANDOM_HELD_OUT)?;
        Ok((samples, held))
    }

    /// The solver of positions above the tables.
    fn solver<'n>(&self, network: &'n PhasedNetwork) -> Result<Solver<'n>, TrainError>
    where
        't: 'n,
    {
        // All positions that it may solve have fewer seeds in play than its board.
        let board = Board { mover: 100u64, other: 1 };
        let position = board.position(self.tables.pits()).expect("the board of tables");
        let options = SolverOptions::new(self.tables.rules(), &position);
        let options = options.tables(Some(self.tables)).network(Some(network));
        Ok(Solver::new(options.transpositions(TRANSPOSITION_BYTES))?)
    }
}

fn train(samples: &mut [TrainingSample], pits: usize, epochs: usize) -> Model {
    let mut random = fastrand::Rng::with_seed(RANDOM_WEIGHTS);
    let mut model = Model::new(pits, &mut random);
    model.train(samples, epochs, LEARNING_RATE, &mut random);
    model
}

/// Error of training a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There are too few tables.
    #[error("training a network needs tables to at least {LEAST_TABLE_SEEDS} seeds, but they end at {found}")]
    Tables {
        /// The largest layer with a table; 0 for none.
        found: usize,
    },
    /// Random games do not lead to positions to learn from.
    #[error("games with {} a side end before there are positions to learn from", count(*pits, "pit"))]
    Board {
        /// Pits a side.
        pits: usize,
    },
    /// A table is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A position above the tables could not be solved.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// The trained weights are too large.
    #[error("training did not converge: {0}")]
    Network(#[from] NetworkError),
}

impl Diagnostic for TrainError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            TrainError::Table(error) => error.diagnosis(commands),
            TrainError::Solve(error) => error.diagnosis(commands),
            _ => Outcome::Failed.into(),
        }
    }
}
