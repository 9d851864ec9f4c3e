use super::constants::{ABSENT, OVER};
use super::forward::{Forward, lanes};
use super::score::{frame, score};
use crate::gpu::{Tracer, Words, Workgroup, extract_bits, pack4x_u8, unpack4x_u8};
use crate::index::MAX_TABLE_PITS;

/// Places on the largest ring: two rows and a store.
const RING: usize = 2 * MAX_TABLE_PITS + 1;

/// Rows of `pits` pits with these seeds and this potential.
fn row_count<T: Tracer>(params: &Forward, ranks: &Words<T>, pits: u32, seeds: u32, potential: u32) -> u32 {
    ranks.get(((pits - 1) * (params.max_seeds + 1) + seeds) * params.stride + potential)
}

/// Rows with these seeds and a potential below this one.
fn rows_below<T: Tracer>(params: &Forward, ranks: &Words<T>, seeds: u32, potential: u32) -> u32 {
    ranks.get(params.levels_at + seeds * (params.stride + 1) + potential)
}

/// The rank of the row whose first pit is at `first` of the ring: see `shaders/shared/rank.wgsl`.
fn rank<T: Tracer>(params: &Forward, ranks: &Words<T>, ring: &[u32], first: u32) -> u32 {
    let row = &ring[first as usize..];
    let (mut seeds, mut potential) = (0, 0);
    for &pit in &row[..params.pits as usize] {
        potential += seeds;
        seeds += pit;
    }
    let mut result = rows_below(params, ranks, seeds, potential);
    for (pits, &pit) in (3..=params.pits).rev().zip(row) {
        result += row_count(params, ranks, pits, seeds, potential);
        seeds -= pit;
        potential -= pit * (pits - 1);
        result -= row_count(params, ranks, pits, seeds, potential);
    }
    result
}

/// Goes on until the move is over, after the last seed of a sowing fell at `place`; returns whether the last one of all fell into
/// the store.
fn sow(params: &Forward, ring: &mut [u32; RING], mut place: u32) -> bool {
    let places = 2 * params.pits + 1;
    while place != params.pits && ring[place as usize] > 1 {
        let hand = std::mem::take(&mut ring[place as usize]);
        for _ in 0..hand {
            place = if place + 1 == places { 0 } else { place + 1 };
            ring[place as usize] += 1;
        }
    }
    place == params.pits
}

/// Sowings that end in the other row and may go on from there: followed position by position, from their crossings.
pub(super) fn forward_relay<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, _map, mut scores, rows, ranks]: [Words<T>; 7],
) {
    let relay_score = |crossing: u32, spilled: u32, other: u32| {
        let mut ring = [0; RING];
        let (pits, other_row) = (params.pits as usize, (params.pits + 1) as usize);
        for place in 0..params.pits {
            let (word, shift) = (place / 4, 8 * (place % 4));
            ring[place as usize] = extract_bits(moves.get(crossing + word), shift, 8);
            ring[other_row + place as usize] = extract_bits(rows.get(2 * other + word), shift, 8);
        }
        let mut last = 0;
        for pit in (0..pits).cycle().take(spilled as usize) {
            last = other_row + pit;
            ring[last] += 1;
        }
        let in_store = sow(params, &mut ring, last as u32);
        let mover_seeds: u32 = ring[..pits].iter().sum();
        let other_seeds: u32 = ring[other_row..][..pits].iter().sum();
        let mover_first = in_store && params.moves_again > 0 && other_seeds > 0;
        let ordered = |mover, other| if mover_first { (mover, other) } else { (other, mover) };
        let (to_move, waiting) = ordered(mover_seeds, other_seeds);
        let frame = frame(&frames, params.frames_at + to_move * params.total + waiting);
        if frame.rows == ABSENT {
            return 0;
        }
        let mut found = frame.profile_at;
        if frame.rows != OVER {
            let mover_rank = rank(params, &ranks, &ring, 0);
            let other_rank = rank(params, &ranks, &ring, params.pits + 1);
            let (to_move, waiting) = ordered(mover_rank, other_rank);
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
