use super::constants::{ABSENT, OTHER_ROW, OVER, STORE};
use super::forward::{Forward, lanes};
use super::score::{frame, score};
use crate::device::{Tracer, Words, Workgroup, extract_bits, pack4x_u8, unpack4x_u8};

/// Term of a row's rank when this number of pits is passed and these seeds and this potential are
/// left.
fn rank_term<T: Tracer>(params: &Forward, ranks: &Words<T>, passed: u32, seeds: u32, potential: u32) -> u32 {
    ranks.get((passed * (params.max_seeds + 1) + seeds) * params.stride + potential)
}

/// The rank of the row in these words of the ring: see `shaders/shared/rank.wgsl`.
fn rank<T: Tracer>(params: &Forward, ranks: &Words<T>, row: &[u32]) -> u32 {
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
fn sow<T: Tracer>(params: &Forward, sowings: &Words<T>, ring: &mut [u32; 4], mut place: u32) -> bool {
    while place != STORE && held_at(ring, place) > 1 {
        let sowing = 8 * (place * params.hands + held_at(ring, place));
        for (word, at) in ring.iter_mut().zip(sowing..) {
            *word = word.wrapping_add(sowings.get(at));
        }
        place = sowings.get(sowing + 4);
    }
    place == STORE
}

/// Sowings that end in the other row and may continue from there. They are followed position by
/// position, from their crossings.
pub(super) fn forward_relay<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, sowings, mut scores, rows, ranks]: [Words<T>; 7],
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
