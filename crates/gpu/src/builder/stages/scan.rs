use super::constants::SCAN_BLOCK;
use crate::device::{Barrier, Tracer, WORKGROUP, Words, Workgroup, params};

params! {
    /// Parameters of [`Stage::Scan`](super::Stage::Scan).
    ///
    /// Buffers: numbers, the sum of each block. One workgroup for each block of [`SCAN_BLOCK`] numbers.
    pub struct Scan {
        /// Numbers.
        numbers,
        /// The first block.
        first_block,
    }
}

/// Numbers that a thread adds up.
const SCAN_SHARE: u32 = SCAN_BLOCK / WORKGROUP;

/// Replaces each number by the sum of those before it in its block.
pub(super) fn scan<T: Tracer>(group: &Workgroup<T>, params: &Scan, [mut numbers, mut sums]: [Words<T>; 2]) {
    let mut partial = [0; WORKGROUP as usize];
    let mut partial = group.memory(&mut partial);
    let block = params.first_block + group.number();
    let share = |local: u32| {
        let first = block * SCAN_BLOCK + local * SCAN_SHARE;
        first..(first + SCAN_SHARE).min(params.numbers)
    };
    // Private variables of each thread.
    let (mut own, mut before) = ([0; WORKGROUP as usize], [0; WORKGROUP as usize]);
    for local in group.locals() {
        let sum: u32 = share(local).map(|index| numbers.get(index)).sum();
        own[local as usize] = sum;
        partial.set(local, sum);
    }
    let mut reach = 1;
    while reach < WORKGROUP {
        group.barrier(Barrier::Workgroup);
        for local in group.locals() {
            before[local as usize] = if local >= reach { partial.get(local - reach) } else { 0 };
        }
        group.barrier(Barrier::Workgroup);
        for local in group.locals() {
            partial.set(local, partial.get(local) + before[local as usize]);
        }
        reach *= 2;
    }
    for local in group.locals() {
        if local == WORKGROUP - 1 {
            sums.set(block, partial.get(local));
        }
        let mut running = partial.get(local) - own[local as usize];
        for index in share(local) {
            let number = numbers.get(index);
            numbers.set(index, running);
            running += number;
        }
    }
}
