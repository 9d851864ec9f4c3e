//! Random numbers from the seeds that users choose.

/// Returns the generator for `seed`. Neighbouring seeds give independent numbers, since people
/// count seeds up: one for each epoch, worker or run.
pub fn generator(seed: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(mixed(seed))
}

/// Returns one of `items`, the same on machines of all word sizes; `None` without items. The choice of `fastrand`
/// depends on the word size.
pub fn choice<T: Copy>(random: &mut fastrand::Rng, items: &[T]) -> Option<T> {
    (!items.is_empty()).then(|| items[random.u64(..items.len() as u64) as usize])
}

/// Mixes a number so that all bits of the result depend on all bits of `number`. Different numbers
/// give different results, and 0 gives 0.
///
/// The seed of `fastrand` is its state, and the states of neighbouring seeds stay neighbours for
/// ever. Without mixing, their numbers are correlated.
pub fn mixed(number: u64) -> u64 {
    // The last steps of SplitMix64 (Steele, Lea and Flood 2014; the constants are Stafford's
    // variant 13).
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
