use std::io;

use bytemuck::{Pod, Zeroable};

use super::SEED;
use crate::game::{MAX_PITS, Rules};
use crate::header::HeaderError;
use crate::isa::{Isa, per_isa};
use crate::text::count;

/// Units of the hidden layer. At 16 bits each they fill one cache line.
pub const LANES: usize = 32;

/// Pits with more seeds are treated as holding this many.
pub const MOST_HELD: usize = 15;

/// Distinct numbers of seeds in a pit.
pub(super) const HELD: usize = MOST_HELD + 1;

/// Largest output, in sixteenths of a seed: 65536 seeds. Calculations stay far from overflow.
const MOST_OUTPUT: i64 = 1 << 20;

/// One number for each hidden unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Lanes([i16; LANES]);

/// The numbers of a [`Network`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Amounts added to each hidden unit, for each pit (the mover's, then the other row's) and each number of seeds in
    /// it, 0 to [`MOST_HELD`]. The entry is at `pit * 16 + held`.
    pub inputs: Vec<[i16; LANES]>,
    /// Initial value of each hidden unit.
    pub bias: [i16; LANES],
    /// Least value of each hidden unit: 0 for a rectified unit (ReLU), `i16::MIN` for a linear one.
    pub floor: [i16; LANES],
    /// Factor of each hidden unit in the output.
    pub outputs: [i16; LANES],
    /// The sum of the products is divided by 2^`shift`, giving sixteenths of a seed.
    pub shift: u8,
}

/// An evaluation network: a neural network with one hidden layer, in integer arithmetic.
///
/// The input is the number of seeds in each pit, one-hot, so the hidden layer is a sum of one cache line for each pit.
/// The output is added to half of the seeds in play. Construction checks that nothing can overflow, so every machine
/// computes the same evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    rules: Rules,
    pits: usize,
    inputs: Box<[Lanes]>,
    bias: Lanes,
    floor: Lanes,
    outputs: Lanes,
    shift: u32,
}

/// Reasons why a network cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The file cannot be read.
    #[error("the evaluation network cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file is of another kind or version.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The file is too short or too long, or does not match its checksum.
    #[error("it is damaged")]
    Damaged,
    /// The numbers are for another board or too large, or the phases do not belong together.
    #[error("the evaluation network {0}")]
    Unfit(&'static str),
    /// The network is for another rule set or board than expected.
    #[error(
        "it evaluates positions of {} with {}, not of {} with {}",
        found.0, count(found.1, "pit"), expected.0, count(expected.1, "pit")
    )]
    Other {
        /// Rule set and pits a side of the network.
        found: (Rules, usize),
        /// Expected rule set and pits a side.
        expected: (Rules, usize),
    },
}

/// A sum might overflow.
const OVERFLOW: NetworkError = NetworkError::Unfit("has numbers that are too large");

impl Network {
    /// Makes a network for one rule set and boards with `pits` pits a side.
    ///
    /// # Errors
    /// When there are not 2 x `pits` x 16 inputs, or a sum might exceed 16 bits (hidden units), 32 bits (products) or
    /// 65536 seeds (evaluation).
    pub fn new(rules: Rules, pits: usize, weights: &Weights) -> Result<Network, NetworkError> {
        let Weights { inputs, bias, floor, outputs, shift } = weights;
        if !(1..=MAX_PITS).contains(&pits) || inputs.len() != 2 * pits * HELD || u32::from(*shift) >= i32::BITS {
            return Err(NetworkError::Unfit("has numbers for another board"));
        }
        let mut output = 0i64;
        for lane in 0..LANES {
            let size = |number: i16| i64::from(number).abs();
            // Bounds every partial sum, in whatever order pits are added.
            let largest = |pit: &[[i16; LANES]]| pit.iter().map(|held| size(held[lane])).max().unwrap_or(0);
            let hidden = size(bias[lane]) + inputs.chunks(HELD).map(largest).sum::<i64>();
            output += hidden.max(floor[lane].into()) * size(outputs[lane]);
            if hidden > i16::MAX.into() || output > i32::MAX.into() {
                return Err(OVERFLOW);
            }
        }
        if output >> shift > MOST_OUTPUT {
            return Err(OVERFLOW);
        }
        Ok(Network {
            rules,
            pits,
            inputs: inputs.iter().map(|&lanes| Lanes(lanes)).collect(),
            bias: Lanes(*bias),
            floor: Lanes(*floor),
            outputs: Lanes(*outputs),
            shift: u32::from(*shift),
        })
    }

    /// Returns the numbers of the network.
    pub fn weights(&self) -> Weights {
        Weights {
            inputs: self.inputs.iter().map(|lanes| lanes.0).collect(),
            bias: self.bias.0,
            floor: self.floor.0,
            outputs: self.outputs.0,
            shift: self.shift as u8,
        }
    }

    /// Rule set of the network.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side of the boards that the network evaluates.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Evaluation of a position with `seeds` seeds in play: the expected score of the mover, in sixteenths of a seed.
    /// Rows are bytes from the first pit on. Panics when one has fewer bytes than the board has pits.
    #[inline]
    pub fn evaluate(&self, mover: &[u8], other: &[u8], seeds: u32) -> i32 {
        self.evaluate_on(Isa::detect(), mover, other, seeds)
    }

    /// The same as [`Network::evaluate`] with a given instruction set. All give the same evaluation.
    #[inline]
    pub fn evaluate_on(&self, isa: Isa, mover: &[u8], other: &[u8], seeds: u32) -> i32 {
        SEED / 2 * seeds as i32 + output(isa, self, &mover[..self.pits], &other[..self.pits])
    }
}

/// Adds numbers to sums, lane by lane.
#[inline(always)]
fn add(sums: &mut [i16; LANES], numbers: &[i16; LANES]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, &number)| *sum = sum.wrapping_add(number));
}

per_isa! {
    /// Output of the network for two rows with as many pits as the network has.
    fn output(network: &Network, mover: &[u8], other: &[u8]) -> i32 {
        // Two sums, so that consecutive additions do not depend on each other.
        let (mut lanes, mut others) = (network.bias.0, [0; LANES]);
        let pits = network.inputs.as_chunks::<HELD>().0;
        let (of_mover, of_other) = pits.split_at(mover.len().min(pits.len()));
        for ((of_mover, &mover), (of_other, &other)) in of_mover.iter().zip(mover).zip(of_other.iter().zip(other)) {
            // Each sum by its own name: found by an index, they would stay in memory on WebAssembly.
            add(&mut lanes, &of_mover[usize::from(mover).min(MOST_HELD)].0);
            add(&mut others, &of_other[usize::from(other).min(MOST_HELD)].0);
        }
        add(&mut lanes, &others);
        let products = lanes.iter().zip(&network.floor.0).zip(&network.outputs.0);
        let sum: i32 = products.map(|((&lane, &floor), &output)| i32::from(lane.max(floor)) * i32::from(output)).sum();
        sum >> network.shift
    }
}
