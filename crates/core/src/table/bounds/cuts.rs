use crate::evaluation::SEED;
use crate::game::Bounds;

/// Maximum number of cuts.
pub const MAX_CUTS: usize = 3;

/// Distances from the evaluation of a position at which scores are divided into intervals.
///
/// With an evaluation e, the *threshold* of a cut c is the least whole number of seeds that is at least e + c. The
/// *code* of a score is the number of thresholds that it reaches: 1 bit with one cut, 2 bits with three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// In sixteenths of a seed, ascending. Only the first `count` are used; the others are 0.
    cuts: [i16; MAX_CUTS],
    count: u8,
}

impl Cuts {
    /// Cut for codes of 1 bit: the evaluation.
    pub const ONE_BIT: Cuts = Cuts { cuts: [0; MAX_CUTS], count: 1 };

    /// Cuts for codes of 2 bits: four seeds below the evaluation, the evaluation, four seeds above. Closer cuts leave
    /// more positions of a search undecided (docs/measurements.md in the repository).
    pub const TWO_BITS: Cuts = Cuts { cuts: [-4 * SEED as i16, 0, 4 * SEED as i16], count: MAX_CUTS as u8 };

    /// Cuts for codes of `bits` bits, [`Cuts::ONE_BIT`] or [`Cuts::TWO_BITS`]; otherwise `None`.
    pub const fn with_bits(bits: u32) -> Option<Cuts> {
        match bits {
            1 => Some(Cuts::ONE_BIT),
            2 => Some(Cuts::TWO_BITS),
            _ => None,
        }
    }

    /// Makes one or three cuts, in sixteenths of a seed relative to the evaluation, ascending or equal; or `None`.
    pub fn new(cuts: &[i16]) -> Option<Cuts> {
        if ![1, MAX_CUTS].contains(&cuts.len()) || !cuts.is_sorted() {
            return None;
        }
        let mut own = [0; MAX_CUTS];
        own[..cuts.len()].copy_from_slice(cuts);
        Some(Cuts { cuts: own, count: cuts.len() as u8 })
    }

    /// The cuts, in sixteenths of a seed, ascending.
    pub fn sixteenths(&self) -> &[i16] {
        &self.cuts[..usize::from(self.count)]
    }

    /// Bits of a code: 1 or 2.
    #[inline]
    pub fn bits(&self) -> u32 {
        if usize::from(self.count) == MAX_CUTS { 2 } else { 1 }
    }

    /// Least score that reaches cut `cut` (from 0) of a position with this evaluation, in sixteenths of a seed.
    #[inline]
    fn threshold(&self, cut: usize, evaluation: i32) -> i32 {
        evaluation.saturating_add(i32::from(self.cuts[cut])).saturating_add(SEED - 1).div_euclid(SEED)
    }

    /// Code of a score: the number of cuts that it reaches.
    #[inline]
    pub fn code(&self, evaluation: i32, score: u32) -> u8 {
        (0..usize::from(self.count)).map(|cut| u8::from(score as i32 >= self.threshold(cut, evaluation))).sum()
    }

    /// Bounds, from 0 to `seeds`, of the score of a position with this code and evaluation. If no such score has this
    /// code, by damage or another evaluation, the lower bound is above the upper one, or both are 0 or `seeds`.
    #[inline]
    pub fn bounds(&self, code: u8, evaluation: i32, seeds: u32) -> Bounds {
        let clamped = |score: i32| score.clamp(0, seeds as i32) as u32;
        let code = usize::from(code).min(usize::from(self.count));
        let lower = if code == 0 { 0 } else { clamped(self.threshold(code - 1, evaluation)) };
        let upper = if code == usize::from(self.count) {
            seeds
        } else {
            clamped(self.threshold(code, evaluation).saturating_sub(1))
        };
        Bounds { lower, upper }
    }
}
