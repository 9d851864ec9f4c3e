use bytemuck::{Pod, Zeroable};

use super::SEED;
use crate::game::MAX_PITS;

/// Units of the hidden layer: 16 bits each, together one cache line.
pub const LANES: usize = 32;

/// Pits with more seeds count as having this many.
pub const MOST_HELD: usize = 15;

/// Numbers of seeds of a pit that are distinguished.
const HELD: usize = MOST_HELD + 1;

/// One number for each hidden unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Lanes([i16; LANES]);

/// The numbers of a [`Network`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// For each pit of the mover, then of the other row, and each number of seeds in it, 0 to [`MOST_HELD`]: what is
    /// added to each hidden unit. At `(pit * 16 + held)`.
    pub inputs: Vec<[i16; LANES]>,
    /// What each hidden unit begins with.
    pub bias: [i16; LANES],
    /// The least value of each hidden unit: 0 for a rectified one (ReLU), `i16::MIN` for a linear one.
    pub floor: [i16; LANES],
    /// What each hidden unit is multiplied by.
    pub outputs: [i16; LANES],
    /// The sum of these products is divided by two to this power: an evaluation in sixteenths of a seed.
    pub shift: u8,
}

/// An evaluation: a neural network with one hidden layer, in integers.
///
/// The input is the number of seeds in each pit, one-hot; so the hidden layer is a sum of one cache line for each pit.
/// The output is added to half of the seeds in play. Integer arithmetic without overflow (checked when it is made) gives
/// the same evaluation on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pits: usize,
    inputs: Box<[Lanes]>,
    bias: Lanes,
    floor: Lanes,
    outputs: Lanes,
    shift: u32,
}

/// Why numbers are no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// There are too few or too many numbers.
    #[error("the evaluation network has numbers for another board")]
    Shape,
    /// A sum might overflow.
    #[error("the evaluation network has numbers that are too large")]
    Overflow,
}

impl Network {
    /// The network with these numbers for boards of `pits` pits a side.
    ///
    /// # Errors
    /// When there are not 2 x `pits` x 16 inputs, or a sum might exceed 16 bits (hidden units) or 32 bits (output).
    pub fn new(pits: usize, weights: &Weights) -> Result<Network, NetworkError> {
        let Weights { inputs, bias, floor, outputs, shift } = weights;
        if !(1..=MAX_PITS).contains(&pits) || inputs.len() != 2 * pits * HELD || u32::from(*shift) >= i32::BITS {
            return Err(NetworkError::Shape);
        }
        let mut most = 0i64;
        for lane in 0..LANES {
            let bound = |of: fn(i64, i64) -> i64| {
                let sums = inputs.chunks(HELD).map(|pit| pit.iter().map(|held| i64::from(held[lane])).reduce(of));
                i64::from(bias[lane]) + sums.flatten().sum::<i64>()
            };
            // Partial sums lie within these, too, if every pit may also add nothing.
            let (low, high) = (bound(i64::min), bound(i64::max));
            let extreme = i64::from(bias[lane]).abs()
                + inputs
                    .chunks(HELD)
                    .map(|pit| pit.iter().map(|held| i64::from(held[lane]).abs()).max().unwrap_or(0))
                    .sum::<i64>();
            if extreme > i64::from(i16::MAX) {
                return Err(NetworkError::Overflow);
            }
            let (low, high) = (low.max(floor[lane].into()), high.max(floor[lane].into()));
            most += low.abs().max(high.abs()) * i64::from(outputs[lane]).abs();
        }
        if most > i64::from(i32::MAX) {
            return Err(NetworkError::Overflow);
        }
        Ok(Network {
            pits,
            inputs: inputs.iter().map(|&lanes| Lanes(lanes)).collect(),
            bias: Lanes(*bias),
            floor: Lanes(*floor),
            outputs: Lanes(*outputs),
            shift: u32::from(*shift),
        })
    }

    /// Pits a side of the boards that it evaluates.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// What the mover may collect of the `seeds` seeds in play, in sixteenths of a seed; the rows are given from their
    /// first pits on, in bytes, at least as many as the board has pits.
    ///
    /// # Panics
    /// When a row has fewer bytes.
    #[inline]
    pub fn evaluate(&self, mover: &[u8], other: &[u8], seeds: u32) -> i32 {
        let mut lanes = self.bias.0;
        let rows = mover[..self.pits].iter().chain(&other[..self.pits]);
        for (inputs, &held) in self.inputs.as_chunks::<HELD>().0.iter().zip(rows) {
            let input = &inputs[usize::from(held).min(MOST_HELD)].0;
            lanes.iter_mut().zip(input).for_each(|(lane, &input)| *lane = lane.wrapping_add(input));
        }
        SEED / 2 * seeds as i32 + self.output(&lanes)
    }

    #[inline]
    fn output(&self, lanes: &[i16; LANES]) -> i32 {
        let mut sum = 0i32;
        for lane in 0..LANES {
            sum += i32::from(lanes[lane].max(self.floor.0[lane])) * i32::from(self.outputs.0[lane]);
        }
        sum >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(pits: usize) -> Weights {
        Weights {
            inputs: vec![[0; LANES]; 2 * pits * HELD],
            bias: [0; LANES],
            floor: [0; LANES],
            outputs: [0; LANES],
            shift: 0,
        }
    }

    #[test]
    fn units_are_summed_rectified_and_weighted() {
        let mut of = weights(2);
        of.inputs[3][0] = 5;
        of.inputs[HELD + 1][0] = -9;
        of.inputs[2 * HELD + MOST_HELD][1] = -7;
        (of.outputs[0], of.outputs[1], of.bias[1], of.floor[1], of.shift) = (6, 4, 1, i16::MIN, 1);
        let network = Network::new(2, &of).unwrap();
        assert_eq!(network.evaluate(&[3, 0], &[0, 0], 3), 8 * 3 + 15 + 2);
        assert_eq!(network.evaluate(&[3, 1], &[0, 0], 4), 8 * 4 + 2);
        assert_eq!(network.evaluate(&[0, 0], &[40, 0], 40), 8 * 40 - 12);
    }

    #[test]
    fn numbers_that_might_overflow_are_refused() {
        assert_eq!(Network::new(3, &weights(2)), Err(NetworkError::Shape));
        let mut of = weights(2);
        (of.inputs[0][5], of.inputs[HELD][5]) = (i16::MAX, 1);
        assert_eq!(Network::new(2, &of), Err(NetworkError::Overflow));
        of.inputs[HELD][5] = 0;
        assert!(Network::new(2, &of).is_ok());
        (0..LANES).for_each(|lane| (of.inputs[0][lane], of.outputs[lane]) = (i16::MAX, i16::MAX));
        assert_eq!(Network::new(2, &of), Err(NetworkError::Overflow));
    }
}
