use super::constants::{BASE_THREADS, EXCEPTION_BYTES, GROUP_WORDS, PATCH_HEAD_BYTES, PATCHED};
use super::residual::{Encode, residuals, words_of};
use crate::device::{Barrier, Tracer, WORKGROUP, Words, Workgroup, extract_bits};

/// Packs scores into groups. The patches are left to [`Stage::Patch`](super::Stage::Patch).
///
/// For groups with exceptions, threads of the workgroup try the possible bases. They choose the
/// smallest base with which the most residuals fit 4 bits.
pub(super) fn encode<T: Tracer>(
    group: &Workgroup<T>,
    params: &Encode,
    [scores, profile, mut groups, mut sizes]: [Words<T>; 4],
) {
    let (mut exceptional, mut ranges, mut best) = ([0; 1], [0; WORKGROUP as usize], [0; WORKGROUP as usize]);
    let mut exceptional = group.memory(&mut exceptional);
    let mut ranges = group.memory(&mut ranges);
    let mut best = group.memory(&mut best);
    let first_group = params.first_group + group.number() * WORKGROUP;
    for local in group.locals() {
        if local == 0 {
            exceptional.atomic_store(0, 0);
        }
        best.atomic_store(local, 0);
    }
    group.barrier(Barrier::Workgroup);
    // Private variables of the threads: the least residual, and true if their group has exceptions.
    let mut ranges_of_threads = [(0, false); WORKGROUP as usize];
    for thread in group.threads(params.threads) {
        let local = thread % WORKGROUP;
        let values = || residuals(params, &scores, &profile, first_group + local);
        let least = values().min().expect("groups are not empty");
        let greatest = values().max().expect("groups are not empty");
        let is_exceptional = greatest > least + 15;
        if is_exceptional {
            ranges.set(exceptional.atomic_add(0, 1), local | least << 8 | greatest << 16);
        }
        ranges_of_threads[local as usize] = (least, is_exceptional);
    }
    group.barrier(Barrier::Workgroup);
    for local in group.locals() {
        for number in (local / BASE_THREADS..exceptional.atomic_load(0)).step_by((WORKGROUP / BASE_THREADS) as usize) {
            let [other, least, greatest] = [0, 8, 16].map(|shift| extract_bits(ranges.get(number), shift, 8));
            for base in (least + local % BASE_THREADS..=greatest - 15).step_by(BASE_THREADS as usize) {
                let fits = |value: &u32| (base..base + 16).contains(value);
                let fitting = residuals(params, &scores, &profile, first_group + other).filter(fits).count() as u32;
                best.atomic_max(other, fitting << 8 | (255 - base));
            }
        }
    }
    group.barrier(Barrier::Workgroup);
    for thread in group.threads(params.threads) {
        let local = thread % WORKGROUP;
        let group = first_group + local;
        let values: Vec<u32> = residuals(params, &scores, &profile, group).collect();
        let (least, is_exceptional) = ranges_of_threads[local as usize];
        let (mut base, mut mark, mut size) = (least, 0, 0);
        if is_exceptional {
            let found = best.atomic_load(local);
            (base, mark) = (255 - extract_bits(found, 0, 8), PATCHED);
            size = PATCH_HEAD_BYTES + EXCEPTION_BYTES * (values.len() as u32 - (found >> 8));
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
            groups.set(words_of(params, group) + word, codes);
        }
        sizes.set(group, size);
    }
}
