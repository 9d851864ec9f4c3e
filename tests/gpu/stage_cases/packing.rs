use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::{
    Encode, GROUP_POSITIONS, GROUP_WORDS, Mean, PROFILE_ROWS, Profile, SCAN_BLOCK, Scan, Stage, rows_of_whole_groups,
};
use kalah::gpu::NoTrace;

use super::{
    Run, TOTAL, at_least_four, random_part, random_shape, random_words, run_twin, until_enough, window, workgroups,
};

pub(super) fn profile(on: &mut impl Run) {
    until_enough(on, 8, |on, rng| {
        let columns = rng.usize(1..30_000);
        let rows = rng.usize(1..400);
        let words = columns.div_ceil(4);
        let part = random_part(rng, rows);
        let (base, scores) = window(rng, &part, words, 255);
        let params = Profile {
            threads: (words * part.len().div_ceil(PROFILE_ROWS as usize)) as u32,
            words: words as u32,
            first_row: part.start as u32,
            end_row: part.end as u32,
            base,
        };
        let sums = if rng.bool() { vec![0; 4 * words] } else { (0..4 * words).map(|_| rng.u32(0..1 << 30)).collect() };
        on.run(Stage::Profile, &params, workgroups(params.threads), vec![scores, sums]);
        4 * words
    });
}

pub(super) fn mean(on: &mut impl Run) {
    until_enough(on, 9, |on, rng| {
        let rows = rng.usize(1..100_000);
        let others = rng.u32(1..1_100_000);
        let sums: Vec<u32> = (0..rows.max(4)).map(|_| rng.u32(0..=others * TOTAL)).collect();
        let words = rows.next_multiple_of(64) / 4;
        let params = Mean { threads: words as u32, rows: rows as u32, others };
        let after = rng.usize(0..100);
        let profile = random_words(rng, words + after);
        let made = on.run(Stage::Mean, &params, workgroups(params.threads), vec![sums.clone(), profile.clone()]);
        assert_eq!(made[1][words..], profile[words..]);
        for (row, sum) in sums.iter().enumerate().take(rows) {
            assert_eq!(u32::from(made[1][row / 4].to_le_bytes()[row % 4]), sum / others);
        }
        words
    });
}

/// Scores of a frame, and all results of packing them before the stage under test.
struct Packing {
    rows: usize,
    words: usize,
    positions: usize,
    /// Runs of scores, each padded.
    scores: Vec<u32>,
    profile: Vec<u32>,
    /// Room for all groups.
    made: Vec<u32>,
    groups: usize,
}

fn packing(rng: &mut Rng) -> Packing {
    let (runs, rows) = random_shape(rng, 200_000);
    let (words, positions) = (rows.div_ceil(4), runs * rows);
    let profile: Vec<u8> = (0..rows.next_multiple_of(64)).map(|_| rng.u8(8..36)).collect();
    let wild = *rng.choice([0.0, 0.001, 0.05, 1.0].iter()).unwrap();
    let mut scores = vec![0u8; 4 * words * runs];
    for run in 0..runs {
        for row in 0..rows {
            let near = profile[row] - 7 + rng.u8(0..15);
            scores[4 * words * run + row] = if rng.f64() < wild { rng.u8(0..=TOTAL as u8) } else { near };
        }
    }
    let groups = positions.div_ceil(GROUP_POSITIONS as usize);
    Packing {
        rows,
        words,
        positions,
        scores: at_least_four(bytemuck::pod_collect_to_vec(&scores)),
        profile: bytemuck::pod_collect_to_vec(&profile),
        made: random_words(rng, groups * GROUP_WORDS as usize),
        groups,
    }
}

impl Packing {
    /// Returns the parameters for some groups that are packed at once, and the first buffers: a window of whole runs,
    /// the profile, and a window of `made` groups.
    fn part(&self, rng: &mut Rng, groups: &Range<usize>, made: &[u32]) -> (Encode, Vec<Vec<u32>>) {
        let (group, words) = (GROUP_POSITIONS as usize, GROUP_WORDS as usize);
        let unit = rows_of_whole_groups(self.rows as u64) as usize;
        let first_run = groups.start * group / self.rows / unit * unit;
        let first_run = if rng.bool() { first_run } else { rng.usize(0..=first_run / unit) * unit };
        let end_run = (groups.end * group).min(self.positions).div_ceil(self.rows);
        let origin = first_run * self.rows / group;
        let params = Encode {
            threads: groups.len() as u32,
            first_group: groups.start as u32,
            rows: self.rows as u32,
            words: self.words as u32,
            origin: origin as u32,
            positions: (self.positions - first_run * self.rows) as u32,
        };
        let scores = at_least_four(self.scores[first_run * self.words..end_run * self.words].to_vec());
        (params, vec![scores, self.profile.clone(), made[origin * words..].to_vec()])
    }
}

pub(super) fn encode(on: &mut impl Run) {
    let (mut plain, mut patched) = (0, 0);
    until_enough(on, 10, |on, rng| {
        let packing = packing(rng);
        let groups = random_part(rng, packing.groups);
        let (params, mut buffers) = packing.part(rng, &groups, &packing.made);
        let sizes = random_words(rng, packing.groups);
        buffers.push(sizes.clone());
        let made = on.run(Stage::Encode, &params, workgroups(params.threads), buffers).pop().unwrap();
        assert_eq!(made[..groups.start], sizes[..groups.start]);
        assert_eq!(made[groups.end..], sizes[groups.end..]);
        let with_patches = made[groups.clone()].iter().filter(|&&size| size > 0).count();
        patched += with_patches;
        plain += groups.len() - with_patches;
        groups.len() * (GROUP_WORDS as usize + 1)
    });
    assert!(plain > 100 && patched > 100);
}

/// Returns the sum of the numbers before each one in its block, and the sum of each block.
fn sums_before(numbers: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let blocks = numbers.chunks(SCAN_BLOCK as usize);
    let sums = blocks.clone().map(|block| block.iter().sum()).collect();
    let before = |sum: &mut u32, number: &u32| Some(std::mem::replace(sum, *sum + number));
    (blocks.flat_map(|block| block.iter().scan(0, before)).collect(), sums)
}

pub(super) fn scan(on: &mut impl Run) {
    until_enough(on, 11, |on, rng| {
        let block = SCAN_BLOCK as usize;
        let any = rng.usize(1..70_000);
        let count = *rng.choice([1, 3, 4, 5, 1023, 1024, 1025, 4096, any].iter()).unwrap();
        let blocks = random_part(rng, count.div_ceil(block));
        let numbers: Vec<u32> = (0..count).map(|_| if rng.bool() { 0 } else { rng.u32(0..100_000) }).collect();
        let params = Scan { numbers: count as u32, first_block: blocks.start as u32 };
        let sums = random_words(rng, count.div_ceil(block));
        let made = on.run(Stage::Scan, &params, blocks.len() as u32, vec![at_least_four(numbers.clone()), sums]);
        let (before, sums) = sums_before(&numbers);
        let scanned = blocks.start * block..(blocks.end * block).min(count);
        assert_eq!(made[0][scanned.clone()], before[scanned.clone()]);
        assert_eq!(made[0][scanned.end..count], numbers[scanned.end..]);
        assert_eq!(made[1][blocks.clone()], sums[blocks]);
        scanned.len()
    });
}

pub(super) fn patch(on: &mut impl Run) {
    let mut patched = 0;
    until_enough(on, 12, |on, rng| {
        let packing = packing(rng);
        let (params, mut encoded) = packing.part(rng, &(0..packing.groups), &packing.made);
        encoded.push(vec![0; packing.groups.max(4)]);
        run_twin(Stage::Encode, &params, workgroups(params.threads), &mut encoded, &NoTrace);
        patched += encoded[3].iter().filter(|&&size| size > 0).count();
        let (sizes, sums) = sums_before(&encoded[3]);
        let (block_sums, sums) = sums_before(&sums);
        let (superblock_sums, sums) = sums_before(&sums);

        let groups = random_part(rng, packing.groups);
        let (params, mut buffers) = packing.part(rng, &groups, &encoded[2]);
        buffers.extend([sizes, block_sums, superblock_sums, vec![0; sums[0].div_ceil(4) as usize]].map(at_least_four));
        let written = buffers[6].len();
        on.run(Stage::Patch, &params, workgroups(params.threads), buffers);
        written
    });
    assert!(patched > 1000);
}
