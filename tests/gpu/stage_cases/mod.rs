//! Stages with random parameters and buffers, also of odd sizes, for tests that run them in different ways.
//!
//! Each stage has a function of its name.

mod forward;
mod operand;
mod packing;
mod quiet;

use std::fmt::Debug;
use std::ops::Range;

use fastrand::Rng;
pub(crate) use forward::{forward_again, forward_capture, forward_pass, forward_relay};
use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Params, WORKGROUP};
use kalah::index::MAX_TABLE_SEEDS;
pub(crate) use packing::{encode, mean, patch, profile, scan};
pub(crate) use quiet::{quiet_large, quiet_small, transpose};

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

/// Calls `once` with random shapes until the words that it made, which it returns, are enough.
fn until_enough<R: Run>(on: &mut R, seed: u64, mut once: impl FnMut(&mut R, &mut Rng) -> usize) {
    let mut rng = Rng::with_seed(seed);
    let (mut words, mut rounds) = (0, 0);
    while words < on.enough() || rounds < 12 {
        words += once(on, &mut rng);
        rounds += 1;
    }
}

fn random_words(rng: &mut Rng, count: usize) -> Vec<u32> {
    (0..count.max(4)).map(|_| rng.u32(..)).collect()
}

/// Makes random words of four scores each.
fn random_scores(rng: &mut Rng, words: usize, greatest: u32) -> Vec<u32> {
    (0..words.max(4)).map(|_| u32::from_le_bytes([0; 4].map(|_: u8| rng.u32(0..=greatest) as u8))).collect()
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

fn workgroups(threads: u32) -> u32 {
    // Superfluous threads do nothing.
    threads.div_ceil(WORKGROUP) + 1
}
fn at_least_four(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().max(4), 0);
    words
}

/// Number of words that a window may have in front of its first row.
fn base_before(rng: &mut Rng, first: usize) -> usize {
    if rng.bool() { 0 } else { rng.usize(first.saturating_sub(16)..=first) }
}

/// Makes some entries for a row, often none.
fn some<T>(rng: &mut Rng, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    let count = if rng.u8(0..5) == 0 { 0 } else { rng.usize(1..=6) };
    (0..count).map(|_| one(rng)).collect()
}
