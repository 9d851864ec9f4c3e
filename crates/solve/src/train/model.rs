use kalah_core::evaluation::{LANES, MOST_HELD, Network, NetworkError, SEED, Weights};
use kalah_core::game::Rules;

use super::sample::TrainingSample;

/// Inputs of a pit, one for each number of seeds that is distinguished.
const INPUTS_OF_A_PIT: usize = MOST_HELD + 1;

/// Rectified hidden units; the last one is linear.
const RECTIFIED: usize = LANES - 1;

/// Limit of an error, in seeds, so that a few samples do not decide a step.
const LARGEST_ERROR: f32 = 6.0;

/// Samples of a step.
const BATCH: usize = 256;

/// Decay of Adam's mean gradient and mean squared gradient from step to step.
const DECAY: (f32, f32) = (0.9, 0.999);

/// Maximum of a hidden unit in integers: below `i16::MAX`, since weights are rounded.
const LARGEST_UNIT: f32 = 32_000.0;

/// The network in floating point; scores are in seeds.
///
/// The weights are rows with a number for each of the [`LANES`] hidden units: a row for each input, which is a
/// pit with a number of seeds in it, then the bias, then the output weights.
pub(super) struct Model {
    pits: usize,
    weights: Vec<[f32; LANES]>,
}

impl Model {
    /// A network with small random weights.
    pub(crate) fn new(pits: usize, random: &mut fastrand::Rng) -> Model {
        let inputs = 2 * pits * INPUTS_OF_A_PIT;
        let mut weights = vec![[0.0; LANES]; inputs + 2];
        for lanes in &mut weights[..inputs] {
            lanes[..RECTIFIED].iter_mut().for_each(|number| *number = 0.4 * (random.f32() - 0.5));
        }
        weights[inputs][..RECTIFIED].iter_mut().for_each(|bias| *bias = 0.2 * random.f32());
        for (lane, output) in weights[inputs + 1].iter_mut().enumerate() {
            *output = if lane % 2 == 0 { 0.3 } else { -0.3 };
        }
        weights[inputs + 1][RECTIFIED] = 1.0;
        Model { pits, weights }
    }

    /// Indices of the inputs that a position has.
    fn inputs<'s>(&self, sample: &'s TrainingSample) -> impl Iterator<Item = usize> + use<'s> {
        let pits = self.pits;
        let rows = sample.mover[..pits].iter().chain(&sample.other[..pits]);
        rows.enumerate().map(|(pit, &held)| pit * INPUTS_OF_A_PIT + usize::from(held).min(MOST_HELD))
    }

    /// The hidden units and the output, which is the score minus half of the seeds.
    fn forward(&self, sample: &TrainingSample) -> ([f32; LANES], f32) {
        let (bias, outputs) = (self.weights.len() - 2, self.weights.len() - 1);
        let mut lanes = self.weights[bias];
        for input in self.inputs(sample) {
            lanes.iter_mut().zip(&self.weights[input]).for_each(|(lane, number)| *lane += number);
        }
        lanes[..RECTIFIED].iter_mut().for_each(|lane| *lane = lane.max(0.0));
        (lanes, lanes.iter().zip(&self.weights[outputs]).map(|(lane, output)| lane * output).sum())
    }

    /// Adam over all samples, in a new random order each time, `epochs` times, with a rate that falls to 0.
    pub(crate) fn train(
        &mut self,
        samples: &mut [TrainingSample],
        epochs: usize,
        rate: f32,
        random: &mut fastrand::Rng,
    ) {
        let (bias, outputs) = (self.weights.len() - 2, self.weights.len() - 1);
        let zeros = vec![[0f32; LANES]; self.weights.len()];
        let (mut gradient, mut means, mut mean_squares) = (zeros.clone(), zeros.clone(), zeros);
        let steps = epochs * samples.len().div_ceil(BATCH);
        let (mut step, mut decayed) = (0, (1f32, 1f32));
        for _ in 0..epochs {
            random.shuffle(samples);
            for batch in samples.chunks(BATCH) {
                gradient.iter_mut().for_each(|lanes| *lanes = [0.0; LANES]);
                for sample in batch {
                    let (lanes, output) = self.forward(sample);
                    let error = output - (f32::from(sample.score) - f32::from(sample.seeds) / 2.0);
                    let error = error.clamp(-LARGEST_ERROR, LARGEST_ERROR);
                    let mut unit_gradient = [0f32; LANES];
                    for lane in 0..LANES {
                        gradient[outputs][lane] += error * lanes[lane];
                        let active = lane == RECTIFIED || lanes[lane] > 0.0;
                        unit_gradient[lane] = if active { error * self.weights[outputs][lane] } else { 0.0 };
                    }
                    // The linear lane is scaled by its inputs alone.
                    gradient[outputs][RECTIFIED] = 0.0;
                    for row in self.inputs(sample).chain([bias]) {
                        gradient[row]
                            .iter_mut()
                            .zip(&unit_gradient)
                            .for_each(|(sum, unit_gradient)| *sum += unit_gradient);
                    }
                }
                step += 1;
                decayed = (decayed.0 * DECAY.0, decayed.1 * DECAY.1);
                let rate = rate * (1.0 - step as f32 / (steps + 1) as f32);
                let scale = 1.0 / batch.len() as f32;
                for row in 0..self.weights.len() {
                    for lane in 0..LANES {
                        let slope = gradient[row][lane] * scale;
                        let (mean, mean_square) = (&mut means[row][lane], &mut mean_squares[row][lane]);
                        *mean = DECAY.0 * *mean + (1.0 - DECAY.0) * slope;
                        *mean_square = DECAY.1 * *mean_square + (1.0 - DECAY.1) * slope * slope;
                        // The means began at 0, of which this share is left.
                        let (mean, mean_square) = (*mean / (1.0 - decayed.0), *mean_square / (1.0 - decayed.1));
                        self.weights[row][lane] -= rate * mean / (mean_square.sqrt() + 1e-8);
                    }
                }
            }
        }
    }

    /// The network in integers: every lane uses 16 bits, and the sum as many bits as fit.
    ///
    /// # Errors
    /// If the weights are so large that no precision is left.
    pub(crate) fn network(&self, rules: Rules) -> Result<Network, NetworkError> {
        let (inputs, rest) = self.weights.split_at(self.weights.len() - 2);
        let (bias, outputs) = (&rest[0], &rest[1]);
        let scale: [f32; LANES] = std::array::from_fn(|lane| {
            let largest = |pit: &[[f32; LANES]]| pit.iter().map(|held| held[lane].abs()).fold(0.0, f32::max);
            let sum: f32 = bias[lane].abs() + inputs.chunks(INPUTS_OF_A_PIT).map(largest).sum::<f32>();
            LARGEST_UNIT / sum.max(1e-6)
        });
        let scaled = |lanes: &[f32; LANES]| std::array::from_fn(|lane| (lanes[lane] * scale[lane]).round() as i16);
        let mut last = Err(NetworkError::Unfit("has numbers that are too large"));
        for shift in (6..=16u8).rev() {
            let output = |lane: usize| outputs[lane] / scale[lane] * SEED as f32 * f32::from(1u16 << (shift - 1)) * 2.0;
            if (0..LANES).any(|lane| output(lane).abs() > 32_767.0) {
                continue;
            }
            let mut floor = [0; LANES];
            floor[RECTIFIED] = i16::MIN;
            let weights = Weights {
                inputs: inputs.iter().map(scaled).collect(),
                bias: scaled(bias),
                floor,
                outputs: std::array::from_fn(|lane| output(lane).round() as i16),
                shift,
            };
            last = Network::new(rules, self.pits, &weights);
            if last.is_ok() {
                break;
            }
        }
        last
    }
}
