use super::sample::Sample;
use crate::evaluation::{LANES, MOST_HELD, Network, NetworkError, SEED, Weights};
use crate::game::Rules;

/// Numbers of seeds of a pit that are distinguished.
const HELD: usize = MOST_HELD + 1;

/// Rectified units; the last lane is linear.
const RECTIFIED: usize = LANES - 1;

/// Errors of more seeds than this weigh no more: the gradient is that of this error.
const LARGEST_ERROR: f32 = 6.0;

/// Samples between two steps.
const BATCH: usize = 256;

/// How fast the means of Adam forget.
const MEANS: (f32, f32) = (0.9, 0.999);

/// The largest value of a lane: below `i16::MAX`, since numbers are rounded.
const LANE: f32 = 32_000.0;

/// The network in floating point; scores are in seeds.
///
/// For every pit and number of seeds in it there is a row of lanes, then comes the bias, then the outputs.
pub(super) struct Model {
    pits: usize,
    numbers: Vec<[f32; LANES]>,
}

impl Model {
    /// A network with small random numbers.
    pub fn new(pits: usize, random: &mut fastrand::Rng) -> Model {
        let inputs = 2 * pits * HELD;
        let mut numbers = vec![[0.0; LANES]; inputs + 2];
        for lanes in &mut numbers[..inputs] {
            lanes[..RECTIFIED].iter_mut().for_each(|number| *number = 0.4 * (random.f32() - 0.5));
        }
        numbers[inputs][..RECTIFIED].iter_mut().for_each(|bias| *bias = 0.2 * random.f32());
        for (lane, output) in numbers[inputs + 1].iter_mut().enumerate() {
            *output = if lane % 2 == 0 { 0.3 } else { -0.3 };
        }
        numbers[inputs + 1][RECTIFIED] = 1.0;
        Model { pits, numbers }
    }

    /// The numbers of the inputs that a position has.
    fn inputs<'s>(&self, sample: &'s Sample) -> impl Iterator<Item = usize> + use<'s> {
        let pits = self.pits;
        let rows = sample.mover[..pits].iter().chain(&sample.other[..pits]);
        rows.enumerate().map(|(pit, &held)| pit * HELD + usize::from(held).min(MOST_HELD))
    }

    /// The hidden units and the output, the score less half of the seeds.
    fn forward(&self, sample: &Sample) -> ([f32; LANES], f32) {
        let (bias, outputs) = (self.numbers.len() - 2, self.numbers.len() - 1);
        let mut lanes = self.numbers[bias];
        for input in self.inputs(sample) {
            lanes.iter_mut().zip(&self.numbers[input]).for_each(|(lane, number)| *lane += number);
        }
        lanes[..RECTIFIED].iter_mut().for_each(|lane| *lane = lane.max(0.0));
        (lanes, lanes.iter().zip(&self.numbers[outputs]).map(|(lane, output)| lane * output).sum())
    }

    /// Adam over all samples, in a random order each time, `epochs` times, with a rate that falls to 0.
    pub fn train(&mut self, samples: &mut [Sample], epochs: usize, rate: f32, random: &mut fastrand::Rng) {
        let (bias, outputs) = (self.numbers.len() - 2, self.numbers.len() - 1);
        let zeros = vec![[0f32; LANES]; self.numbers.len()];
        let (mut gradient, mut mean, mut square) = (zeros.clone(), zeros.clone(), zeros);
        let steps = epochs * samples.len().div_ceil(BATCH);
        let (mut step, mut powers) = (0, (1f32, 1f32));
        for _ in 0..epochs {
            random.shuffle(samples);
            for batch in samples.chunks(BATCH) {
                gradient.iter_mut().for_each(|lanes| *lanes = [0.0; LANES]);
                for sample in batch {
                    let (lanes, output) = self.forward(sample);
                    let error = output - (f32::from(sample.score) - f32::from(sample.seeds) / 2.0);
                    let error = error.clamp(-LARGEST_ERROR, LARGEST_ERROR);
                    let mut back = [0f32; LANES];
                    for lane in 0..LANES {
                        gradient[outputs][lane] += error * lanes[lane];
                        let open = lane == RECTIFIED || lanes[lane] > 0.0;
                        back[lane] = if open { error * self.numbers[outputs][lane] } else { 0.0 };
                    }
                    // The linear lane is scaled by its inputs alone.
                    gradient[outputs][RECTIFIED] = 0.0;
                    for row in self.inputs(sample).chain([bias]) {
                        gradient[row].iter_mut().zip(&back).for_each(|(number, back)| *number += back);
                    }
                }
                step += 1;
                powers = (powers.0 * MEANS.0, powers.1 * MEANS.1);
                let rate = rate * (1.0 - step as f32 / (steps + 1) as f32);
                let scale = 1.0 / batch.len() as f32;
                for row in 0..self.numbers.len() {
                    for lane in 0..LANES {
                        let slope = gradient[row][lane] * scale;
                        let (mean, square) = (&mut mean[row][lane], &mut square[row][lane]);
                        *mean = MEANS.0 * *mean + (1.0 - MEANS.0) * slope;
                        *square = MEANS.1 * *square + (1.0 - MEANS.1) * slope * slope;
                        let (first, second) = (*mean / (1.0 - powers.0), *square / (1.0 - powers.1));
                        self.numbers[row][lane] -= rate * first / (second.sqrt() + 1e-8);
                    }
                }
            }
        }
    }

    /// The network in integers: every lane uses 16 bits, and the sum as many bits as fit.
    ///
    /// # Errors
    /// When the numbers are so large that no precision is left.
    pub fn network(&self, rules: Rules) -> Result<Network, NetworkError> {
        let (inputs, rest) = self.numbers.split_at(self.numbers.len() - 2);
        let (bias, outputs) = (&rest[0], &rest[1]);
        let scale: [f32; LANES] = std::array::from_fn(|lane| {
            let largest = |pit: &[[f32; LANES]]| pit.iter().map(|held| held[lane].abs()).fold(0.0, f32::max);
            let sum: f32 = bias[lane].abs() + inputs.chunks(HELD).map(largest).sum::<f32>();
            LANE / sum.max(1e-6)
        });
        let scaled = |lanes: &[f32; LANES]| std::array::from_fn(|lane| (lanes[lane] * scale[lane]).round() as i16);
        let mut last = Err(NetworkError::Overflow);
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
