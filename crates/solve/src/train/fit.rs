use kalah_core::evaluation::{PhasedNetwork, SEED};

use super::sample::TrainingSample;

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
    pub(crate) fn of(network: &PhasedNetwork, samples: &[TrainingSample]) -> Fit {
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
