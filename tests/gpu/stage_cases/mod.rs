//! Stages with random parameters and buffers, also of odd sizes, for tests that run them in different ways.

mod forward;
mod operand;
mod packing;
mod quiet;

use std::fmt::Debug;
use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Params, Tracer, WORKGROUP};
use kalah::index::MAX_TABLE_SEEDS;

/// Most seeds in play, and greatest score.
const TOTAL: u32 = MAX_TABLE_SEEDS as u32;

/// A way to run stages.
pub(crate) trait Run {
    /// Runs a stage once and checks something; returns the resulting buffers.
    fn run<P: Params + Debug>(
        &mut self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        buffers: Vec<Vec<u32>>,
    ) -> Vec<Vec<u32>>;

    /// Least number of words that the test of a stage must cover.
    fn enough(&self) -> usize;
}

/// Runs a stage with many random cases.
pub(crate) fn run(stage: Stage, on: &mut impl Run) {
    match stage {
        Stage::ForwardPass => forward::to_one_frame(on, stage, 1),
        Stage::ForwardAgain => forward::to_one_frame(on, stage, 2),
        Stage::ForwardCapture => forward::capture(on),
        Stage::ForwardRelay => forward::relay(on),
        Stage::Transpose => quiet::transpose(on),
        Stage::QuietLarge => quiet::quiet(on, stage, 15),
        Stage::QuietSmall => quiet::quiet(on, stage, 6),
        Stage::Profile => packing::profile(on),
        Stage::Mean => packing::mean(on),
        Stage::Encode => packing::encode(on),
        Stage::Scan => packing::scan(on),
        Stage::Patch => packing::patch(on),
    }
}

/// Runs the twin of a stage.
pub(crate) fn run_twin<P: Params>(
    stage: Stage,
    params: &P,
    workgroups: u32,
    buffers: &mut [Vec<u32>],
    tracer: &dyn Tracer,
) {
    for workgroup in 0..workgroups {
        (stage.kernel().twin)(workgroup, bytemuck::cast_slice(std::slice::from_ref(params)), buffers, tracer);
    }
}

/// Calls `once` with random shapes until the words that it made, which it returns, are enough.
fn until_enough<R: Run>(on: &mut R, seed: u64, mut once: impl FnMut(&mut R, &mut Rng) -> usize) {
    let mut rng = Rng::with_seed(seed);
    let (mut words, mut rounds) = (0, 0);
    while words < on.enough() || rounds < 12 {
        words += once(on, &mut rng);
        rounds += 1;
    }
}

/// Makes words in front of others in a buffer.
fn words_before(rng: &mut Rng, count: usize) -> Vec<u32> {
    (0..count).map(|_| rng.u32(..)).collect()
}

/// Makes a buffer.
fn random_words(rng: &mut Rng, count: usize) -> Vec<u32> {
    words_before(rng, count.max(4))
}

fn at_least_four(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().max(4), 0);
    words
}

/// Makes random words of four scores each.
fn random_scores(rng: &mut Rng, words: usize, greatest: u32) -> Vec<u32> {
    (0..words.max(4)).map(|_| u32::from_le_bytes([0; 4].map(|_: u8| rng.u32(0..=greatest) as u8))).collect()
}

/// Makes the scores of some rows, and the number of the first word. It may be in front of the first row, as in aligned
/// windows.
fn window(rng: &mut Rng, rows: &Range<usize>, words: usize, greatest: u32) -> (u32, Vec<u32>) {
    let base = base_before(rng, rows.start * words);
    (base as u32, random_scores(rng, rows.end * words - base, greatest))
}

/// Number of words that a window may have in front of its first row.
fn base_before(rng: &mut Rng, first: usize) -> usize {
    if rng.bool() { 0 } else { rng.usize(first.saturating_sub(16)..=first) }
}

/// Number of words that differ.
fn changed(after: &[u32], before: &[u32]) -> usize {
    after.iter().zip(before).filter(|(after, before)| after != before).count()
}

/// Chooses rows and columns, with odd and single ones among them.
fn random_shape(rng: &mut Rng, most: usize) -> (usize, usize) {
    let any = rng.usize(1..700);
    let columns = *rng.choice([1, 2, 3, 4, 5, 63, 64, 65, 127, 255, 257, any].iter()).unwrap();
    let rows = if rng.u8(0..8) == 0 { 1 } else { rng.usize(1..=(most / columns).max(1)) };
    (rows, columns)
}

/// Chooses a part of `count` that is not empty; often all.
fn random_part(rng: &mut Rng, count: usize) -> Range<usize> {
    if rng.bool() {
        return 0..count;
    }
    let first = rng.usize(0..count);
    first..rng.usize(first + 1..=count)
}

/// Number of workgroups. Superfluous threads do nothing.
fn workgroups(threads: u32) -> u32 {
    threads.div_ceil(WORKGROUP) + 1
}

/// Makes some entries for a row, often none.
fn some<T>(rng: &mut Rng, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    let count = if rng.u8(0..5) == 0 { 0 } else { rng.usize(1..=6) };
    (0..count).map(|_| one(rng)).collect()
}
