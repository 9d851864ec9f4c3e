use super::constants::{EXCEPTION_BYTES, GROUP_WORDS, PATCH_HEAD_BYTES, PATCHED};
use super::residual::{Encode, residuals};
use crate::gpu::{Tracer, Words, Workgroup};

/// The base with which the most residuals fit 4 bits (the smallest such base), and how many fit.
fn best_base(residuals: impl Iterator<Item = u32>, least: u32, greatest: u32) -> (u32, u32) {
    let mut counts = [0u32; 128];
    residuals.for_each(|value| counts[value as usize] += 1);
    let fitting = |base: u32| counts[base as usize..][..16].iter().sum::<u32>();
    (least..=greatest - 15)
        .map(|base| (base, fitting(base)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .expect("a base at least")
}

/// Packs scores into groups; the patches are left to [`Stage::Patch`](super::Stage::Patch).
pub(super) fn encode<T: Tracer>(group: &Workgroup<T>, params: &Encode, [scores, mut head, mut sizes]: [Words<T>; 3]) {
    for thread in group.threads(params.threads) {
        let group = params.first_group + thread;
        let values: Vec<u32> = residuals(params, &scores, &head, group).collect();
        let least = values.iter().copied().min().expect("groups are not empty");
        let greatest = values.iter().copied().max().expect("groups are not empty");
        let (mut base, mut mark, mut size) = (least, 0, 0);
        if greatest - least > 15 {
            let (best, fitting) = best_base(values.iter().copied(), least, greatest);
            (base, mark) = (best, PATCHED);
            size = PATCH_HEAD_BYTES + EXCEPTION_BYTES * (values.len() as u32 - fitting);
        }
        for word in 0..GROUP_WORDS {
            let mut codes = 0;
            for place in 8 * word..(8 * word + 8).min(values.len() as u32) {
                // Below the base it wraps around to a large number.
                let code = values[place as usize].wrapping_sub(base);
                if code <= 15 {
                    codes |= code << (4 * (place % 8));
                }
            }
            if word == GROUP_WORDS - 1 {
                codes |= (base | mark) << 24;
            }
            head.set(params.groups_at + group * GROUP_WORDS + word, codes);
        }
        sizes.set(group, size);
    }
}
