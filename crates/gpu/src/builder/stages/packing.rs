//! Packing scores into groups: the bytes of a table file.

use super::constants::{
    BASE_BIAS, BASE_THREADS, EXCEPTION_BYTES, GROUP_POSITIONS, GROUP_WORDS, PATCH_HEAD_BYTES, PATCHED, PROFILE_ROWS,
    SCAN_BLOCK,
};
use crate::device::{WORKGROUP, Words, Workgroup, extract_bits, pack4x_u8, params, unpack4x_u8};

params! {
    /// Parameters of the stage `profile`.
    ///
    /// Buffers: scores, the sum for each mover's row (initially zeros).
    pub struct Profile {
        /// Threads: one for each word of a run and [`PROFILE_ROWS`] runs.
        threads,
        /// Words of a run.
        words,
        /// The first run.
        first_row,
        /// The run after the last.
        end_row,
        /// The first word of the scores that is in the buffer.
        base,
    }
}

/// Sums of the scores of each mover's row over all other rows.
pub(super) fn profile(group: &Workgroup, params: &Profile, [scores, mut sums]: [Words; 2]) {
    for thread in group.threads(params.threads) {
        let word = thread % params.words;
        let first = params.first_row + thread / params.words * PROFILE_ROWS;
        let mut sum = [0; 4];
        for row in first..(first + PROFILE_ROWS).min(params.end_row) {
            let scores = unpack4x_u8(scores.get(row * params.words + word - params.base));
            sum.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        }
        for (lane, sum) in (0..).zip(sum) {
            sums.atomic_add(4 * word + lane, sum);
        }
    }
}

params! {
    /// Parameters of the stage `mean`.
    ///
    /// Buffers: the sum for each mover's row, the profile.
    pub struct Mean {
        /// Threads: words of the profile.
        threads,
        /// Mover's rows.
        rows,
        /// Other rows: the number of scores in each sum.
        others,
    }
}

/// The profile of a frame: the mean score of each mover's row, rounded down.
pub(super) fn mean(group: &Workgroup, params: &Mean, [sums, mut profile]: [Words; 2]) {
    for thread in group.threads(params.threads) {
        let mut bytes = [0; 4];
        for (row, byte) in (4 * thread..params.rows).zip(&mut bytes) {
            *byte = sums.get(row) / params.others;
        }
        profile.set(thread, pack4x_u8(bytes));
    }
}

params! {
    /// Parameters of the stages `encode` and `patch`.
    ///
    /// Buffers of `encode`: scores, the profile of a frame, its groups, the size of each group's patch. Scores
    /// and groups may be windows, which begin with the same position. All sizes are there.
    pub struct Encode {
        /// Threads: groups.
        threads,
        /// The first group.
        first_group,
        /// Mover's rows.
        rows,
        /// Words of a run of scores.
        words,
        /// The first group of the windows. It begins with a run.
        origin,
        /// Positions of the windows.
        positions,
    }
}

/// Residuals, biased so that they are positive, of the positions of `group`.
///
/// Panics if a wrong parameter leads beyond the scores.
fn residuals<'a>(
    params: &'a Encode,
    scores: &'a Words,
    profile: &'a Words,
    group: u32,
) -> impl Iterator<Item = u32> + 'a {
    let first = (group - params.origin) * GROUP_POSITIONS;
    (first..first + GROUP_POSITIONS.min(params.positions - first)).map(move |index| {
        let (row, mover) = (index / params.rows, index % params.rows);
        let (word, shift) = (row * params.words + mover / 4, 8 * (mover % 4));
        let score = extract_bits(scores.get(word), shift, 8);
        (score + BASE_BIAS).wrapping_sub(extract_bits(profile.get(mover / 4), shift, 8))
    })
}

/// The first word of a group.
fn words_of(params: &Encode, group: u32) -> u32 {
    (group - params.origin) * GROUP_WORDS
}

/// Packs scores into groups. The patches are left to `patch`.
///
/// For groups with exceptions, threads of the workgroup try the possible bases. They choose the
/// smallest base with which the most residuals fit 4 bits.
pub(super) fn encode(group: &Workgroup, params: &Encode, [scores, profile, mut groups, mut sizes]: [Words; 4]) {
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
    group.barrier();
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
    group.barrier();
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
    group.barrier();
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

params! {
    /// Parameters of the stage `scan`.
    ///
    /// Buffers: numbers, the sum of each block. One workgroup for each block of [`SCAN_BLOCK`] numbers.
    pub struct Scan {
        /// Numbers.
        numbers,
        /// The first block.
        first_block,
    }
}

/// Numbers that a thread adds up.
const SCAN_SHARE: u32 = SCAN_BLOCK / WORKGROUP;

/// Replaces each number by the sum of those before it in its block.
pub(super) fn scan(group: &Workgroup, params: &Scan, [mut numbers, mut sums]: [Words; 2]) {
    let mut partial = [0; WORKGROUP as usize];
    let mut partial = group.memory(&mut partial);
    let block = params.first_block + group.number();
    let share = |local: u32| {
        let first = block * SCAN_BLOCK + local * SCAN_SHARE;
        first..(first + SCAN_SHARE).min(params.numbers)
    };
    // Private variables of each thread.
    let (mut own, mut before) = ([0; WORKGROUP as usize], [0; WORKGROUP as usize]);
    for local in group.locals() {
        let sum: u32 = share(local).map(|index| numbers.get(index)).sum();
        own[local as usize] = sum;
        partial.set(local, sum);
    }
    let mut reach = 1;
    while reach < WORKGROUP {
        group.barrier();
        for local in group.locals() {
            before[local as usize] = if local >= reach { partial.get(local - reach) } else { 0 };
        }
        group.barrier();
        for local in group.locals() {
            partial.set(local, partial.get(local) + before[local as usize]);
        }
        reach *= 2;
    }
    for local in group.locals() {
        if local == WORKGROUP - 1 {
            sums.set(block, partial.get(local));
        }
        let mut running = partial.get(local) - own[local as usize];
        for index in share(local) {
            let number = numbers.get(index);
            numbers.set(index, running);
            running += number;
        }
    }
}

/// Writes the patches of groups with exceptions.
///
/// Buffers:
/// - scores
/// - the profile of a frame
/// - its groups
/// - the start of each patch in its block of groups
/// - the start of each block in its superblock
/// - the start of each superblock
/// - patches (initially zeros)
pub(super) fn patch(
    group: &Workgroup,
    params: &Encode,
    [scores, profile, mut groups, sizes, block_sums, superblock_sums, mut patches]: [Words; 7],
) {
    let mut put = |at: u32, byte: u32| patches.atomic_or(at / 4, byte << (8 * (at % 4)));
    for thread in group.threads(params.threads) {
        let group = params.first_group + thread;
        let group_at = words_of(params, group);
        let mark = groups.get(group_at + GROUP_WORDS - 1) >> 24;
        if mark & PATCHED == 0 {
            continue;
        }
        let base = mark & !PATCHED;
        let (block, superblock) = (group / SCAN_BLOCK, group / (SCAN_BLOCK * SCAN_BLOCK));
        let offset = sizes.get(group) + block_sums.get(block) + superblock_sums.get(superblock);
        for byte in 0..4 {
            put(offset + byte, extract_bits(groups.get(group_at), 8 * byte, 8));
        }
        groups.set(group_at, offset);
        let mut exceptions = 0;
        for (place, value) in (0..).zip(residuals(params, &scores, &profile, group)) {
            let code = value.wrapping_sub(base) & 0xff;
            if code > 15 {
                let at = offset + PATCH_HEAD_BYTES + exceptions * EXCEPTION_BYTES;
                put(at, place);
                put(at + 1, code);
                exceptions += 1;
            }
        }
        put(offset + PATCH_HEAD_BYTES - 1, exceptions);
    }
}
