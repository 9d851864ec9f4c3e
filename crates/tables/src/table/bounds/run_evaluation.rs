use kalah_core::evaluation::{LANES, MOST_HELD, Network, SEED, Weights};
use kalah_core::index::{RowIndex, TableRow};
use kalah_core::isa::{Isa, per_isa};

/// Number of mover's rows evaluated together.
pub(super) const ROWS_PER_BLOCK: usize = 16;

/// Two hidden units of the rows evaluated together, with those of a row adjacent: the operand of
/// one multiplication with addition of neighbours.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Units([i16; 2 * ROWS_PER_BLOCK]);

/// All hidden units of the rows evaluated together.
type Block = [Units; LANES / 2];

/// Evaluates runs: positions with one other row and all mover's rows. The evaluations are those of
/// [`Network::evaluate`], at a tenth of the cost.
///
/// The hidden units before rectification are sums over the two rows. Those of the mover's rows are
/// computed once.
pub(super) struct RunEvaluation {
    weights: Weights,
    pits: usize,
    /// Half of the seeds in play, in sixteenths.
    half: i32,
    /// Sums over the mover's rows plus the bias, by rank. The last block may be only partly filled.
    movers: Vec<Block>,
    floor: Block,
    outputs: Block,
}

impl RunEvaluation {
    /// Prepares the frame with `mover` seeds in the mover's row of a layer of `seeds` seeds.
    pub(super) fn new(network: &Network, rows: &RowIndex, seeds: usize, mover: usize) -> RunEvaluation {
        let (weights, pits) = (network.weights(), rows.pits());
        let count = rows.rows(mover);
        let mut movers = vec![[Units([0; 2 * ROWS_PER_BLOCK]); LANES / 2]; count.div_ceil(ROWS_PER_BLOCK)];
        for rank in 0..count {
            let lanes = hidden(&weights, weights.bias, 0, &rows.unrank(mover, rank as u32)[..pits]);
            let (block, place) = (&mut movers[rank / ROWS_PER_BLOCK], rank % ROWS_PER_BLOCK);
            for (units, lanes) in block.iter_mut().zip(lanes.as_chunks::<2>().0) {
                units.0[2 * place..][..2].copy_from_slice(lanes);
            }
        }
        let (floor, outputs) = (everywhere(&weights.floor), everywhere(&weights.outputs));
        RunEvaluation { weights, pits, half: SEED / 2 * seeds as i32, movers, floor, outputs }
    }

    /// Evaluates the positions with this other row and the mover's rows from block `first` on,
    /// [`ROWS_PER_BLOCK`] each, as far as `evaluations` reaches.
    pub(super) fn evaluate(&self, isa: Isa, other: &TableRow, first: usize, evaluations: &mut [[i32; ROWS_PER_BLOCK]]) {
        let other = everywhere(&hidden(&self.weights, [0; LANES], self.pits, &other[..self.pits]));
        #[cfg(target_arch = "x86_64")]
        if matches!(isa, Isa::Avx2 { .. } | Isa::Avx512 { .. }) {
            // SAFETY: an `Isa` of these kinds exists only where the machine supports the features.
            return unsafe { self.evaluate_avx2(&other, first, evaluations) };
        }
        evaluate_plain(isa, self, &other, first, evaluations);
    }

    /// The same as [`evaluate_plain`], three times as fast.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn evaluate_avx2(&self, other: &Block, first: usize, evaluations: &mut [[i32; ROWS_PER_BLOCK]]) {
        use std::arch::x86_64::{
            __m256i, _mm_cvtsi32_si128, _mm256_add_epi16, _mm256_add_epi32, _mm256_load_si256, _mm256_madd_epi16,
            _mm256_max_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sra_epi32, _mm256_storeu_si256,
        };
        // SAFETY: both halves of a line lie within it and are aligned as it is.
        let halves = |units: &Units| unsafe {
            let at: *const __m256i = units.0.as_ptr().cast();
            [_mm256_load_si256(at), _mm256_load_si256(at.add(1))]
        };
        let (shift, base) = (_mm_cvtsi32_si128(self.weights.shift.into()), _mm256_set1_epi32(self.half));
        for (movers, evaluations) in self.movers[first..].iter().zip(evaluations) {
            let mut sums = [_mm256_setzero_si256(); 2];
            let shared = other.iter().zip(&self.floor).zip(&self.outputs);
            for (mover, ((other, floor), outputs)) in movers.iter().zip(shared) {
                let (mover, other, floor, outputs) = (halves(mover), halves(other), halves(floor), halves(outputs));
                for half in 0..2 {
                    let units = _mm256_max_epi16(_mm256_add_epi16(mover[half], other[half]), floor[half]);
                    sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(units, outputs[half]));
                }
            }
            let (low, high) = evaluations.split_at_mut(ROWS_PER_BLOCK / 2);
            for (sum, evaluations) in sums.into_iter().zip([low, high]) {
                let shifted = _mm256_add_epi32(base, _mm256_sra_epi32(sum, shift));
                // SAFETY: a half holds eight numbers of 32 bits.
                unsafe { _mm256_storeu_si256(evaluations.as_mut_ptr().cast(), shifted) };
            }
        }
    }
}

per_isa! {
    fn evaluate_plain(
        run: &RunEvaluation,
        other: &Block,
        first: usize,
        evaluations: &mut [[i32; ROWS_PER_BLOCK]],
    ) {
        let (shift, base) = (u32::from(run.weights.shift), run.half);
        for (movers, evaluations) in run.movers[first..].iter().zip(evaluations) {
            let mut sums = [0i32; ROWS_PER_BLOCK];
            let shared = other.iter().zip(&run.floor).zip(&run.outputs);
            for (mover, ((other, floor), outputs)) in movers.iter().zip(shared) {
                let unit = |at: usize| {
                    let unit = mover.0[at].wrapping_add(other.0[at]).max(floor.0[at]);
                    i32::from(unit) * i32::from(outputs.0[at])
                };
                for (place, sum) in sums.iter_mut().enumerate() {
                    *sum += unit(2 * place) + unit(2 * place + 1);
                }
            }
            *evaluations = sums.map(|sum| base + (sum >> shift));
        }
    }
}

/// Adds a row to `lanes`. Its first pit is input `first`.
fn hidden(weights: &Weights, mut lanes: [i16; LANES], first: usize, row: &[u8]) -> [i16; LANES] {
    for (pit, &held) in row.iter().enumerate() {
        let input = &weights.inputs[(first + pit) * (MOST_HELD + 1) + usize::from(held).min(MOST_HELD)];
        // A network in which a sum could overflow is rejected.
        lanes.iter_mut().zip(input).for_each(|(lane, &input)| *lane = lane.wrapping_add(input));
    }
    lanes
}

/// The same numbers for every row of a block.
fn everywhere(lanes: &[i16; LANES]) -> Block {
    let lanes = lanes.as_chunks::<2>().0;
    std::array::from_fn(|pair| Units(std::array::from_fn(|at| lanes[pair][at % 2])))
}
