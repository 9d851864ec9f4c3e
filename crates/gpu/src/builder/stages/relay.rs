//! Moves to lower layers that continue from the other row.

use super::constants::{ABSENT, OTHER_ROW, OVER, STORE};
use super::forward::Forward;
use super::score::{frame, score};
use crate::device::{Words, Workgroup, extract_bits, pack4x_u8, unpack4x_u8};

/// Term of a row's rank when this number of pits is passed and these seeds and this potential are
/// left.
fn rank_term(params: &Forward, ranks: &Words, passed: u32, seeds: u32, potential: u32) -> u32 {
    ranks.get((passed * (params.max_seeds + 1) + seeds) * params.stride + potential)
}

/// The rank of the row in these words of the ring: see `shaders/shared/rank.wgsl`.
fn rank(params: &Forward, ranks: &Words, row: &[u32]) -> u32 {
    let (mut seeds, mut potential) = (0, 0);
    for pit in 0..params.pits {
        potential += seeds;
        seeds += held_at(row, pit);
    }
    let mut result = rank_term(params, ranks, 0, seeds, potential);
    for pit in 0..params.pits.saturating_sub(2) {
        let held = held_at(row, pit);
        seeds -= held;
        potential -= held * (params.pits - 1 - pit);
        result = result.wrapping_add(rank_term(params, ranks, pit + 1, seeds, potential));
    }
    result
}

/// Seeds in a place.
fn held_at(ring: &[u32], place: u32) -> u32 {
    extract_bits(ring[place as usize / 4], 8 * (place % 4), 8)
}

/// Continues until the move is over, after the last seed of a sowing fell at `place`. Returns true
/// if the last seed of all fell into the store.
fn sow(params: &Forward, sowings: &Words, ring: &mut [u32; 4], mut place: u32) -> bool {
    while place != STORE && held_at(ring, place) > 1 {
        let sowing = 8 * (place * params.hands + held_at(ring, place));
        for (word, at) in ring.iter_mut().zip(sowing..) {
            *word = word.wrapping_add(sowings.get(at));
        }
        place = sowings.get(sowing + 4);
    }
    place == STORE
}

/// Lanes of a word that hold positions. The others may hold any scores of positions that exist.
fn lanes(params: &Forward, other: u32) -> std::ops::Range<u32> {
    0..params.others.saturating_sub(other).min(4)
}

/// Sowings that end in the other row and may continue from there. They are followed position by
/// position, from their crossings.
pub(super) fn forward_relay(
    group: &Workgroup,
    params: &Forward,
    [operand, frames, moves, sowings, mut scores, rows, ranks]: [Words; 7],
) {
    let relay_score = |crossing: u32, spilled: u32, other: u32| {
        let mut ring = [moves.get(crossing), moves.get(crossing + 1), rows.get(2 * other), rows.get(2 * other + 1)];
        let mut last = 0;
        for pit in (0..params.pits).cycle().take(spilled as usize) {
            last = OTHER_ROW + pit;
            ring[last as usize / 4] += 1 << (8 * (pit % 4));
        }
        let in_store = sow(params, &sowings, &mut ring, last);
        let (mover_row, other_row) = ring.split_at(OTHER_ROW as usize / 4);
        let seeds_of = |row: &[u32]| (0..params.pits).map(|pit| held_at(row, pit)).sum::<u32>();
        let (mover_seeds, other_seeds) = (seeds_of(mover_row), seeds_of(other_row));
        let mover_first = in_store && params.moves_again > 0 && other_seeds > 0;
        let ordered = |mover, other| if mover_first { (mover, other) } else { (other, mover) };
        let (to_move, waiting) = ordered(mover_seeds, other_seeds);
        let frame = frame(&frames, params.frames_at + to_move * params.total + waiting);
        if frame.rows == ABSENT {
            return 0;
        }
        let mut found = frame.profile_at;
        if frame.rows != OVER {
            let ranks = [mover_row, other_row].map(|row| rank(params, &ranks, row));
            let (to_move, waiting) = ordered(ranks[0], ranks[1]);
            let waiting = waiting.wrapping_sub(params.first_waiting);
            if waiting >= params.waiting_rows {
                return 0;
            }
            found = score(&operand, frame, waiting * frame.rows + to_move, to_move);
        }
        // All other seeds are in the store.
        if mover_first { params.total - to_move - waiting + found } else { params.total - found }
    };
    for thread in group.threads(params.threads) {
        let (number, word) = (params.first_group + thread / params.words, thread % params.words);
        let head = params.groups_at + 2 * number;
        let entries = params.entries_at + moves.get(head + 1)..params.entries_at + moves.get(head + 3);
        let raised = params.first_row..params.end_row;
        if moves.get(entries.end - 1) < raised.start || moves.get(entries.start) >= raised.end {
            continue;
        }
        let mut found = [0; 4];
        for lane in lanes(params, 4 * word) {
            let crossing = params.crossings_at + 2 * number;
            found[lane as usize] = relay_score(crossing, moves.get(head), 4 * word + lane);
        }
        for entry in entries {
            let row = moves.get(entry);
            if raised.contains(&row) {
                let at = row * params.words + word - params.base;
                let best = unpack4x_u8(scores.get(at));
                scores.set(at, pack4x_u8(std::array::from_fn(|lane| best[lane].max(found[lane]))));
            }
        }
    }
}

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
