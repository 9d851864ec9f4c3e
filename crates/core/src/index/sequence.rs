use std::sync::LazyLock;

use crate::game::{MAX_PITS, Position, Row};

/// Maximum seeds in play of a position that has a [sequence rank](sequence_rank).
pub const MAX_RANKED_SEEDS: usize = 255;

/// Maximum pits of a board, both sides together.
const MAX_PLACES: usize = 2 * MAX_PITS;

/// `BINOMIALS[i][c]` is C(c, i), or `u128::MAX` if C(c, i) is larger.
static BINOMIALS: LazyLock<Vec<Vec<u128>>> = LazyLock::new(|| {
    let most = MAX_RANKED_SEEDS + MAX_PLACES;
    let mut binomials = vec![vec![0u128; most + 1]; MAX_PLACES];
    binomials[0].fill(1);
    for i in 1..MAX_PLACES {
        for c in 1..=most {
            binomials[i][c] = binomials[i][c - 1].saturating_add(binomials[i - 1][c - 1]);
        }
    }
    binomials
});

/// Number of sequences of the `2 pits` pits of both sides with `seeds` seeds: C(seeds + 2 pits - 1, 2 pits - 1).
///
/// `None` if there are more than 2^120 sequences, more than [`MAX_RANKED_SEEDS`] seeds, or no such boards. Unlike the
/// layers of tables, this counts positions with an empty row, too.
pub fn sequences(pits: usize, seeds: usize) -> Option<u128> {
    if !(1..=MAX_PITS).contains(&pits) || seeds > MAX_RANKED_SEEDS {
        return None;
    }
    Some(BINOMIALS[2 * pits - 1][seeds + 2 * pits - 1]).filter(|&count| count <= 1 << 120)
}

/// Rank of a position among all [`sequences`] with as many pits and seeds in play, without regard to stores. `None`
/// if such positions have no ranks.
///
/// Let p(i) be the sum of the first i pits, the mover's row before the other. Then p(1), p(2) + 1, ...,
/// p(2m-1) + 2m - 2 ascend strictly. The rank is the number of this set in the combinatorial number system (Lehmer):
/// the sum of C(p(i) + i - 1, i) over i from 1 to 2m - 1.
pub fn sequence_rank(position: &Position) -> Option<u128> {
    sequences(position.pits(), position.seeds() as usize)?;
    let pits = position.mover().seeds().iter().chain(position.other().seeds());
    let (mut rank, mut sum) = (0, 0);
    for (i, &pit) in (1..2 * position.pits()).zip(pits) {
        sum += pit as usize;
        rank += BINOMIALS[i][sum + i - 1];
    }
    Some(rank)
}

/// Returns the position with this rank and empty stores: the inverse of [`sequence_rank`]. `None` without such a rank.
pub fn sequence_position(pits: usize, seeds: usize, rank: u128) -> Option<Position> {
    if rank >= sequences(pits, seeds)? {
        return None;
    }
    let (mut rank, places) = (rank, 2 * pits);
    let mut row = [0u32; MAX_PLACES];
    // Sum of the pits up to the current one.
    let mut sum = seeds;
    for i in (1..places).rev() {
        let column = &BINOMIALS[i][i - 1..=i - 1 + sum];
        // All steps together are at most as many as the seeds. The first count is 0.
        let mut before = sum;
        while column[before] > rank {
            before -= 1;
        }
        rank -= column[before];
        row[i] = (sum - before) as u32;
        sum = before;
    }
    row[0] = sum as u32;
    let (mover, other) = row[..places].split_at(pits);
    Position::new(Row::new(mover)?, Row::new(other)?, 0, 0).ok()
}
