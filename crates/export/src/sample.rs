use kalah_base::random::generator;

/// Selects `count` distinct random numbers below `positions`, ascending, or all if there are fewer.
/// Every set of that size is equally likely, and the same `seed` gives the same set.
///
/// Takes 8 bytes for each number, or twice that if more than half of all are selected.
pub fn random_indices(positions: u64, count: u64, seed: u64) -> Vec<u64> {
    let count = count.min(positions);
    if count > positions / 2 {
        // Selects the numbers to leave out, which are fewer.
        let mut left_out = random_indices(positions, positions - count, seed).into_iter().peekable();
        return (0..positions).filter(|index| left_out.next_if_eq(index).is_none()).collect();
    }
    let mut random = generator(seed);
    let mut chosen = Vec::with_capacity(count as usize);
    // Takes the first `count` distinct numbers of a random sequence: at most half of all, so that a
    // few rounds suffice.
    while (chosen.len() as u64) < count {
        let missing = count - chosen.len() as u64;
        chosen.extend((0..missing).map(|_| random.u64(..positions)));
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_distinct_ascending_and_of_the_size_asked_for() {
        for positions in [1, 2, 7, 100] {
            for count in 0..=positions + 1 {
                let chosen = random_indices(positions, count, 3);
                assert_eq!(chosen.len() as u64, count.min(positions));
                assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.iter().all(|&index| index < positions));
                assert_eq!(chosen, random_indices(positions, count, 3));
            }
        }
        assert_ne!(random_indices(1000, 10, 1), random_indices(1000, 10, 2));
    }

    #[test]
    fn every_position_is_as_likely_as_the_others() {
        for count in [2, 5] {
            let mut times = [0u32; 6];
            for seed in 0..6000 {
                random_indices(6, count, seed).iter().for_each(|&index| times[index as usize] += 1);
            }
            let expected = 1000 * count as u32;
            // Some six standard deviations.
            assert!(times.iter().all(|&times| times.abs_diff(expected) < 200), "{count}: {times:?}");
        }
    }
}
