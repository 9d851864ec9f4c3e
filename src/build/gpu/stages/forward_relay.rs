use super::constants::{ABSENT, OVER};
use super::forward::{Forward, lanes, work_of};
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

/// Sows from `pit` until the move is over; returns whether the last seed fell into the store.
fn sow(params: &Forward, ring: &mut [u32; RING], pit: u32) -> bool {
    let places = 2 * params.pits + 1;
    let mut place = pit;
    loop {
        let hand = std::mem::take(&mut ring[place as usize]);
        for _ in 0..hand {
            place = if place + 1 == places { 0 } else { place + 1 };
            ring[place as usize] += 1;
        }
        if place == params.pits || ring[place as usize] == 1 {
            return place == params.pits;
        }
    }
}

/// Sowings that end in the other row and may go on from there: played position by position.
pub(super) fn forward_relay<T: Tracer>(
    group: &Workgroup<T>,
    params: &Forward,
    [operand, frames, moves, _map, mut scores, rows, ranks]: [Words<T>; 7],
) {
    let relay_score = |row: u32, other: u32, pit: u32| {
        let mut ring = [0; RING];
        let other_row = (params.pits + 1) as usize;
        for place in 0..params.pits {
            let (word, shift) = (place / 4, 8 * (place % 4));
            ring[place as usize] = extract_bits(rows.get(2 * row + word), shift, 8);
            let opposite = rows.get(params.others_at + 2 * other + word);
            ring[other_row + place as usize] = extract_bits(opposite, shift, 8);
        }
        let in_store = sow(params, &mut ring, pit);
        let mover_seeds: u32 = ring[..params.pits as usize].iter().sum();
        let other_seeds: u32 = ring[other_row..][..params.pits as usize].iter().sum();
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
        if mover_first { ring[params.pits as usize] + found } else { params.total - found }
    };
    for thread in group.threads(params.threads) {
        let work = work_of(params, &moves, thread);
        let mut best = unpack4x_u8(scores.get(work.at));
        for entry in work.entries {
            for lane in lanes(params, work.other) {
                let best = &mut best[lane as usize];
                *best = (*best).max(relay_score(work.row, work.other + lane, moves.get(entry)));
            }
        }
        scores.set(work.at, pack4x_u8(best));
    }
}
