use super::constants::{OTHER_ROW, STORE};

/// Effect of each sowing on the ring on which `shaders/forward_relay.wgsl` follows relays, for a
/// board with `pits` pits a side.
///
/// There are eight words for each place below `STORE` and, varying faster, each number of seeds
/// below `hands`. The first four are added to those of the ring, modulo 2^32 each. The fifth is the
/// place where the last seed falls. The last three are unused. All words are zero for places that
/// are not pits of the board.
pub fn sowings(pits: usize, hands: usize) -> Vec<u32> {
    let (other, store) = (OTHER_ROW as usize, STORE as usize);
    // In sowing order the store comes between the rows.
    let ring = || (0..pits).chain([store]).chain(other..other + pits).cycle();
    let mut words = Vec::with_capacity(8 * store * hands);
    for (place, seeds) in (0..store).flat_map(|place| (0..hands).map(move |seeds| (place, seeds))) {
        let mut sown = [0u32; 8];
        if place % other < pits {
            // Value of a seed in its place. In the store it does not matter.
            let seed = |place: usize| 1 << (8 * (place % 4));
            sown[place / 4] = sown[place / 4].wrapping_sub(seeds as u32 * seed(place));
            let mut last = place;
            for next in ring().skip_while(|&next| next != place).skip(1).take(seeds) {
                last = next;
                if next != store {
                    sown[next / 4] = sown[next / 4].wrapping_add(seed(next));
                }
            }
            sown[4] = last as u32;
        }
        words.extend(sown);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sowing_adds_what_seeds_do_one_by_one() {
        let mut rng = fastrand::Rng::with_seed(11);
        for pits in 1..=8 {
            let hands = 44;
            let words = sowings(pits, hands);
            for _ in 0..2000 {
                // A board: the mover's pits, the store, the other pits.
                let mut board: Vec<u8> = (0..=2 * pits).map(|_| rng.u8(0..=40)).collect();
                let place_of = |pit: usize| match pit {
                    _ if pit < pits => pit,
                    _ if pit == pits => STORE as usize,
                    _ => OTHER_ROW as usize + pit - pits - 1,
                };
                let ring = |board: &[u8]| {
                    let mut bytes = [0; 16];
                    for (pit, &seeds) in board.iter().enumerate().filter(|&(pit, _)| pit != pits) {
                        bytes[place_of(pit)] = seeds;
                    }
                    bytemuck::cast::<[u8; 16], [u32; 4]>(bytes).map(u32::from_le)
                };
                let mut pit = rng.usize(0..2 * pits);
                pit += usize::from(pit >= pits);
                let entry = 8 * (place_of(pit) * hands + usize::from(board[pit]));
                let before = ring(&board);
                for _ in 0..std::mem::take(&mut board[pit]) {
                    pit = (pit + 1) % board.len();
                    board[pit] += 1;
                }
                let after: [u32; 4] = std::array::from_fn(|word| before[word].wrapping_add(words[entry + word]));
                assert_eq!((after, words[entry + 4] as usize), (ring(&board), place_of(pit)), "{pits} pits");
            }
        }
    }
}
